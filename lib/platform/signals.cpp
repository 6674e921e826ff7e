// The signals are blocked and come to a signalfd, which the calling thread waits for together with the end of
// the work.
#include "platform/signals.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <system_error>
#include <thread>

#include "platform/descriptor.h"

namespace ge {
namespace {

constexpr std::array<int, 4> kSignals{SIGINT, SIGTERM, SIGHUP, SIGQUIT};

// While this lives the signals wait, and their handlers of before are back when it ends.
class HeldSignals {
 public:
  HeldSignals() {
    sigemptyset(&set_);
    for (size_t i = 0; i < kSignals.size(); ++i) {
      sigaddset(&set_, kSignals[i]);
      ::sigaction(kSignals[i], nullptr, &actions_[i]);
    }
    ::pthread_sigmask(SIG_BLOCK, &set_, &mask_);
  }
  ~HeldSignals() {
    put_back_handlers();
    ::pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  const sigset_t& set() const { return set_; }

  // As if the signal had come with the handlers of before; most end the process here.
  void answer(int number) {
    put_back_handlers();
    if (sigismember(&mask_, number) == 1) return;  // the caller had blocked it
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    ::pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
    ::raise(number);
    ::pthread_sigmask(SIG_BLOCK, &one, nullptr);
  }

 private:
  void put_back_handlers() {
    for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &actions_[i], nullptr);
  }
  sigset_t set_{}, mask_{};
  std::array<struct sigaction, kSignals.size()> actions_{};
};

// Answers signals until `done` can be read.
void answer_until(const detail::Descriptor& done, const detail::Descriptor& signals, HeldSignals& held) {
  std::array<pollfd, 2> waits{pollfd{done.get(), POLLIN, 0}, pollfd{signals.get(), POLLIN, 0}};
  while (waits[0].revents == 0) {
    if (::poll(waits.data(), waits.size(), -1) < 0) continue;  // EINTR: another signal's handler ran
    signalfd_siginfo info{};
    if (waits[1].revents != 0 && ::read(signals.get(), &info, sizeof info) == sizeof info)
      held.answer(static_cast<int>(info.ssi_signo));
  }
}

}  // namespace

void run_beside_signals(const std::function<void()>& work) {
  HeldSignals held;
  const detail::Descriptor signals(::signalfd(-1, &held.set(), SFD_CLOEXEC | SFD_NONBLOCK));
  const detail::Descriptor done(::eventfd(0, EFD_CLOEXEC));
  std::thread worker;
  if (signals.get() >= 0 && done.get() >= 0) {
    try {
      worker = std::thread([&] {
        work();
        const uint64_t one = 1;
        [[maybe_unused]] const ssize_t written = ::write(done.get(), &one, sizeof one);
      });
    } catch (const std::system_error&) {  // no thread to be had: the signals wait
    }
  }
  if (!worker.joinable()) return work();
  answer_until(done, signals, held);
  worker.join();
}

}  // namespace ge
