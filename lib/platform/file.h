// Files: whole reads, positioned reads, writes that appear whole or not at all, and opening beneath a folder.
// Entry: read_file, File, AtomicFile, Folder. Invariant: every failure names the path and says why; no
// temporary file survives its AtomicFile, nor (after remove_temporaries_on_signal) a signal that ends the
// process.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/status.h"

namespace ge {

inline constexpr int64_t kNoLimit = INT64_MAX;

// The whole of a file, pipe or device. Errors: file_not_found, is_directory, file_unreadable, out_of_memory,
// and document_limit where it holds more than `limit_bytes`. An empty file is an empty buffer.
Result<ByteBuffer> read_file(const std::string& path, int64_t limit_bytes = kNoLimit);
// The rest of standard input; messages call it "<stdin>".
Result<ByteBuffer> read_stdin(int64_t limit_bytes = kNoLimit);

// A regular file, open for reading; may be shared by threads (reads are positioned).
class File {
 public:
  // Errors: file_not_found, is_directory, file_unreadable (also for pipes and devices: they cannot be read at
  // an offset).
  static Result<File> open(const std::string& path);
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();

  const std::string& path() const { return path_; }
  int64_t size() const { return size_; }  // bytes, when it was opened
  // Fills `into` from `offset`. A file that ends before that (it may be cut while open) is file_unreadable.
  Status read_at(int64_t offset, MutableByteSpan into) const;
  Result<ByteBuffer> read(int64_t offset, int64_t size_bytes) const;
  Result<ByteBuffer> read_all(int64_t limit_bytes = kNoLimit) const;

 private:
  friend class Folder;
  File(int descriptor, std::string path, int64_t size)
      : descriptor_(descriptor), path_(std::move(path)), size_(size) {}
  static Result<File> adopt(int descriptor, std::string path);  // checks what the descriptor is
  int descriptor_ = -1;
  std::string path_;
  int64_t size_ = 0;
};

// A file being written beside its target: the target holds its old bytes until commit(), then all the new
// ones. A target that is not a regular file (/dev/null, a pipe) is written directly. Errors: file_unwritable,
// is_directory.
//   GE_ASSIGN(AtomicFile out, AtomicFile::create("plan.bin")); GE_TRY(out.write(bytes));
//   GE_TRY(out.commit());
class AtomicFile {
 public:
  static Result<AtomicFile> create(const std::string& path);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) noexcept;
  ~AtomicFile();  // without commit(): the temporary is removed, the target is untouched

  Status write(ByteSpan bytes);  // appends
  Status commit();               // flushes to disk and takes the target's name; call once, last
  const std::string& path() const { return path_; }

 private:
  AtomicFile() = default;
  void discard();
  int descriptor_ = -1;
  int slot_ = -1;          // in the registry that the signal handler clears; -1 for direct writes
  std::string path_;       // as the user wrote it
  std::string target_;     // with symbolic links resolved
  std::string temporary_;  // empty for direct writes
};

// AtomicFile in one call.
Status write_file(const std::string& path, ByteSpan bytes);
// A folder in one that is there; nothing where it is there itself. Errors: file_unwritable.
Status make_folder(const std::string& path);
// Writes all bytes to standard output. Errors: file_unwritable.
Status write_stdout(ByteSpan bytes);

// Call once, early in main: SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGPIPE remove open temporaries, then end
// the process by that signal (the shell sees 128+n). Signals that were ignored stay ignored. SIGXFSZ is
// ignored: write() reports instead.
void remove_temporaries_on_signal();

// A folder, open; files are opened beneath it and nowhere else.
class Folder {
 public:
  static Result<Folder> open(const std::string& path);  // "" is the current folder
  Folder(Folder&& other) noexcept;
  Folder& operator=(Folder&& other) noexcept;
  ~Folder();

  const std::string& path() const { return path_; }
  // `relative` may name folders ("weights/a.npy"). path_escapes: absolute, empty, holds "..", NUL, or a
  // symbolic link anywhere on the way. Otherwise as File::open.
  Result<File> open_beneath(std::string_view relative) const;

 private:
  Folder(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  int descriptor_ = -1;
  std::string path_;
};

// "dir" for "dir/x.json", "" for "x.json": the folder that a graph's relative paths start from.
std::string folder_of(std::string_view path);

}  // namespace ge
