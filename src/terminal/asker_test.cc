#include "terminal/asker.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>

#include "terminal/terminal_fixture.h"

namespace bulkhead {
namespace {

using testing::HasSubstr;
using testing::Not;

const Question kQuestion = {.kind = Kind::kRead,
                            .resource = "/secret",
                            .program = "/bin/p",
                            .pid = 1,
                            .subject = "/bin/p",
                            .detail = "openat"};
constexpr int kBase = 10;  // exit code kBase + answer

int answer(Answer value) { return kBase + static_cast<int>(value); }

// The session's job waits until the test lets it go on.
class Gate {
 public:
  Gate() {
    std::array<int, 2> ends = {-1, -1};
    EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
    in_.reset(ends[0]);
    out_.reset(ends[1]);
  }
  void wait() const {
    char byte = 0;
    static_cast<void>(!read(in_.get(), &byte, 1));
  }
  void open() const { ASSERT_EQ(write(out_.get(), "g", 1), 1); }

 private:
  Fd in_, out_;
};

int ask(TerminalMonitor& monitor, TerminalAsker::Options options = {}) {
  TerminalAsker asker(monitor, options);
  return answer(asker.ask(kQuestion));
}

int ask_once(TerminalAsker::Options options = {}) {
  return monitor_with(wait_for_ever,
                      [options](TerminalMonitor& monitor) { return ask(monitor, options); });
}

TEST(TerminalAsker, TakesAnAnswer) {
  TerminalSession session([] { return ask_once(); });
  ASSERT_TRUE(session.wait_for("[N]o: ")) << session.screen();
  EXPECT_THAT(session.screen(), HasSubstr("bulkhead: /bin/p wants to read"));
  session.type("always\n");
  EXPECT_EQ(session.exit_code(), answer(Answer::kAlways));
}

TEST(TerminalAsker, AsksAgainThenGivesUp) {
  TerminalSession session([] { return ask_once(); });
  ASSERT_TRUE(session.wait_for("[N]o: "));
  for (int i = 0; i < 3; ++i) {
    session.type("yes\n");
    ASSERT_TRUE(session.wait_for("then Enter: "));
  }
  EXPECT_EQ(session.exit_code(), answer(Answer::kNobody));
}

TEST(TerminalAsker, ForgetsWhatWasTypedBefore) {
  // Its input is another, so the keys stay at the person's terminal.
  TerminalSession session([] {
    struct pollfd waiting = {.fd = 0, .events = POLLIN, .revents = 0};
    if (poll(&waiting, 1, -1) != 1 || dup2(open("/dev/null", O_RDONLY), 0) != 0) return 97;
    return ask_once();
  });
  session.type("always\n");
  ASSERT_TRUE(session.wait_for("[N]o: "));
  session.type("n\n");
  EXPECT_EQ(session.exit_code(), answer(Answer::kNo));
}

// A program may have drawn a question, and the real one comes as that is being answered.
TEST(TerminalAsker, KeysAnswerNothingBeforeAPersonCanHaveReadTheQuestion) {
  constexpr std::string_view kKeys = "once\n";
  size_t typed = 0;
  for (int times = 0; times < 100 && typed < kKeys.size(); ++times) {
    TerminalSession session([] { return ask_once(); });
    ASSERT_TRUE(session.wait_for("keys do not count yet"));
    for (typed = 0; typed < kKeys.size(); ++typed) {
      const auto begin = std::chrono::steady_clock::now();
      session.type(kKeys.substr(typed, 1));
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      if ((session.modes().c_lflag & ICANON) == 0) continue;
      // Again, where it was too late for the first, or this process was held up.
      ASSERT_TRUE(typed == 0 ||
                  std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(600))
          << session.screen();
      break;
    }
    if (typed < kKeys.size()) continue;
    ASSERT_TRUE(session.wait_for("[N]o: "));
    EXPECT_THAT(session.screen(), Not(HasSubstr("once\r")));  // nor are they echoed
    session.type("n\n");
    EXPECT_EQ(session.exit_code(), answer(Answer::kNo));
  }
  EXPECT_EQ(typed, kKeys.size()) << "too slow, each time";
}

// As of sudo in a pipeline: its prompt would be typed where it is seen, and to us.
TEST(TerminalAsker, WaitsWhileAPasswordIsTypedForAnotherOfTheJob) {
  TerminalSession session([] {
    struct termios modes = {};
    if (tcgetattr(0, &modes) != 0) return 96;
    if (fork() == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      struct termios hidden = modes;
      hidden.c_lflag &= ~tcflag_t{ECHO};
      tcsetattr(0, TCSAFLUSH, &hidden);
      dprintf(1, "Password: ");
      std::array<char, 16> typed = {};
      const ssize_t size = read(0, typed.data(), typed.size());
      dprintf(1, "prompt has %.*s;", static_cast<int>(size) - 1, typed.data());
      tcsetattr(0, TCSAFLUSH, &modes);
      wait_for_ever();
    }
    do {
      sched_yield();
      tcgetattr(0, &modes);
    } while ((modes.c_lflag & ECHO) != 0);
    if (dup2(open("/dev/null", O_RDONLY), 0) != 0) return 97;
    return ask_once();
  });
  ASSERT_TRUE(session.wait_for("Password: "));
  std::this_thread::sleep_for(std::chrono::milliseconds(1200));  // longer than keys must be quiet
  session.type("secret\n");
  ASSERT_TRUE(session.wait_for("prompt has secret;")) << session.screen();
  EXPECT_THAT(session.screen(), Not(HasSubstr("wants to")));
  ASSERT_TRUE(session.wait_for("[N]o: ")) << session.screen();
  session.type("n\n");
  EXPECT_EQ(session.exit_code(), answer(Answer::kNo));
}

TEST(TerminalAsker, CtrlCCountsFromTheStart) {
  TerminalSession session([] { return ask_once(); });
  ASSERT_TRUE(session.wait_for("keys do not count yet"));
  session.type("\x03");
  EXPECT_EQ(session.exit_code(), answer(Answer::kNobody));
}

// By which a letter would come as an escape sequence, or not at all.
TEST(TerminalAsker, WhatTheProgramMadeOfTheKeysIsUndoneForTheQuestion) {
  setenv("TERM", "xterm", 1);
  const Gate shown;
  TerminalSession session([&shown] {
    return monitor_with(
        [] {
          dprintf(1, "\033[?1003;1006h\033[>31u\033[2hREADY");
          wait_for_ever();
        },
        [&shown](TerminalMonitor& monitor) {
          shown.wait();
          return ask(monitor);
        });
  });
  ASSERT_TRUE(session.wait_for("READY"));
  shown.open();
  ASSERT_TRUE(session.wait_for("wants to"));
  const std::string before = session.screen().substr(session.screen().find("READY"));
  EXPECT_THAT(before, HasSubstr("\033[2l"));
  EXPECT_THAT(before, HasSubstr("1006;1015;1016;2004;2031;2048;9001l"));
  EXPECT_THAT(before, HasSubstr("\033[>0u"));
  ASSERT_TRUE(session.wait_for("[N]o: "));
  session.type("once\n");
  ASSERT_TRUE(session.wait_for("\033[<1u\033[?1003;1006h\033[2h")) << session.screen();
  EXPECT_EQ(session.exit_code(), answer(Answer::kOnce));
}

TEST(TerminalAsker, NoAnswerIsNo) {
  TerminalSession eof([] { return ask_once(); });
  ASSERT_TRUE(eof.wait_for("[N]o: "));
  eof.type("\x04");
  EXPECT_EQ(eof.exit_code(), answer(Answer::kNobody));

  TerminalSession late([] { return ask_once({.patience = std::chrono::milliseconds(300)}); });
  EXPECT_TRUE(late.wait_for("no answer in time")) << late.screen();
  EXPECT_EQ(late.exit_code(), answer(Answer::kNobody));
}

TEST(TerminalAsker, OnlyAWholeLineAnswers) {
  const std::string many(255, 'x');
  for (const std::string& pieces : {std::string("run\x04\n"), std::string("\x16\nrun\x04\n"),
                                    many + "xrun\n", many + "\x04run\n"}) {
    TerminalSession session([] { return ask_once(); });
    ASSERT_TRUE(session.wait_for("[N]o: "));
    session.type(pieces);
    ASSERT_TRUE(session.wait_for("then Enter: ")) << session.screen();
    session.type("once\n");
    EXPECT_EQ(session.exit_code(), answer(Answer::kOnce));
  }
}

// Of a reply that ends in "R" nothing but that is left where "1" is the key that erases a line; and
// somebody may have made it so before the run, or a letter the end of a line.
TEST(TerminalAsker, NoModeOfTheStartMakesAnAnswer) {
  for (const int which : {VKILL, VERASE, VWERASE, VLNEXT, VEOL, VEOL2}) {
    for (const char key : {'1', 'a', 'n', '['}) {
      TerminalSession session([which, key] {
        struct termios modes = {};
        if (tcgetattr(0, &modes) != 0) return 97;
        modes.c_cc[which] = static_cast<cc_t>(key);
        modes.c_iflag |= ISTRIP | INLCR;
        modes.c_lflag |= EXTPROC;
        if (tcsetattr(0, TCSANOW, &modes) != 0) return 98;
        return ask_once();
      });
      ASSERT_TRUE(session.wait_for("[N]o: "));
      session.type(std::string("\033[1") + key + "R\n");
      ASSERT_TRUE(session.wait_for("then Enter: ")) << session.screen();
      session.type("no\n");
      EXPECT_EQ(session.exit_code(), answer(Answer::kNo)) << which << key;
    }
  }
}

// As a program outside does, in the background, that blocks SIGTTOU.
TEST(TerminalAsker, WhoSetsTheModesMeanwhileAnswersNothing) {
  TerminalSession session([] { return ask_once(); });
  ASSERT_TRUE(session.wait_for("[N]o: "));
  const struct termios at_question = session.modes();
  struct termios modes = at_question;
  modes.c_cc[VEOL] = 'a';
  ASSERT_EQ(tcsetattr(session.master(), TCSANOW, &modes), 0);
  session.type("always\n");
  ASSERT_TRUE(session.wait_for("[N]o: ")) << session.screen();
  session.type("n\n");
  EXPECT_EQ(session.exit_code(), answer(Answer::kNo));
}

TEST(TerminalAsker, TheTerminalIsLeftAsItWas) {
  TerminalSession session([] { return ask_once(); });
  const struct termios before = session.modes();
  ASSERT_TRUE(session.wait_for("[N]o: "));
  session.type("once\n");
  EXPECT_EQ(session.exit_code(), answer(Answer::kOnce));
  const struct termios after = session.modes();
  EXPECT_EQ(after.c_iflag, before.c_iflag);
  EXPECT_EQ(after.c_oflag, before.c_oflag);
  EXPECT_EQ(after.c_lflag, before.c_lflag);
}

TEST(TerminalAsker, IsSeenWhereTheProgramHasHiddenWhatFollows) {
  setenv("TERM", "xterm", 1);
  const Gate shown;
  TerminalSession session([&shown] {
    return monitor_with(
        [] {
          static_cast<void>(!write(1, "hidden\033_", 8));
          wait_for_ever();
        },
        [&shown](TerminalMonitor& monitor) {
          shown.wait();
          return ask(monitor);
        });
  });
  ASSERT_TRUE(session.wait_for("hidden"));
  shown.open();
  ASSERT_TRUE(session.wait_for("[N]o: "));
  EXPECT_THAT(session.screen(), HasSubstr("\033\003\030\033\\"));
  EXPECT_LT(session.screen().find("\033\003\030\033\\"),
            session.screen().find("bulkhead: /bin/p wants to read"));
  session.type("n\n");
  EXPECT_EQ(session.exit_code(), answer(Answer::kNo));
}

// It asks its terminal for keys, shows words, and sets modes, all the while.
TEST(TerminalAsker, TheProgramNeitherReadsNorWritesAtTheQuestion) {
  TerminalSession session([] {
    return monitor_with(
        [] {
          if (fork() == 0) {
            char key = 0;
            if (read(0, &key, 1) == 1) static_cast<void>(!write(1, "STOLEN", 6));
            wait_for_ever();
          }
          signal(SIGTTOU, SIG_IGN);
          for (;;) {
            static_cast<void>(!write(1, "PAINT", 5));
            struct termios modes = {};
            if (tcgetattr(0, &modes) == 0) {
              modes.c_lflag ^= ICANON | ECHO;
              tcsetattr(0, TCSANOW, &modes);
            }
            tcflush(0, TCIFLUSH);
          }
        },
        [](TerminalMonitor& monitor) {
          const int code = ask(monitor);
          std::this_thread::sleep_for(std::chrono::milliseconds(200));
          return code;
        });
  });
  ASSERT_TRUE(session.wait_for("wants to"));
  const size_t question = session.screen().rfind("wants to");
  ASSERT_TRUE(session.wait_for("[N]o: "));
  session.type("what\n");
  ASSERT_TRUE(session.wait_for("then Enter: "));
  EXPECT_THAT(session.screen().substr(question), Not(HasSubstr("PAINT")));
  session.type("once\n");
  EXPECT_TRUE(session.wait_for("PAINT"));
  while (session.wait_for("PAINT")) {
  }
  EXPECT_THAT(session.screen(), Not(HasSubstr("STOLEN")));
  EXPECT_EQ(session.exit_code(), answer(Answer::kOnce));
}

TEST(TerminalAsker, CtrlCIsNoAndReachesTheProgram) {
  TerminalSession session([] {
    return monitor_with(wait_for_ever, [](TerminalMonitor& monitor) {
      const int code = ask(monitor);
      return follow(monitor) == SIGINT ? code : 96;
    });
  });
  ASSERT_TRUE(session.wait_for("[N]o: "));
  session.type("\x03");
  EXPECT_EQ(session.exit_code(), answer(Answer::kNobody));
}

TEST(TerminalAsker, CancelEndsTheQuestion) {
  for (int later = 0; later < 20; ++later) {
    TerminalSession session([later] {
      return monitor_with(wait_for_ever, [later](TerminalMonitor& monitor) {
        TerminalAsker asker(monitor, {});
        Answer got = Answer::kAlways;
        std::thread asking([&] { got = asker.ask(kQuestion); });
        while (!asker.asking()) sched_yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(later * 10));
        asker.cancel();
        asking.join();
        if (asker.asking() || asker.ask(kQuestion) != Answer::kNobody) return 96;
        return answer(got);
      });
    });
    ASSERT_EQ(session.exit_code(), answer(Answer::kNobody)) << later;
  }
}

TEST(TerminalAsker, DoesNotDisturbFromTheBackground) {
  TerminalSession session([] {
    const pid_t job = fork();
    if (job == 0) {
      setpgid(0, 0);
      _exit(ask_once());
    }
    int status = 0;
    waitpid(job, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 94;
  });
  EXPECT_EQ(session.exit_code(), answer(Answer::kNotAsked));
  EXPECT_FALSE(session.wait_for("wants to"));
}

TEST(TerminalAsker, AnotherRunsQuestionIsNotWaitedForForEver) {
  std::string lock = testing::TempDir() + "question.lock.XXXXXX";
  const Fd held(mkostemp(lock.data(), O_CLOEXEC));
  ASSERT_EQ(flock(held.get(), LOCK_EX), 0);
  TerminalSession session([&lock] {
    return monitor_with(
        wait_for_ever,
        [](TerminalMonitor& monitor) {
          return ask(monitor, {.patience = std::chrono::milliseconds(100)});
        },
        lock);
  });
  EXPECT_EQ(session.exit_code(), answer(Answer::kNotAsked));
  EXPECT_FALSE(session.wait_for("wants to"));
  unlink(lock.c_str());
}

TEST(TerminalAsker, AsksOnlySoOften) {
  TerminalSession session([] {
    return monitor_with(wait_for_ever, [](TerminalMonitor& monitor) {
      TerminalAsker asker(monitor, {.most = 2});
      const bool both =
          asker.ask(kQuestion) == Answer::kOnce && asker.ask(kQuestion) == Answer::kOnce;
      const Answer third = asker.ask(kQuestion);
      return both ? answer(third) : 96;
    });
  });
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(session.wait_for("[N]o: "));
    session.type("once\n");
  }
  EXPECT_EQ(session.exit_code(), answer(Answer::kNotAsked));
}

}  // namespace
}  // namespace bulkhead
