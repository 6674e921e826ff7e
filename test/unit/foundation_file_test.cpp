// Reading, atomic writing, signals, folders, shared libraries.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "catch.h"
#include "platform/descriptor.h"
#include "platform/dynamic_library.h"
#include "platform/file.h"
#include "temp_folder.h"

namespace ge {
namespace {

using test::contains;
using test::TempFolder;

// Runs `body` in a child as a user without root's rights and returns its exit status.
template <class Body>
int as_nobody(Body&& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(99);
    ::_exit(body());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int code_of(const Status& status) {
  return status.ok() ? 0 : static_cast<int>(status.error().first().code);
}
template <class T>
int code_of(const Result<T>& result) {
  return result.ok() ? 0 : static_cast<int>(result.error().first().code);
}

TEST_CASE("read_file reads whole files and says why it cannot", "[file]") {
  const TempFolder folder;
  const std::string text(100000, 'x');
  const auto bytes = read_file(folder.write("a", text));
  REQUIRE_OK(bytes);
  CHECK(as_text(bytes->span()) == text);
  REQUIRE_OK(read_file(folder.write("empty", "")));
  CHECK(read_file(folder / "empty")->size() == 0);
  const auto missing = read_file(folder / "missing");
  REQUIRE_CODE(missing, Code::file_not_found);
  CHECK_THAT(missing.error().first().message, contains(folder / "missing"));
  REQUIRE_CODE(read_file(folder.path()), Code::is_directory);
  REQUIRE_CODE(read_file(folder / "a/b"), Code::file_not_found);
  REQUIRE_CODE(read_file(""), Code::file_not_found);
  REQUIRE_CODE(read_file(folder / "a", 99999), Code::document_limit);
  REQUIRE_OK(read_file(folder / "a", 100000));
}

TEST_CASE("Files without read permission are unreadable, not missing", "[file]") {
  const TempFolder folder;
  const std::string path = folder.write("secret", "x");
  ::chmod(folder.path().c_str(), 0755);
  ::chmod(path.c_str(), 0200);
  CHECK(as_nobody([&] { return code_of(read_file(path)); }) == static_cast<int>(Code::file_unreadable));
  CHECK(as_nobody([&] { return code_of(File::open(path)); }) == static_cast<int>(Code::file_unreadable));
}

TEST_CASE("Pipes are read to their end, within the limit", "[file]") {
  const TempFolder folder;
  const std::string path = folder / "pipe";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  const std::string text(300000, 'p');
  const auto feed = [&] {
    const int fd = ::open(path.c_str(), O_WRONLY);
    const bool wrote = detail::write_all(fd, as_bytes(text).data(), text.size()) == 0;
    ::close(fd);
    return wrote;
  };
  std::thread writer(feed);
  const auto bytes = read_file(path);
  writer.join();
  REQUIRE_OK(bytes);
  CHECK(as_text(bytes->span()) == text);
  REQUIRE_CODE(File::open(path), Code::file_unreadable);
  const auto endless = read_file("/dev/zero", 1 << 20);
  REQUIRE_CODE(endless, Code::document_limit);
}

TEST_CASE("File reads at offsets and notices short files", "[file]") {
  const TempFolder folder;
  const auto file = File::open(folder.write("a", "0123456789"));
  REQUIRE_OK(file);
  CHECK(file->size() == 10);
  CHECK(as_text(file->read(3, 4)->span()) == "3456");
  CHECK(file->read(10, 0)->size() == 0);
  REQUIRE_CODE(file->read(7, 4), Code::file_unreadable);
  REQUIRE_CODE(file->read(0, int64_t{1} << 60), Code::file_unreadable);
  REQUIRE_CODE(file->read(INT64_MAX, INT64_MAX), Code::file_unreadable);
  REQUIRE_CODE(file->read(-1, 1), Code::file_unreadable);
  REQUIRE(::truncate((folder / "a").c_str(), 5) == 0);
  const auto cut = file->read(3, 4);
  REQUIRE_CODE(cut, Code::file_unreadable);
  CHECK_THAT(cut.error().first().found, contains("4 bytes were wanted at offset 3, 2 are there"));
  REQUIRE_CODE(File::open(folder.path()), Code::is_directory);
  REQUIRE_CODE(File::open(folder / "b"), Code::file_not_found);
}

TEST_CASE("An atomic file's target changes at commit and not before", "[file]") {
  const TempFolder folder;
  const std::string path = folder.write("out", "old");
  ::chmod(path.c_str(), 0640);
  {
    auto file = AtomicFile::create(path);
    REQUIRE_OK(file);
    REQUIRE_OK(file->write(as_bytes("new ")));
    REQUIRE_OK(file->write(as_bytes("text")));
    CHECK(folder.read("out") == "old");
    CHECK(folder.names().size() == 2);
    REQUIRE_OK(file->commit());
  }
  CHECK(folder.read("out") == "new text");
  CHECK(folder.names().size() == 1);
  struct stat info {};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0640);
}

TEST_CASE("An atomic file that is not committed leaves nothing", "[file]") {
  const TempFolder folder;
  folder.write("out", "old");
  {
    auto file = AtomicFile::create(folder / "out");
    REQUIRE_OK(file);
    REQUIRE_OK(file->write(as_bytes("half")));
    AtomicFile moved = std::move(file).value();
    auto other = AtomicFile::create(folder / "fresh");
    REQUIRE_OK(other);
  }
  CHECK(folder.read("out") == "old");
  CHECK(folder.names() == std::vector<std::string>{"out"});
}

TEST_CASE("A symbolic link stays and what it names is replaced", "[file]") {
  const TempFolder folder;
  folder.write("real/out", "old");
  REQUIRE(::symlink("real/out", (folder / "link").c_str()) == 0);
  REQUIRE_OK(write_file(folder / "link", as_bytes("new")));
  CHECK(std::filesystem::is_symlink(folder / "link"));
  CHECK(folder.read("real/out") == "new");
  REQUIRE(::symlink("loop", (folder / "loop").c_str()) == 0);
  REQUIRE_CODE(write_file(folder / "loop", as_bytes("x")), Code::file_unwritable);
}

TEST_CASE("Unwritable targets are environment errors with a reason", "[file]") {
  const TempFolder folder;
  REQUIRE_CODE(write_file(folder.path(), as_bytes("x")), Code::is_directory);
  REQUIRE_CODE(write_file(folder / "new/", as_bytes("x")), Code::is_directory);
  const Status no_folder = write_file(folder / "no/out", as_bytes("x"));
  REQUIRE_CODE(no_folder, Code::file_unwritable);
  CHECK_THAT(no_folder.error().first().fix, contains("create the folder"));
  CHECK(no_folder.error().kind() == ErrorKind::kEnvironment);
  const std::string protected_file = folder.write("kept", "old");
  ::chmod(protected_file.c_str(), 0444);
  ::chmod(folder.path().c_str(), 0555);
  CHECK(as_nobody([&] { return code_of(write_file(folder / "out", as_bytes("x"))); }) ==
        static_cast<int>(Code::file_unwritable));
  ::chmod(folder.path().c_str(), 0777);
  CHECK(as_nobody([&] { return code_of(write_file(protected_file, as_bytes("x"))); }) ==
        static_cast<int>(Code::file_unwritable));
  CHECK(folder.read("kept") == "old");
  CHECK(folder.names().size() == 1);
}

TEST_CASE("Devices are written directly: /dev/full fails, /dev/null does not", "[file]") {
  const Status full = write_file("/dev/full", as_bytes("x"));
  REQUIRE_CODE(full, Code::file_unwritable);
  CHECK_THAT(full.error().first().found, contains("No space left"));
  REQUIRE_OK(write_file("/dev/null", as_bytes("x")));
  CHECK(std::filesystem::is_character_file("/dev/null"));
}

TEST_CASE("Signals remove temporaries and end the process by the signal", "[file]") {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    const TempFolder folder;
    folder.write("out", "old");
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
      for (const int n : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(n, SIG_DFL);
      remove_temporaries_on_signal();
      auto first = AtomicFile::create(folder / "out");
      auto second = AtomicFile::create(folder / "more");
      if (!first.ok() || !second.ok() || !first->write(as_bytes("half")).ok()) ::_exit(1);
      if (::write(ready[1], "x", 1) != 1) ::_exit(2);
      while (true) ::pause();
    }
    char byte = 0;
    REQUIRE(::read(ready[0], &byte, 1) == 1);
    CHECK(folder.names().size() == 3);
    ::kill(child, number);
    int status = 0;
    ::waitpid(child, &status, 0);
    ::close(ready[0]);
    ::close(ready[1]);
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == number);
    CHECK(folder.names() == std::vector<std::string>{"out"});
    CHECK(folder.read("out") == "old");
  }
}

