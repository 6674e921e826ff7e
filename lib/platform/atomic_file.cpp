// Writing: a temporary beside the target, renamed over it when complete. The temporaries' names stand in a
// fixed table that a signal handler can read, so that Ctrl-C leaves none behind.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <cstdlib>
#include <utility>

#include "platform/descriptor.h"
#include "platform/file.h"

namespace ge {
namespace {

using detail::Descriptor;
using detail::retry;
using detail::system_text;
using detail::write_failure;

// One open temporary. `live` is set after the path is written and cleared before it changes: the handler
// reads only live ones.
struct Slot {
  std::atomic<bool> taken{false};
  std::atomic<bool> live{false};
  pid_t owner = 0;  // a forked child must not remove its parent's temporaries
  char path[PATH_MAX];
};
std::array<Slot, 16> slots;

// -1 where all are taken or the path is too long: the file is then written all the same, only a signal would
// leave it.
int take_slot(const std::string& path) {
  if (path.size() >= PATH_MAX) return -1;
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].taken.exchange(true)) continue;
    slots[i].owner = ::getpid();
    std::memcpy(slots[i].path, path.c_str(), path.size() + 1);
    slots[i].live.store(true);
    return static_cast<int>(i);
  }
  return -1;
}

void free_slot(int slot) {
  if (slot < 0) return;
  slots[static_cast<size_t>(slot)].live.store(false);
  slots[static_cast<size_t>(slot)].taken.store(false);
}

// Async-signal-safe: unlink, getpid, sigaction and raise only.
void remove_all_and_end(int signal_number) {
  for (Slot& slot : slots) {
    if (slot.live.load() && slot.owner == ::getpid()) ::unlink(slot.path);
  }
  struct sigaction restore {};
  restore.sa_handler = SIG_DFL;
  ::sigaction(signal_number, &restore, nullptr);
  ::raise(signal_number);  // blocked until this handler returns, then it ends the process
}

// The path with its last part's symbolic links followed, so that the link stays and what it names is
// replaced.
Result<std::string> resolve_links(const std::string& path) {
  std::string target = path;
  for (int hops = 0; hops < 40; ++hops) {
    char link[PATH_MAX];
    const ssize_t length = ::readlink(target.c_str(), link, sizeof link);
    if (length < 0) return target;  // not a link, or nothing there yet
    if (length == static_cast<ssize_t>(sizeof link)) return write_failure(path, ENAMETOOLONG);
    const std::string next(link, static_cast<size_t>(length));
    const std::string folder = folder_of(target);
    target = next.front() == '/' || folder.empty() ? next : folder + "/" + next;
  }
  return write_failure(path, ELOOP);
}

struct Temporary {
  Descriptor descriptor;
  std::string path;
  int slot = -1;
};

// Opens "<folder>/.<name>.<pid>-<n>.tmp", which must not exist.
Result<Temporary> make_temporary(const std::string& target, const std::string& shown) {
  static std::atomic<unsigned> counter{0};
  const std::string folder = folder_of(target);
  const std::string name = target.substr(folder.empty() ? 0 : folder == "/" ? 1 : folder.size() + 1);
  const std::string head = (folder.empty()  ? ""
                            : folder == "/" ? "/"
                                            : folder + "/") +
                           "." + name.substr(0, 200) + ".";
  for (int tries = 0; tries < 100; ++tries) {
    std::string path = head + std::to_string(::getpid()) + "-" + std::to_string(counter++) + ".tmp";
    // Registered first: a signal between the two would otherwise leave the file. A name that turns out to be
    // taken by another is released before anything else.
    const int slot = take_slot(path);
    const int descriptor =
        retry([&] { return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666); });
    if (descriptor >= 0) return Temporary{Descriptor(descriptor), std::move(path), slot};
    const int error = errno;
    free_slot(slot);
    if (error == EEXIST) continue;
    if (error == ENOENT || error == ENOTDIR) {
      return fail(Code::file_unwritable)
          .say("file '" + shown + "' cannot be written")
          .at(shown)
          .because("folder '" + (folder.empty() ? "." : folder) + "': " + system_text(error))
          .try_("create the folder first");
    }
    return fail(Code::file_unwritable)
        .say("file '" + shown + "' cannot be written")
        .at(shown)
        .because("a temporary file cannot be made in folder '" + (folder.empty() ? "." : folder) +
                 "': " + system_text(error));
  }
  return write_failure(shown, EEXIST);
}

