#include "terminal/monitor.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>

#include "terminal/terminal_fixture.h"

namespace bulkhead {
namespace {

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
