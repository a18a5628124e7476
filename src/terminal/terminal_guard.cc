#include "terminal/terminal_guard.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <initializer_list>

namespace bulkhead {
namespace {

// Of the process, as handlers are. `guarded` says that the others are whole.
volatile sig_atomic_t guarded = 0;
int terminal = -1;
struct termios given_back;

// Only what signal-safety(7) lists.
void give_back(int number) {
  // Another job's terminal is not ours to set.
  if (guarded != 0 && tcgetpgrp(terminal) == getpgrp())
    static_cast<void>(tcsetattr(terminal, TCSANOW, &given_back));
  // The disposition is the usual one again (SA_RESETHAND), and it counts now (SA_NODEFER).
  static_cast<void>(raise(number));
}

bool ends_process(int number) {
  for (const int other :
       {SIGKILL, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGCHLD, SIGURG, SIGWINCH})
    if (number == other) return false;
  return true;
}

void handle_all() {
  struct sigaction ours = {};
  ours.sa_handler = give_back;
  ours.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
  sigemptyset(&ours.sa_mask);
  sigaddset(&ours.sa_mask, SIGTTOU);
  for (int number = 1; number <= SIGRTMAX; ++number) {
    struct sigaction now = {};
    if (ends_process(number) && sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_DFL)
      static_cast<void>(sigaction(number, &ours, nullptr));
  }
}

}  // namespace

void guard_terminal(int fd, const struct termios& modes) {
  leave_terminal();
  terminal = fd;
  given_back = modes;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  guarded = 1;
  static bool handled = false;
  if (!handled) handle_all();
  handled = true;
}

void leave_terminal() {
  guarded = 0;
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

}  // namespace bulkhead