void sync_folder(const std::string& target) {
  const std::string folder = folder_of(target);
  Descriptor descriptor(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.get() >= 0)
    ::fsync(descriptor.get());  // the file is whole either way: a failure here is not the user's
}

}  // namespace

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      slot_(std::exchange(other.slot_, -1)),
      path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})) {}

AtomicFile& AtomicFile::operator=(AtomicFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(slot_, other.slot_);
  std::swap(path_, other.path_);
  std::swap(target_, other.target_);
  std::swap(temporary_, other.temporary_);
  return *this;
}

AtomicFile::~AtomicFile() {
  discard();
}

void AtomicFile::discard() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
  free_slot(std::exchange(slot_, -1));
}

Result<AtomicFile> AtomicFile::create(const std::string& path) {
  if (path.empty() || path.find('\0') != std::string::npos) {
    return fail(Code::file_unwritable).say("the output file's name is empty or holds a NUL byte");
  }
  AtomicFile file;
  file.path_ = path;
  struct stat info {};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if ((exists && S_ISDIR(info.st_mode)) || path.back() == '/') return write_failure(path, EISDIR);
  // A pipe, socket or device is opened by the name given: what /dev/stdout and /proc/self/fd/N name has no
  // path that could be followed.
  if (exists && !S_ISREG(info.st_mode)) {
    file.descriptor_ = retry([&] { return ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY); });
    if (file.descriptor_ < 0) return write_failure(path, errno);
    return file;
  }
  GE_ASSIGN(file.target_, resolve_links(path));
  // rename() would replace a file that its owner has made read-only.
  if (exists && ::access(file.target_.c_str(), W_OK) != 0) return write_failure(path, errno);
  GE_ASSIGN(Temporary temporary, make_temporary(file.target_, path));
  if (exists) ::fchmod(temporary.descriptor.get(), info.st_mode & 0777);
  file.descriptor_ = temporary.descriptor.release();
  file.temporary_ = std::move(temporary.path);
  file.slot_ = temporary.slot;
  return file;
}

Status AtomicFile::write(ByteSpan bytes) {
  const int error = detail::write_all(descriptor_, bytes.data(), bytes.size());
  return error ? Status(write_failure(path_, error)) : Status();
}

Status AtomicFile::commit() {
  if (temporary_.empty()) {  // a device or pipe: what close() has to say is all there is
    const int closed = ::close(std::exchange(descriptor_, -1));
    return closed == 0 || errno == EINTR ? Status() : Status(write_failure(path_, errno));
  }
  if (retry([&] { return ::fsync(descriptor_); }) != 0) return write_failure(path_, errno);
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) return write_failure(path_, errno);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) return write_failure(path_, errno);
  temporary_.clear();
  free_slot(std::exchange(slot_, -1));
  sync_folder(target_);
  return {};
}

Status write_file(const std::string& path, ByteSpan bytes) {
  GE_ASSIGN(AtomicFile file, AtomicFile::create(path));
  GE_TRY(file.write(bytes));
  return file.commit();
}

Status make_folder(const std::string& path) {
  const int error = ::mkdir(path.c_str(), 0777) == 0 ? 0 : errno;
  if (error == 0 || error == EEXIST) return {};
  return fail(Code::file_unwritable).at(path).because(detail::system_text(error));
}

Status write_stdout(ByteSpan bytes) {
  const int error = detail::write_all(STDOUT_FILENO, bytes.data(), bytes.size());
  return error ? Status(write_failure("<stdout>", error)) : Status();
}

void remove_temporaries_on_signal() {
  struct sigaction action {};
  action.sa_handler = remove_all_and_end;
  sigfillset(&action.sa_mask);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) {
    struct sigaction old {};
    // nohup and `&` in scripts ignore some: that stays so.
    if (::sigaction(number, nullptr, &old) == 0 && old.sa_handler == SIG_IGN) continue;
    ::sigaction(number, &action, nullptr);
  }
  action.sa_handler = SIG_IGN;
  ::sigaction(SIGXFSZ, &action, nullptr);
}

}  // namespace ge
