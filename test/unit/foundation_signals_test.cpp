// run_beside_signals: the program's handlers answer while a library's work, which has put its own in place,
// goes on.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "catch.h"
#include "platform/signals.h"

namespace {

constexpr int kByProgram = 41, kByLibrary = 42, kNobody = 43;

void end_as_program(int) {
  ::_exit(kByProgram);
}
void end_as_library(int) {
  ::_exit(kByLibrary);
}

// The exit code of a process whose work takes 20 s, once `number` has come.
int code_after(int number, void (*handler)(int)) {
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(number, handler);
    ge::run_beside_signals([&] {
      ::signal(number, end_as_library);
      [[maybe_unused]] const ssize_t told = ::write(ready[1], "r", 1);
      std::this_thread::sleep_for(std::chrono::seconds(handler == SIG_IGN ? 1 : 20));
    });
    ::_exit(kNobody);
  }
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  ::kill(child, number);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  ::close(ready[0]);
  ::close(ready[1]);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("signals come to the program's handlers while a library works") {
  CHECK(code_after(SIGTERM, end_as_program) == kByProgram);
  CHECK(code_after(SIGINT, end_as_program) == kByProgram);
  CHECK(code_after(SIGINT, SIG_DFL) == -SIGINT);
  CHECK(code_after(SIGHUP, SIG_IGN) == kNobody);
}

TEST_CASE("handlers and mask are those of before when the work is done") {
  struct sigaction before {
  }, after{};
  sigset_t mask_before, mask_after;
  ::sigaction(SIGINT, nullptr, &before);
  ::pthread_sigmask(SIG_BLOCK, nullptr, &mask_before);
  bool ran = false;
  ge::run_beside_signals([&] {
    ::signal(SIGINT, end_as_library);
    ran = true;
  });
  ::sigaction(SIGINT, nullptr, &after);
  ::pthread_sigmask(SIG_BLOCK, nullptr, &mask_after);
  CHECK(ran);
  CHECK(before.sa_handler == after.sa_handler);
  CHECK(sigismember(&mask_before, SIGINT) == sigismember(&mask_after, SIGINT));
}
