// Reading: whole files, pipes and standard input; positioned reads of regular files.
#include "platform/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "platform/descriptor.h"

namespace ge {
namespace detail {

void Descriptor::reset(int value) {
  if (value_ >= 0) ::close(value_);
  value_ = value;
}

int write_all(int descriptor, const std::byte* bytes, size_t size) {
  constexpr size_t kMost = size_t{1} << 30;  // Linux writes at most 2 GiB a call
  while (size > 0) {
    const ssize_t wrote = retry([&] { return ::write(descriptor, bytes, std::min(size, kMost)); });
    if (wrote < 0) return errno;
    bytes += wrote;
    size -= static_cast<size_t>(wrote);
  }
  return 0;
}

}  // namespace detail

namespace {

using detail::Descriptor;
using detail::no_memory;
using detail::read_failure;
using detail::retry;

Diagnostic over_limit(const std::string& path, int64_t limit) {
  return fail(Code::document_limit)
      .say("'" + path + "' is too large")
      .at(path)
      .because("it holds more than the allowed " + std::to_string(limit) + " bytes");
}

// Fills up to `size` bytes from `offset` (from the stream's place where offset < 0); returns how many came,
// or -1 with errno.
int64_t read_some(int descriptor, int64_t offset, std::byte* into, int64_t size) {
  constexpr int64_t kMost = int64_t{1} << 30;
  int64_t done = 0;
  while (done < size) {
    const auto want = static_cast<size_t>(std::min(size - done, kMost));
    const ssize_t got = retry([&] {
      return offset < 0 ? ::read(descriptor, into + done, want)
                        : ::pread(descriptor, into + done, want, offset + done);
    });
    if (got < 0) return -1;
    if (got == 0) break;
    done += got;
  }
  return done;
}

// Reads to the end of a stream whose length is not known, doubling; never holds more than limit + 1 bytes.
Result<ByteBuffer> drain(int descriptor, const std::string& path, int64_t limit) {
  const int64_t most = limit == kNoLimit ? limit : limit + 1;
  int64_t capacity = std::min<int64_t>(64 << 10, most);
  int64_t filled = 0;
  ByteBuffer buffer = ByteBuffer::allocate(static_cast<size_t>(capacity));
  while (true) {
    if (!buffer.data()) return no_memory(path, static_cast<size_t>(capacity));
    const int64_t got = read_some(descriptor, -1, buffer.data() + filled, capacity - filled);
    if (got < 0) return read_failure(path, errno);
    filled += got;
    if (filled > limit) return over_limit(path, limit);
    if (filled < capacity) break;
    capacity = std::min(capacity * 2, most);
    ByteBuffer larger = ByteBuffer::allocate(static_cast<size_t>(capacity));
    if (larger.data()) std::memcpy(larger.data(), buffer.data(), static_cast<size_t>(filled));
    buffer = std::move(larger);
  }
  ByteBuffer exact = ByteBuffer::copy_of({buffer.data(), static_cast<size_t>(filled)});
  if (!exact.data()) return no_memory(path, static_cast<size_t>(filled));
  return exact;
}

Result<Descriptor> open_for_reading(const std::string& path, int more_flags) {
  if (path.empty()) return fail(Code::file_not_found).say("the file's name is empty");
  if (path.find('\0') != std::string::npos)
    return fail(Code::file_not_found).say("the file's name holds a NUL byte");
  Descriptor descriptor(
      retry([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | more_flags); }));
  if (descriptor.get() < 0) return read_failure(path, errno);
  return descriptor;
}

}  // namespace

