// Relay and monitor, with a process that stands for the program.
#include "terminal/monitor.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <string>
#include <thread>

#include "terminal/terminal_fixture.h"

namespace bulkhead {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(UserTerminal, IsNotThereWithoutOne) {
  const pid_t child = fork();
  if (child == 0) {
    setsid();
    const int nothing = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; ++fd) dup2(nothing, fd);
    const auto found = UserTerminal::find();
    _exit(found.ok() && !*found ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(TerminalMonitor, CarriesBothWaysAndLosesNothing) {
  TerminalSession session([] {
    return monitor_with(
        [] {
          struct termios modes = {};
          tcgetattr(0, &modes);
          cfmakeraw(&modes);
          tcsetattr(0, TCSANOW, &modes);
          static_cast<void>(!write(1, "READY", 5));
          size_t left = 100'000;
          std::array<char, 4096> part = {};
          while (left > 0) {
            const ssize_t n = read(0, part.data(), part.size());
            if (n <= 0) _exit(1);
            left -= static_cast<size_t>(n);
          }
          const std::string line(999, 'x');
          for (int i = 0; i < 1000; ++i) dprintf(1, "%s\n", line.c_str());
          static_cast<void>(!write(1, "END", 3));
        },
        follow);
  });
  ASSERT_TRUE(session.wait_for("READY"));
  std::thread typing([&session] { session.type(std::string(100'000, 'k')); });
  EXPECT_TRUE(session.wait_for("END"));
  typing.join();
  EXPECT_EQ(session.screen().size(), session.screen().find("READY") + 5 + 1'000'000 + 3);
  EXPECT_EQ(session.exit_code(), 0);
}

TEST(TerminalMonitor, AProgramIsStoppedByTheKeyAndItsMonitorIsNot) {
  TerminalSession session([] {
    return monitor_with(
        [] {
          static_cast<void>(!write(1, "READY", 5));
          wait_for_ever();
        },
        [](TerminalMonitor&) {
          int status = 0;
          if (waitpid(-1, &status, WUNTRACED) <= 0 || !WIFSTOPPED(status)) return 95;
          return WSTOPSIG(status);
        });
  });
  ASSERT_TRUE(session.wait_for("READY"));
  session.type("\x1a");
  EXPECT_EQ(session.exit_code(), SIGTSTP);
}

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

// In the job: another program that asks at the terminal once the relay has its keys, with what
// `change` makes of the modes, and says what it has read before `last`.
void ask_beside(const std::function<void(struct termios&)>& change, char last) {
  if (fork() != 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  struct termios found = {};
  do {
    sched_yield();
    tcgetattr(0, &found);
  } while ((found.c_lflag & ICANON) != 0);
  struct termios modes = found;
  change(modes);
  tcsetattr(0, TCSAFLUSH, &modes);
  dprintf(1, "Password: ");
  std::string typed;
  for (char key = 0; read(0, &key, 1) == 1 && key != last;) typed += key;
  tcsetattr(0, TCSAFLUSH, &found);
  dprintf(1, "prompt has %s;", typed.c_str());
  wait_for_ever();
}

// Reads a line, and says it.
int follow_a_reader() {
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
}

// Another program of the job does, as ssh and sudo do in a pipeline.
TEST(TerminalRelay, WhatIsTypedForAPasswordsPromptIsNotTheProgramsToRead) {
  const std::array<tcflag_t, 3> hiding = {ECHO | ECHONL,  // readpassphrase(3)
                                          ECHO | ISIG,    // getpass(3)
                                          ECHO};          // Python's
  for (const tcflag_t hidden : hiding) {
    TerminalSession session([hidden] {
      ask_beside([hidden](struct termios& modes) { modes.c_lflag &= ~hidden; }, '\n');
      return follow_a_reader();
    });
    ASSERT_TRUE(session.wait_for("Password: "));
    session.type("s");
    while ((session.modes().c_lflag & ICANON) == 0) sched_yield();
    session.type("ecrex\177t\r");
    ASSERT_TRUE(session.wait_for("prompt has secret;")) << session.screen();
    session.type("mine\r");
    ASSERT_TRUE(session.wait_for("program has mine")) << session.screen();
    EXPECT_THAT(session.screen(), Not(HasSubstr("program has secret")));
    EXPECT_EQ(session.exit_code(), 0);
  }
}

// As a pager does.
TEST(TerminalRelay, WhoReadsKeysBesideGetsThemOneByOne) {
  TerminalSession session([] {
    const auto change = [](struct termios& modes) {
      modes.c_lflag &= ~tcflag_t{ICANON | ECHO};
      modes.c_cc[VTIME] = 0;
    };
    ask_beside(change, 'q');
    return follow_a_reader();
  });
  ASSERT_TRUE(session.wait_for("Password: "));
  session.type("kq");
  ASSERT_TRUE(session.wait_for("prompt has k;")) << session.screen();
  session.type("mine\r");
  EXPECT_TRUE(session.wait_for("program has mine")) << session.screen();
  EXPECT_EQ(session.exit_code(), 0);
}

// The prompt sets the modes again that it has found, after the program has ended.
TEST(TerminalRelay, APasswordsPromptThatOutlivesTheProgramStaysHidden) {
  TerminalSession session([] {
    ask_beside([](struct termios& modes) { modes.c_lflag &= ~tcflag_t{ECHO}; }, '\n');
    return monitor_with([] {},
                        [](TerminalMonitor& monitor) {
                          struct termios modes = {};
                          do {
                            sched_yield();
                            tcgetattr(monitor.person(), &modes);
                          } while ((modes.c_lflag & ECHO) != 0);
                          const int code = follow(monitor);
                          monitor.finish();
                          dprintf(1, "ENDED");
                          return code;
                        });
  });
  const struct termios before = session.modes();
  ASSERT_TRUE(session.wait_for("Password: "));
  ASSERT_TRUE(session.wait_for("ENDED"));
  session.type("secret\r");
  ASSERT_TRUE(session.wait_for("prompt has secret;")) << session.screen();
  EXPECT_EQ(session.screen().find("secret"), session.screen().find("prompt has ") + 11);
  EXPECT_EQ(session.exit_code(), 0);
  EXPECT_EQ(session.modes().c_lflag, before.c_lflag);
  EXPECT_EQ(session.modes().c_iflag, before.c_iflag);
}

TEST(TerminalMonitor, EndsAsTheMonitorDoes) {
  TerminalSession session([] {
    return monitor_with([] {},
                        [](TerminalMonitor& monitor) {
                          follow(monitor);
                          monitor.finish();
                          kill(getpid(), SIGTERM);
                          return 95;
                        });
  });
  EXPECT_EQ(session.exit_code(), 128 + SIGTERM);
}

}  // namespace
}  // namespace bulkhead