TEST_CASE("Ignored signals stay ignored", "[file]") {
  const int status = as_nobody([] {
    ::signal(SIGHUP, SIG_IGN);
    remove_temporaries_on_signal();
    ::raise(SIGHUP);
    return 7;
  });
  CHECK(status == 7);
}

TEST_CASE("A file that grows past the process's limit is an error, not the end of the process", "[file]") {
  const TempFolder folder;
  ::chmod(folder.path().c_str(), 0777);
  const int code = as_nobody([&] {
    ::signal(SIGXFSZ, SIG_DFL);
    remove_temporaries_on_signal();
    const rlimit limit{1000, 1000};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 98;
    return code_of(write_file(folder / "out", as_bytes(std::string(5000, 'x'))));
  });
  CHECK(code == static_cast<int>(Code::file_unwritable));
  CHECK(folder.names().empty());
}

TEST_CASE("A folder opens what is beneath it and nothing else", "[folder]") {
  for (const bool kernel : {true, false}) {
    detail::use_openat2 = kernel;
    const TempFolder root;
    root.write("secret", "secret");
    root.write("graph/weights/a.bin", "alpha");
    REQUIRE(::symlink("../secret", (root / "graph/link").c_str()) == 0);
    REQUIRE(::symlink("weights", (root / "graph/inner").c_str()) == 0);
    REQUIRE(::symlink("/", (root / "graph/top").c_str()) == 0);
    const auto folder = Folder::open(root / "graph");
    REQUIRE_OK(folder);
    const auto file = folder->open_beneath("weights/a.bin");
    REQUIRE_OK(file);
    CHECK(as_text(file->read_all()->span()) == "alpha");
    CHECK(file->path() == root / "graph/weights/a.bin");
    REQUIRE_OK(folder->open_beneath("./weights//a.bin"));
    for (const std::string bad : {"../secret", "weights/../../secret", "weights/..", "..", "/etc/passwd",
                                  "link", "inner/a.bin", "top/etc/passwd", "top", ""}) {
      INFO(bad << " kernel " << kernel);
      REQUIRE_CODE(folder->open_beneath(bad), Code::path_escapes);
    }
    REQUIRE_CODE(folder->open_beneath(std::string_view("a\0b", 3)), Code::path_escapes);
    REQUIRE_CODE(folder->open_beneath("weights/b.bin"), Code::file_not_found);
    REQUIRE_CODE(folder->open_beneath("nowhere/b.bin"), Code::file_not_found);
    REQUIRE_CODE(folder->open_beneath("weights/a.bin/x"), Code::file_not_found);
    REQUIRE_CODE(folder->open_beneath("weights"), Code::is_directory);
    REQUIRE_CODE(folder->open_beneath("."), Code::is_directory);
  }
  detail::use_openat2 = true;
  REQUIRE_CODE(Folder::open("/nonexistent/folder"), Code::file_not_found);
  REQUIRE_OK(Folder::open(""));
  CHECK(folder_of("a/b/c.json") == "a/b");
  CHECK(folder_of("c.json").empty());
  CHECK(folder_of("/c.json") == "/");
}

TEST_CASE("Shared libraries open by the first name that loads, or say why none does", "[library]") {
  const auto math = DynamicLibrary::open({"libdoesnotexist.so.9", "libm.so.6"});
  REQUIRE_OK(math);
  CHECK(math->name() == "libm.so.6");
  CHECK_THAT(math->file(), contains("/libm.so.6"));
  double (*cosine)(double) = nullptr;
  REQUIRE_OK(math->bind("cos", cosine));
  CHECK(cosine(0.0) == 1.0);
  CHECK(math->symbol("no_such_function") == nullptr);
  void (*none)() = nullptr;
  REQUIRE_CODE(math->bind("no_such_function", none), Code::library_missing);
  const auto missing = DynamicLibrary::open({"libdoesnotexist.so.9", "libneither.so"});
  REQUIRE_CODE(missing, Code::library_missing);
  CHECK_THAT(missing.error().first().found, contains("libdoesnotexist.so.9"));
  CHECK_THAT(missing.error().first().found, contains("libneither.so"));
}

}  // namespace
}  // namespace ge