Result<ByteBuffer> read_file(const std::string& path, int64_t limit_bytes) {
  GE_ASSIGN(Descriptor descriptor, open_for_reading(path, 0));
  struct stat info {};
  if (::fstat(descriptor.get(), &info) != 0) return read_failure(path, errno);
  if (S_ISDIR(info.st_mode)) return read_failure(path, EISDIR);
  // A regular file's size is only a hint (/proc says 0), so the end is always looked for.
  if (!S_ISREG(info.st_mode) || info.st_size == 0) return drain(descriptor.get(), path, limit_bytes);
  if (info.st_size > limit_bytes) return over_limit(path, limit_bytes);
  ByteBuffer buffer = ByteBuffer::allocate(static_cast<size_t>(info.st_size));
  if (!buffer.data()) return no_memory(path, static_cast<size_t>(info.st_size));
  const int64_t got = read_some(descriptor.get(), 0, buffer.data(), info.st_size);
  if (got < 0) return read_failure(path, errno);
  if (got < info.st_size) {
    return fail(Code::file_unreadable)
        .say("file '" + path + "' changed while it was read")
        .at(path)
        .because("it held " + std::to_string(info.st_size) + " bytes, then " + std::to_string(got));
  }
  return buffer;
}

Result<ByteBuffer> read_stdin(int64_t limit_bytes) {
  return drain(STDIN_FILENO, "<stdin>", limit_bytes);
}

File::File(File&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)), size_(other.size_) {}

File& File::operator=(File&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(path_, other.path_);
  std::swap(size_, other.size_);
  return *this;
}

File::~File() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<File> File::adopt(int descriptor, std::string path) {
  Descriptor owned(descriptor);
  struct stat info {};
  if (::fstat(descriptor, &info) != 0) return read_failure(path, errno);
  if (S_ISDIR(info.st_mode)) return read_failure(path, EISDIR);
  if (!S_ISREG(info.st_mode)) {
    return fail(Code::file_unreadable)
        .say("'" + path + "' is not a regular file")
        .at(path)
        .because("this file is read at offsets; a pipe or device cannot be")
        .try_("save it to a file first");
  }
  return File(owned.release(), std::move(path), info.st_size);
}

Result<File> File::open(const std::string& path) {
  // O_NONBLOCK only keeps the open of a pipe without a writer from waiting; adopt() then refuses the pipe.
  GE_ASSIGN(Descriptor descriptor, open_for_reading(path, O_NONBLOCK));
  return adopt(descriptor.release(), path);
}

Status File::read_at(int64_t offset, MutableByteSpan into) const {
  if (offset < 0) {
    return fail(Code::internal).say("negative file offset " + std::to_string(offset)).at(path_);
  }
  const int64_t got = read_some(descriptor_, offset, into.data(), static_cast<int64_t>(into.size()));
  if (got < 0) return read_failure(path_, errno);
  if (static_cast<size_t>(got) < into.size()) {
    return fail(Code::file_unreadable)
        .say("file '" + path_ + "' ends too early")
        .at(path_)
        .because(std::to_string(into.size()) + " bytes were wanted at offset " + std::to_string(offset) +
                 ", " + std::to_string(got) + " are there");
  }
  return {};
}

Result<ByteBuffer> File::read(int64_t offset, int64_t size_bytes) const {
  // Asked before memory is: a size from a damaged header must not allocate.
  if (offset < 0 || size_bytes < 0 || offset > size_ || size_bytes > size_ - offset) {
    return fail(Code::file_unreadable)
        .say("file '" + path_ + "' ends too early")
        .at(path_)
        .because(std::to_string(size_bytes) + " bytes were wanted at offset " + std::to_string(offset) +
                 ", the file has " + std::to_string(size_));
  }
  ByteBuffer buffer = ByteBuffer::allocate(static_cast<size_t>(size_bytes));
  if (!buffer.data()) return no_memory(path_, static_cast<size_t>(size_bytes));
  GE_TRY(read_at(offset, buffer.span()));
  return buffer;
}

Result<ByteBuffer> File::read_all(int64_t limit_bytes) const {
  if (size_ > limit_bytes) return over_limit(path_, limit_bytes);
  return read(0, size_);
}

std::string folder_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return "";
  return std::string(path.substr(0, slash == 0 ? 1 : slash));
}

}  // namespace ge
