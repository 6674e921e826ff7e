// What the files of this folder share: system errors as Diagnostics, and calls that survive interruption.
// Private to lib/platform.
#pragma once
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/status.h"

namespace ge::detail {

// "No such file or directory"
inline std::string system_text(int error) {
  return std::strerror(error);
}

// Why `path` could not be opened or read, by errno.
inline Diagnostic read_failure(const std::string& path, int error) {
  if (error == ENOENT || error == ENOTDIR) {
    return fail(Code::file_not_found)
        .say("file '" + path + "' not found")
        .at(path)
        .because(system_text(error));
  }
  if (error == EISDIR) {
    return fail(Code::is_directory).say("'" + path + "' is a directory, a file is needed").at(path);
  }
  if (error == ENOMEM)
    return fail(Code::out_of_memory).say("out of memory while reading '" + path + "'").at(path);
  return fail(Code::file_unreadable)
      .say("file '" + path + "' cannot be read")
      .at(path)
      .because(system_text(error));
}

inline Diagnostic write_failure(const std::string& path, int error) {
  if (error == EISDIR) {
    return fail(Code::is_directory).say("'" + path + "' is a directory, a file is needed").at(path);
  }
  return fail(Code::file_unwritable)
      .say("file '" + path + "' cannot be written")
      .at(path)
      .because(system_text(error));
}

inline Diagnostic no_memory(const std::string& path, size_t size_bytes) {
  return fail(Code::out_of_memory)
      .say("out of memory while reading '" + path + "'")
      .at(path)
      .because(std::to_string(size_bytes) + " bytes were asked for");
}

// Repeats a call that a signal interrupted.
template <class Call>
auto retry(Call&& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

// Owns a descriptor until release().
class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_(value) {}
  Descriptor(Descriptor&& o) noexcept : value_(o.release()) {}
  Descriptor& operator=(Descriptor&& o) noexcept {
    reset(o.release());
    return *this;
  }
  ~Descriptor() { reset(-1); }
  int get() const { return value_; }
  int release() {
    const int v = value_;
    value_ = -1;
    return v;
  }
  void reset(int value);

 private:
  int value_;
};

// Writes all of `bytes`; 0, or the errno of the write that failed.
int write_all(int descriptor, const std::byte* bytes, size_t size);

// For tests: false makes Folder::open_beneath walk, as on kernels without openat2.
extern std::atomic<bool> use_openat2;

}  // namespace ge::detail
