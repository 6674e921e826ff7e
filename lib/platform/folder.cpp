// Opening files beneath a folder: openat2 with RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS where the kernel has it,
// else a walk with openat(O_NOFOLLOW), one part at a time. Both refuse the same paths with the same words.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <utility>
#include <vector>

#include "platform/descriptor.h"
#include "platform/file.h"

#if __has_include(<linux/openat2.h>)
#include <linux/openat2.h>
#endif

namespace ge {
namespace {

using detail::Descriptor;
using detail::read_failure;
using detail::retry;

constexpr int kReadFlags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;

Diagnostic escapes(std::string_view relative, const std::string& folder, const std::string& why,
                   const char* does = "leaves the graph's folder") {
  return fail(Code::path_escapes)
      .say("path '" + std::string(relative) + "' " + does)
      .at(folder.empty() ? "." : folder)
      .because(why)
      .try_("put the file itself beneath the folder and name it by a relative path");
}

// The path's parts without "." and empty ones.
Result<std::vector<std::string>> parts_of(std::string_view relative, const std::string& folder) {
  if (relative.find('\0') != std::string_view::npos) return escapes("", folder, "the path holds a NUL byte");
  if (relative.empty()) return escapes(relative, folder, "the path is empty");
  if (relative.front() == '/') return escapes(relative, folder, "the path is absolute");
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= relative.size();) {
    const size_t end = std::min(relative.find('/', begin), relative.size());
    const std::string_view part = relative.substr(begin, end - begin);
    if (part == "..") return escapes(relative, folder, "the path holds '..'");
    if (!part.empty() && part != ".") parts.emplace_back(part);
    begin = end + 1;
  }
  return parts;
}

// The descriptor, -1 with errno (ELOOP: a symbolic link is on the way, EXDEV: it leaves), or -1 with ENOSYS
// where there is no openat2.
int open_by_kernel(int folder, const std::string& path) {
#if defined(SYS_openat2) && defined(RESOLVE_BENEATH)
  static std::atomic<bool> missing{false};
  if (!missing.load(std::memory_order_relaxed)) {
    open_how how{};
    how.flags = kReadFlags;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    // EAGAIN: something was renamed meanwhile and the kernel could not be sure.
    int tries = 0;
    int descriptor = -1;
    do {
      descriptor = static_cast<int>(::syscall(SYS_openat2, folder, path.c_str(), &how, sizeof how));
    } while (descriptor < 0 && (errno == EINTR || (errno == EAGAIN && ++tries < 100)));
    // EPERM: sandboxes that do not know the call answer so.
    if (descriptor >= 0 || (errno != ENOSYS && errno != EPERM && errno != EINVAL)) return descriptor;
    missing.store(true, std::memory_order_relaxed);
  }
#endif
  (void)folder;
  (void)path;
  errno = ENOSYS;
  return -1;
}

bool is_link(int folder, const std::string& name) {
  struct stat info {};
  return ::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode);
}

// The same, part by part; errno as above.
int open_by_walk(int folder, const std::vector<std::string>& parts) {
  Descriptor at(::fcntl(folder, F_DUPFD_CLOEXEC, 0));
  for (size_t i = 0; i < parts.size() && at.get() >= 0; ++i) {
    const bool last = i + 1 == parts.size();
    const int flags = kReadFlags | O_NOFOLLOW | (last ? 0 : O_DIRECTORY);
    const int next = retry([&] { return ::openat(at.get(), parts[i].c_str(), flags); });
    if (next < 0) {
      // A link opened with O_DIRECTORY answers ENOTDIR, not ELOOP.
      const int error = errno == ENOTDIR && is_link(at.get(), parts[i]) ? ELOOP : errno;
      at.reset(-1);
      errno = error;
      return -1;
    }
    at.reset(next);
  }
  return at.release();
}

}  // namespace

namespace detail {
std::atomic<bool> use_openat2{true};
}  // namespace detail

Folder::Folder(Folder&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}

Folder& Folder::operator=(Folder&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(path_, other.path_);
  return *this;
}

Folder::~Folder() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<Folder> Folder::open(const std::string& path) {
  const std::string name = path.empty() ? "." : path;
  const int descriptor = retry([&] { return ::open(name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC); });
  if (descriptor < 0) {
    if (errno == ENOTDIR || errno == ENOENT) {
      return fail(Code::file_not_found)
          .say("folder '" + name + "' not found")
          .at(name)
          .because(detail::system_text(errno));
    }
    return read_failure(name, errno);
  }
  return Folder(descriptor, path);
}

Result<File> Folder::open_beneath(std::string_view relative) const {
  GE_ASSIGN(const std::vector<std::string> parts, parts_of(relative, path_));
  std::string joined;
  for (const std::string& part : parts) joined += (joined.empty() ? "" : "/") + part;
  const std::string shown = path_.empty() ? joined : path_ == "/" ? "/" + joined : path_ + "/" + joined;
  if (parts.empty()) return read_failure(path_.empty() ? "." : path_, EISDIR);
  int descriptor = -1;
  errno = ENOSYS;
  if (detail::use_openat2.load(std::memory_order_relaxed)) descriptor = open_by_kernel(descriptor_, joined);
  if (descriptor < 0 && errno == ENOSYS) descriptor = open_by_walk(descriptor_, parts);
  if (descriptor < 0) {
    const int error = errno;
    if (error == ELOOP || error == EXDEV)
      return escapes(relative, path_, "links are not followed, wherever they lead", "passes a symbolic link");
    return read_failure(shown, error);
  }
  return File::adopt(descriptor, shown);
}

}  // namespace ge
