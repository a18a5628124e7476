#include "terminal/relay.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <string>
#include <utility>

#include "terminal/terminal_fixture.h"

namespace bulkhead {
namespace {

using testing::HasSubstr;
using testing::Not;

// A shell's ulimit has it, and nobody hears of such a signal.
TEST(TerminalRelay, LeavesTheTerminalAsItWasWhateverSignalEndsIt) {
#ifdef __SANITIZE_ADDRESS__
  constexpr int kOfOurs = SIGXFSZ;  // SIGSEGV is the sanitizer's
#else
  constexpr int kOfOurs = SIGSEGV;
#endif
  for (const int number : {SIGXCPU, SIGALRM, kOfOurs, SIGPIPE, SIGABRT, SIGRTMIN}) {
    TerminalSession session([number] {
      const struct rlimit none = {.rlim_cur = 0, .rlim_max = 0};
      setrlimit(RLIMIT_CORE, &none);
      signal(SIGPIPE, SIG_DFL);
      return monitor_with(wait_for_ever, [number](TerminalMonitor& monitor) {
        struct termios raw = {};
        if (tcgetattr(monitor.person(), &raw) != 0 || (raw.c_lflag & ICANON) != 0) return 94;
        kill(getppid(), number);
        wait_for_ever();
        return 95;
      });
    });
    const struct termios before = session.modes();
    EXPECT_EQ(session.exit_code(), 128 + number);
    EXPECT_EQ(session.modes().c_lflag, before.c_lflag);
    EXPECT_EQ(session.modes().c_iflag, before.c_iflag);
  }
}

// Another program of the job does, as ssh and sudo do in a pipeline.
TEST(TerminalRelay, WhatIsTypedForAPasswordsPromptIsNotTheProgramsToRead) {
  TerminalSession session([] {
    if (fork() == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      struct termios raw = {};
      do {
        sched_yield();
        tcgetattr(0, &raw);
      } while ((raw.c_lflag & ICANON) != 0);
      struct termios modes = raw;
      modes.c_lflag &= ~tcflag_t{ECHO | ECHONL};  // readpassphrase(3)
      tcsetattr(0, TCSAFLUSH, &modes);
      dprintf(1, "Password: ");
      std::array<char, 16> typed = {};
      usleep(600'000);  // there are many looks at the keys meanwhile
      const ssize_t size = read(0, typed.data(), typed.size());
      tcsetattr(0, TCSAFLUSH, &raw);
      dprintf(1, "prompt has %.*s;", static_cast<int>(size), typed.data());
      wait_for_ever();
    }
    return monitor_with(
        [] {
          std::array<char, 16> line = {};
          const ssize_t size = read(0, line.data(), line.size());
          dprintf(1, "program has %.*s;", static_cast<int>(size), line.data());
        },
        [](TerminalMonitor& monitor) {
          const int code = follow(monitor);
          monitor.finish();
          return code;
        });
  });
  ASSERT_TRUE(session.wait_for("Password: "));
  session.type("secret");
  ASSERT_TRUE(session.wait_for("prompt has secret;")) << session.screen();
  session.type("mine\r");
  ASSERT_TRUE(session.wait_for("program has mine")) << session.screen();
  EXPECT_THAT(session.screen(), Not(HasSubstr("program has secret")));
  EXPECT_EQ(session.exit_code(), 0);
}

// Somebody continues the job, as the monitor does at the end, when the program's last word has been
// read: what is typed from then on is the shell's.
TEST(TerminalRelay, TakesNoKeysAfterTheProgramsLastWord) {
  TerminalSession session([] {
    auto terminal = UserTerminal::find();
    Fd pty(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
    if (!terminal.ok() || !*terminal || !pty || unlockpt(pty.get()) != 0) return 90;
    Fd programs(ioctl(pty.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
    std::array<int, 2> ends = {-1, -1};
    if (!programs || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
      return 91;
    Fd ours(ends[0]), monitors(ends[1]);
    sigset_t continued;
    sigemptyset(&continued);
    sigaddset(&continued, SIGCONT);
    sigprocmask(SIG_BLOCK, &continued, nullptr);
    Fd signals(signalfd(-1, &continued, SFD_CLOEXEC | SFD_NONBLOCK));
    const pid_t monitor = fork();
    if (monitor == 0) {
      using What = TerminalMessage::What;
      const auto takes_lines = [] {
        struct termios now = {};
        return tcgetattr(0, &now) == 0 && (now.c_lflag & ICANON) != 0;
      };
      ours.reset();
      pty.reset();
      TerminalMessage message;
      if (!send_message(monitors.get(), {.what = What::kStarted}) ||
          !receive_message(monitors.get(), message) || message.what != What::kForeground ||
          takes_lines())
        _exit(92);
      send_message(monitors.get(), {.what = What::kPlaced});
      programs.reset();
      while (!takes_lines()) sched_yield();
      kill(getppid(), SIGCONT);
      send_message(monitors.get(), {.what = What::kEnded});
      while (receive_message(monitors.get(), message) && message.what != What::kShown) {
      }
      _exit(takes_lines() ? 0 : 93);
    }
    programs.reset();
    monitors.reset();
    TerminalRelay(std::move(**terminal), std::move(pty), std::move(ours), std::move(signals),
                  monitor)
        .run();
    int status = 0;
    waitpid(monitor, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 94;
  });
  EXPECT_EQ(session.exit_code(), 0);
}

}  // namespace
}  // namespace bulkhead
