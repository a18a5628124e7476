#include "sandbox/run/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cstdint>
#include <initializer_list>
#include <utility>

#include "sandbox/caller/pool.h"

namespace bulkhead {

namespace {

// SIGTSTP too: nobody serves a compartment whose supervisor has stopped.
constexpr std::initializer_list<int> kPassedOn = {SIGINT,  SIGTERM,  SIGHUP,  SIGQUIT, SIGUSR1,
                                                  SIGUSR2, SIGWINCH, SIGCONT, SIGTSTP};
// SIGPIPE would end the supervisor when a peer hangs up; the others would stop it.
constexpr std::initializer_list<int> kHeldBack = {SIGTTIN, SIGTTOU, SIGPIPE};

// A key's is no more than a wish.
bool ends_program(uint32_t signal, bool by_key) {
  return signal == SIGTERM || signal == SIGHUP ||
         (!by_key && (signal == SIGINT || signal == SIGQUIT));
}

void do_nothing(int) {}

}  // namespace

Result<Signals> Signals::take() {
  Signals self;
  sigset_t passed;
  sigemptyset(&passed);
  for (const int one : kPassedOn) sigaddset(&passed, one);
  sigset_t blocked = passed;
  for (const int one : kHeldBack) sigaddset(&blocked, one);
  self.signals_ = Fd(::signalfd(-1, &passed, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!self.signals_) return errno_error("receive signals");
  struct sigaction interrupt {};
  interrupt.sa_handler = do_nothing;  // without SA_RESTART: interrupting is its purpose
  sigemptyset(&interrupt.sa_mask);
  if (::sigaction(kInterruptSignal, &interrupt, &self.old_interrupt_) != 0 ||
      pthread_sigmask(SIG_BLOCK, &blocked, &self.old_mask_) != 0)
    return errno_error("set up signals");
  self.active_ = true;
  return self;
}

Signals::Signals(Signals&& other) noexcept
    : signals_(std::move(other.signals_)),
      active_(std::exchange(other.active_, false)),
      old_mask_(other.old_mask_),
      old_interrupt_(other.old_interrupt_) {}

Signals::~Signals() {
  if (!active_) return;
  // What was meant for the program has ended with it.
  signalfd_siginfo late{};
  while (::read(signals_.get(), &late, sizeof late) == sizeof late) {
  }
  ::sigaction(kInterruptSignal, &old_interrupt_, nullptr);
  pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr);
}

bool Signals::pass_on(pid_t program) const {
  bool ends = false;
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
    // From a terminal: all of its foreground group got it.
    const bool to_job = info.ssi_code > 0 || (info.ssi_code == SI_QUEUE && info.ssi_int == kToJob);
    const pid_t group = to_job ? ::getpgid(program) : -1;
    ::kill(group > 0 && group != ::getpgrp() ? -group : program, static_cast<int>(info.ssi_signo));
    ends = ends || ends_program(info.ssi_signo, to_job);
  }
  return ends;
}

}  // namespace bulkhead
