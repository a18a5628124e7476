#include "cli/prompt.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "sandbox/kernel/process_stat.h"

namespace bulkhead {
namespace {

using testing::HasSubstr;
using testing::Not;

// A process that leads a session on a terminal of its own, and the terminal's other end.
class Session {
 public:
  // `body` runs in the process; what it returns is the exit code.
  explicit Session(const std::function<int(int report)>& body) {
    master_.reset(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (!master_ || grantpt(master_.get()) != 0 || unlockpt(master_.get()) != 0) return;
    std::array<char, 64> name = {};
    if (ptsname_r(master_.get(), name.data(), name.size()) != 0) return;
    std::array<int, 2> ends = {-1, -1};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return;
    reports_.reset(ends[0]);
    const Fd report(ends[1]);
    pid_ = fork();
    if (pid_ != 0) return;
    setsid();
    const int terminal = open(name.data(), O_RDWR);  // becomes the controlling terminal
    if (terminal < 0 || ioctl(terminal, TIOCSCTTY, 0) != 0) _exit(98);
    for (int fd = 0; fd < 3; ++fd) dup2(terminal, fd);
    // The leader stands for the shell, the body for its job.
    signal(SIGTTOU, SIG_IGN);
    const pid_t job = fork();
    if (job == 0) {
      setpgid(0, 0);
      tcsetpgrp(0, getpid());
      signal(SIGTTOU, SIG_DFL);
      _exit(body(report.get()));
    }
    setpgid(job, job);
    int status = 0;
    waitpid(job, &status, 0);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  }
  ~Session() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void type(std::string_view text) {
    ASSERT_EQ(write(master_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  // Reads the screen until it shows `text`. False where the session ended before.
  bool wait_for(const std::string& text) {
    while (screen_.find(text, seen_) == std::string::npos) {
      std::array<char, 4096> part = {};
      const ssize_t n = read(master_.get(), part.data(), part.size());
      if (n <= 0) return false;
      screen_.append(part.data(), static_cast<size_t>(n));
    }
    seen_ = screen_.find(text, seen_) + text.size();
    return true;
  }
  // One byte that the body reports; 0 where it ended instead.
  char report() {
    char what = 0;
    return read(reports_.get(), &what, 1) == 1 ? what : '\0';
  }
  int exit_code() {
    int status = 0;
    if (waitpid(std::exchange(pid_, -1), &status, 0) < 0) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  const std::string& screen() const { return screen_; }

 private:
  Fd master_, reports_;
  pid_t pid_ = -1;
  std::string screen_;
  size_t seen_ = 0;
};

// A process that nobody of the job is to keep still: another job's, say. Ends with what asks.
pid_t start_beside(const std::function<void()>& body) {
  std::array<int, 2> ends = {-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return -1;
  const Fd read_end(ends[0]), write_end(ends[1]);
  const pid_t between = fork();
  if (between == 0) {
    const pid_t pid = fork();
    if (pid == 0) {
      setpgid(0, 0);
      body();
      _exit(0);
    }
    setpgid(pid, pid);
    _exit(write(write_end.get(), &pid, sizeof pid) == sizeof pid ? 0 : 1);
  }
  waitpid(between, nullptr, 0);
  pid_t pid = -1;
  return read(read_end.get(), &pid, sizeof pid) == sizeof pid ? pid : -1;
}

void tell(int report, char what) { static_cast<void>(!write(report, &what, 1)); }

const Question kQuestion = {.kind = Kind::kRead,
                            .resource = "/secret",
                            .program = "/bin/p",
                            .pid = 1,
                            .subject = "/bin/p",
                            .detail = "openat"};
constexpr int kBase = 10;  // exit code kBase + answer

int ask_once(TerminalAsker::Options options) {
  auto asker = TerminalAsker::open(std::move(options));
  if (!asker.ok()) return 99;
  return kBase + static_cast<int>((*asker)->ask(kQuestion));
}

int answer(Answer value) { return kBase + static_cast<int>(value); }

TEST(TerminalAsker, TakesAnAnswer) {
  Session session([](int) { return ask_once({}); });
  ASSERT_TRUE(session.wait_for("[N]o: ")) << session.screen();
  EXPECT_THAT(session.screen(), HasSubstr("bulkhead: /bin/p wants to read"));
  session.type("always\n");
  EXPECT_EQ(session.exit_code(), answer(Answer::kAlways));
}

TEST(TerminalAsker, AsksAgainThenGivesUp) {
  Session session([](int) { return ask_once({}); });
  ASSERT_TRUE(session.wait_for("[N]o: "));
  session.type("yes\n");
  ASSERT_TRUE(session.wait_for("then Enter: "));
  session.type("once\n");
  EXPECT_EQ(session.exit_code(), answer(Answer::kOnce));
}

TEST(TerminalAsker, ForgetsWhatWasTypedBefore) {
  Session session([](int report) {
    tell(report, 'r');
    // Typed ahead: the line is in the terminal's buffer once it can be read.
    struct pollfd waiting = {.fd = 0, .events = POLLIN, .revents = 0};
    if (poll(&waiting, 1, -1) != 1) return 97;
    return ask_once({});
  });
  ASSERT_EQ(session.report(), 'r');
  session.type("always\n");
  ASSERT_TRUE(session.wait_for("[N]o: "));
  session.type("n\n");
  EXPECT_EQ(session.exit_code(), answer(Answer::kNo));
}

TEST(TerminalAsker, NoAnswerIsNo) {
  Session eof([](int) { return ask_once({}); });
  ASSERT_TRUE(eof.wait_for("[N]o: "));
  eof.type("\x04");
  EXPECT_EQ(eof.exit_code(), answer(Answer::kNobody));

  Session late(
      [](int) { return ask_once({.lock_file = "", .patience = std::chrono::milliseconds(1)}); });
  EXPECT_TRUE(late.wait_for("no answer in time")) << late.screen();
  EXPECT_EQ(late.exit_code(), answer(Answer::kNobody));
}

TEST(TerminalAsker, PutsModesAndForegroundBack) {
  Session session([](int) {
    struct termios raw = {};
    if (tcgetattr(0, &raw) != 0) return 97;
    cfmakeraw(&raw);
    if (tcsetattr(0, TCSANOW, &raw) != 0 || tcgetattr(0, &raw) != 0) return 97;
    const int code = ask_once({});
    struct termios after = {};
    if (tcgetattr(0, &after) != 0 || after.c_lflag != raw.c_lflag || after.c_iflag != raw.c_iflag ||
        after.c_oflag != raw.c_oflag || after.c_cc[VMIN] != raw.c_cc[VMIN])
      return 96;
    return tcgetpgrp(0) == getpgrp() ? code : 95;
  });
  ASSERT_TRUE(session.wait_for("[N]o: "));
  session.type("run\n");
  EXPECT_EQ(session.exit_code(), answer(Answer::kThisRun));
}

// As ask_once(), of a program that has set the terminal's modes meanwhile.
int ask_with(const std::function<void(struct termios& modes)>& set) {
  auto asker = TerminalAsker::open({});
  struct termios modes = {};
  if (!asker.ok() || tcgetattr(0, &modes) != 0) return 99;
  set(modes);
  if (tcsetattr(0, TCSANOW, &modes) != 0) return 98;
  return kBase + static_cast<int>((*asker)->ask(kQuestion));
}

TEST(TerminalAsker, NoLetterEndsALine) {
  for (const int which : {VEOL, VEOL2}) {
    Session session([which](int) {
      return ask_with([which](struct termios& modes) { modes.c_cc[which] = 'a'; });
    });
    ASSERT_TRUE(session.wait_for("[N]o: "));
    session.type("\033]11;rgb:aaaa/aaaa\033\\");
    session.type("\n");
    ASSERT_TRUE(session.wait_for("then Enter: ")) << session.screen();
    session.type("n\n");
    EXPECT_EQ(session.exit_code(), answer(Answer::kNo));
  }
}

TEST(TerminalAsker, NoModeOfTheProgramsMakesALine) {
  Session session([](int) {
    return ask_with([](struct termios& modes) {
      modes.c_lflag |= EXTPROC;  // a read returns whatever is there
      modes.c_lflag &= ~static_cast<tcflag_t>(ICANON);
      modes.c_iflag |= ISTRIP | INLCR;
    });
  });
  ASSERT_TRUE(session.wait_for("[N]o: "));
  session.type("run");
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  session.type("x\n");
  ASSERT_TRUE(session.wait_for("then Enter: ")) << session.screen();
  session.type("n\n");
  EXPECT_EQ(session.exit_code(), answer(Answer::kNo));
}

TEST(TerminalAsker, OnlyAWholeLineAnswers) {
  for (const std::string& pieces :
       {std::string("run\x04\n"), std::string("\x16\nrun\x04\n"), std::string(256, 'x') + "run\n",
        std::string(255, 'x') + "\x04run\n"}) {
    Session session([](int) { return ask_once({}); });
    ASSERT_TRUE(session.wait_for("[N]o: "));
    session.type(pieces);
    ASSERT_TRUE(session.wait_for("then Enter: ")) << session.screen();
    session.type("once\n");
    EXPECT_EQ(session.exit_code(), answer(Answer::kOnce));
  }
}

// Of a reply that ends in "R" nothing but that is left where "1" is the key that erases a line, and
// the run before may have made it so.
TEST(TerminalAsker, NoKeyOfTheStartIsALetter) {
  for (const cc_t key : {cc_t{'1'}, cc_t{'['}, cc_t{0x9b}}) {
    Session session([key](int) {
      struct termios modes = {};
      if (tcgetattr(0, &modes) != 0) return 97;
      modes.c_cc[VKILL] = key;
      if (tcsetattr(0, TCSANOW, &modes) != 0) return 98;
      return ask_once({});
    });
    ASSERT_TRUE(session.wait_for("[N]o: "));
    session.type(std::string("\033[1") + static_cast<char>(key) + "R\n");
    ASSERT_TRUE(session.wait_for("then Enter: ")) << session.screen();
    session.type("n\n");
    EXPECT_EQ(session.exit_code(), answer(Answer::kNo));
  }
}

// As a program in the background does, that blocks SIGTTOU.
TEST(TerminalAsker, WhoSetsTheModesMeanwhileAnswersNothing) {
  Session session([](int report) {
    auto asker = TerminalAsker::open({});
    if (!asker.ok()) return 99;
    Answer got = Answer::kAlways;
    std::thread asking([&] { got = (*asker)->ask(kQuestion); });
    signal(SIGTTOU, SIG_IGN);
    struct termios modes = {};
    while (!(*asker)->asking() || tcgetpgrp(0) == getpgrp() || tcgetattr(0, &modes) != 0 ||
           modes.c_cc[VQUIT] != 0)
      sched_yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    modes.c_cc[VEOL] = 'a';
    tcsetattr(0, TCSANOW, &modes);
    tell(report, 's');
    asking.join();
    return kBase + static_cast<int>(got);
  });
  ASSERT_EQ(session.report(), 's');
  ASSERT_TRUE(session.wait_for("[N]o: "));
  session.type("always\n");
  ASSERT_TRUE(session.wait_for("[N]o: ")) << session.screen();
  session.type("n\n");
  EXPECT_EQ(session.exit_code(), answer(Answer::kNo));
}

TEST(TerminalAsker, NoIsWhatWasTyped) {
  for (const int which : {VERASE, VWERASE, VLNEXT, VKILL}) {
    Session session([which](int) {
      return ask_with([which](struct termios& modes) { modes.c_cc[which] = 'n'; });
    });
    ASSERT_TRUE(session.wait_for("[N]o: "));
    session.type("no\n");
    EXPECT_EQ(session.exit_code(), answer(Answer::kNo)) << which;
  }
}

TEST(TerminalAsker, IsSeenWhereTheProgramHasHiddenWhatFollows) {
  Session session([](int) {
    setenv("TERM", "xterm", 1);
    tell(1, '\033');
    tell(1, '_');
    return ask_once({});
  });
  ASSERT_TRUE(session.wait_for("[N]o: "));
  const std::string& screen = session.screen();
  EXPECT_LT(screen.find("\033_\033\003\030\033\\"), screen.find("bulkhead: /bin/p wants to read"));
  session.type("n\n");
  EXPECT_EQ(session.exit_code(), answer(Answer::kNo));
}

// 'S' sleeping, 'T' stopped.
char state_of(pid_t pid) {
  const auto stat = stat_of("/proc/" + std::to_string(pid));
  return stat ? stat->state : '\0';
}

// A process that waits for a line of the terminal, and ends with its first letter. It
// does `first` before.
pid_t start_reader(const std::function<void()>& first) {
  const pid_t reader = fork();
  if (reader == 0) {
    first();
    std::array<char, 64> line = {};
    const ssize_t n = read(0, line.data(), line.size());
    _exit(n > 0 ? line[0] : 1);
  }
  while (state_of(reader) != 'S') sched_yield();
  return reader;
}

// `code` where what the reader got is the line that expect_answer_and_line() types for it.
int judge_reader(pid_t reader, int report, int code) {
  tell(report, 'd');
  int status = 0;
  waitpid(reader, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 'm' ? code : 96;
}

void expect_answer_and_line(Session& session) {
  ASSERT_TRUE(session.wait_for("[N]o: "));
  session.type("always\n");
  ASSERT_EQ(session.report(), 'd');
  session.type("mine\n");
  ASSERT_EQ(session.exit_code(), answer(Answer::kAlways));
}

TEST(TerminalAsker, AProgramThatReadsTheTerminalDoesNotGetTheAnswer) {
  Session session([](int report) {
    const pid_t reader = start_reader([] {});
    return judge_reader(reader, report, ask_once({}));
  });
  expect_answer_and_line(session);
}

// A reader takes a line that comes before it has run again, however long ago it was to stop.
TEST(TerminalAsker, AReaderThatIsSlowToStopDoesNotGetTheAnswer) {
  for (int round = 0; round < 5; ++round) {
    Session session([](int report) {
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(sched_getcpu(), &one);
      const pid_t reader = start_reader([&one] {
        const struct sched_param none = {};
        sched_setaffinity(0, sizeof(one), &one);
        sched_setscheduler(0, SCHED_IDLE, &none);
      });
      std::array<pid_t, 2> busy = {};
      for (pid_t& pid : busy)
        pid = start_beside([&one] {
          alarm(60);
          sched_setaffinity(0, sizeof(one), &one);
          for (;;) static_cast<void>(getpid());
        });
      const int code = ask_once({});
      for (const pid_t pid : busy) kill(pid, SIGKILL);
      return judge_reader(reader, report, code);
    });
    SCOPED_TRACE(round);
    expect_answer_and_line(session);
    if (HasFatalFailure()) return;
  }
}

TEST(TerminalAsker, AProgramThatWritesMeanwhileIsStopped) {
  Session session([](int report) {
    std::array<int, 2> ends = {-1, -1};
    if (pipe(ends.data()) != 0) return 97;
    const pid_t writer = fork();
    if (writer == 0) {
      char go = 0;
      if (read(ends[0], &go, 1) == 1) static_cast<void>(!write(1, "PAINT", 5));
      _exit(0);
    }
    auto asker = TerminalAsker::open({});
    if (!asker.ok()) return 99;
    Answer got = Answer::kNo;
    std::thread asking([&] { got = (*asker)->ask(kQuestion); });
    while (!(*asker)->asking() || tcgetpgrp(0) == getpgrp()) sched_yield();
    tell(ends[1], 'g');
    while (state_of(writer) != 'T') sched_yield();
    tell(report, 's');
    asking.join();
    int status = 0;
    waitpid(writer, &status, 0);
    return WIFEXITED(status) ? kBase + static_cast<int>(got) : 96;
  });
  ASSERT_EQ(session.report(), 's');
  ASSERT_TRUE(session.wait_for("[N]o: "));
  EXPECT_THAT(session.screen(), Not(HasSubstr("PAINT")));
  session.type("once\n");
  EXPECT_TRUE(session.wait_for("PAINT"));
  EXPECT_EQ(session.exit_code(), answer(Answer::kOnce));
}

TEST(TerminalAsker, AProgramThatHoldsTheOutputHidesNoQuestion) {
  Session session([](int) { return tcflow(0, TCOOFF) == 0 ? ask_once({}) : 97; });
  ASSERT_TRUE(session.wait_for("[N]o: "));
  session.type("once\n");
  EXPECT_EQ(session.exit_code(), answer(Answer::kOnce));
}

// Again and again: perhaps nobody sees the question, but it ends.
TEST(TerminalAsker, AProgramThatHoldsTheOutputHoldsUpNobody) {
  Session session([](int) {
    const pid_t holder = start_beside([] {
      alarm(60);
      signal(SIGTTOU, SIG_IGN);
      while (tcflow(0, TCOOFF) == 0) {
      }
    });
    const int code = ask_once({.lock_file = "", .patience = std::chrono::milliseconds(300)});
    kill(holder, SIGKILL);
    return code;
  });
  EXPECT_EQ(session.exit_code(), answer(Answer::kNobody));
}

volatile sig_atomic_t g_interrupts = 0;

TEST(TerminalAsker, CtrlCIsNoAndReachesTheJob) {
  Session session([](int) {
    signal(SIGINT, [](int) { g_interrupts = g_interrupts + 1; });
    const int code = ask_once({});
    return g_interrupts == 1 ? code : 96;
  });
  ASSERT_TRUE(session.wait_for("[N]o: "));
  session.type("\x03");
  EXPECT_EQ(session.exit_code(), answer(Answer::kNobody));
}

// Whatever moment it meets: the question, the time until the terminal is back, or the program.
TEST(TerminalAsker, CtrlCRightBehindTheAnswerReachesTheJob) {
  for (std::chrono::microseconds later{0}; later < std::chrono::milliseconds(2);
       later += std::chrono::microseconds(50)) {
    Session session([](int) {
      signal(SIGINT, [](int) { g_interrupts = g_interrupts + 1; });
      alarm(20);  // ends a run that waits for what was lost
      static_cast<void>(ask_once({}));
      while (g_interrupts == 0) sched_yield();
      return 0;
    });
    ASSERT_TRUE(session.wait_for("[N]o: "));
    session.type("once\n");
    std::this_thread::sleep_for(later);
    session.type("\x03");
    ASSERT_EQ(session.exit_code(), 0) << later.count();
  }
}

// However far the child is with taking the terminal.
TEST(TerminalAsker, CancelEndsTheQuestion) {
  for (int yields = 0; yields < 40; ++yields) {
    Session session([yields](int) {
      auto asker = TerminalAsker::open({});
      if (!asker.ok()) return 99;
      Answer got = Answer::kAlways;
      std::thread asking([&] { got = (*asker)->ask(kQuestion); });
      while (!(*asker)->asking()) sched_yield();
      for (int i = 0; i < yields * 10; ++i) sched_yield();
      (*asker)->cancel();
      asking.join();
      if ((*asker)->asking() || (*asker)->ask(kQuestion) != Answer::kNobody) return 96;
      return tcgetpgrp(0) == getpgrp() ? kBase + static_cast<int>(got) : 95;
    });
    ASSERT_EQ(session.exit_code(), answer(Answer::kNobody)) << yields;
  }
}

TEST(TerminalAsker, DoesNotDisturbFromTheBackground) {
  Session session([](int) {
    const pid_t job = fork();
    if (job == 0) {
      setpgid(0, 0);
      auto asker = TerminalAsker::open({});
      if (!asker.ok()) _exit(99);
      const Answer got = (*asker)->ask(kQuestion);
      _exit(kBase + static_cast<int>(got));
    }
    int status = 0;
    waitpid(job, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 94;
  });
  EXPECT_EQ(session.exit_code(), answer(Answer::kNotAsked));
  EXPECT_FALSE(session.wait_for("wants to"));
}

TEST(TerminalAsker, TheForegroundMayBelongToTheProgram) {
  Session session([](int report) {
    const pid_t program = fork();
    if (program == 0) {
      setpgid(0, 0);
      signal(SIGTTOU, SIG_IGN);
      tcsetpgrp(0, getpid());
      tell(report, 'f');
      pause();
      _exit(0);
    }
    while (tcgetpgrp(0) != program) sched_yield();
    const int code = ask_once({});
    const bool back = tcgetpgrp(0) == program;
    kill(program, SIGKILL);
    waitpid(program, nullptr, 0);
    return back ? code : 96;
  });
  ASSERT_EQ(session.report(), 'f');
  ASSERT_TRUE(session.wait_for("[N]o: "));
  session.type("v\n");
  EXPECT_EQ(session.exit_code(), answer(Answer::kNever));
}

// A second run of the same job did so as it ended.
TEST(TerminalAsker, TakesTheTerminalBackFromItsOwnJob) {
  Session session([](int report) {
    alarm(30);  // ends one that waits for a child that is stopped
    auto asker = TerminalAsker::open({});
    if (!asker.ok()) return 99;
    Answer got = Answer::kNo;
    std::thread asking([&] { got = (*asker)->ask(kQuestion); });
    while (!(*asker)->asking() || tcgetpgrp(0) == getpgrp()) sched_yield();
    tcsetpgrp(0, getpgrp());
    tell(report, 's');
    asking.join();
    return tcgetpgrp(0) == getpgrp() ? kBase + static_cast<int>(got) : 96;
  });
  ASSERT_EQ(session.report(), 's');
  while (session.wait_for("[N]o: ")) session.type("once\n");  // asked again
  EXPECT_EQ(session.exit_code(), answer(Answer::kOnce));
}

TEST(TerminalAsker, AShellThatTookTheTerminalKeepsItAndTheQuestionEnds) {
  Session session([](int report) {
    alarm(30);
    struct termios before = {};
    if (tcgetattr(0, &before) != 0) return 97;
    auto asker = TerminalAsker::open({.lock_file = "", .patience = std::chrono::milliseconds(500)});
    if (!asker.ok()) return 99;
    Answer got = Answer::kOnce;
    std::thread asking([&] { got = (*asker)->ask(kQuestion); });
    // What was typed before has been thrown away: the question is about to be put.
    struct termios after = before;
    while (after.c_cc[VQUIT] != _POSIX_VDISABLE || (after.c_lflag & ICANON) == 0) {
      sched_yield();
      if (tcgetattr(0, &after) != 0) return 94;
    }
    tcsetpgrp(0, getsid(0));
    tell(report, 's');
    asking.join();
    if (tcgetpgrp(0) != getsid(0)) return 96;
    if (tcgetattr(0, &after) != 0 || after.c_lflag != before.c_lflag) return 95;
    return kBase + static_cast<int>(got);
  });
  ASSERT_EQ(session.report(), 's');
  ASSERT_TRUE(session.wait_for("[N]o: "));
  session.type("once\n");
  EXPECT_EQ(session.exit_code(), answer(Answer::kNotAsked));
}

TEST(TerminalAsker, AShellThatTakesTheTerminalAtOnceGetsItAsItWas) {
  Session session([](int) {
    alarm(30);
    struct termios before = {}, after = {};
    if (tcgetattr(0, &before) != 0) return 97;
    auto asker =
        TerminalAsker::open({.lock_file = "", .patience = std::chrono::milliseconds(60'000)});
    if (!asker.ok()) return 99;
    Answer got = Answer::kOnce;
    std::thread asking([&] { got = (*asker)->ask(kQuestion); });
    while (!(*asker)->asking() || tcgetpgrp(0) == getpgrp()) sched_yield();
    tcsetpgrp(0, getsid(0));
    asking.join();
    if (tcgetpgrp(0) != getsid(0)) return 96;
    if (tcgetattr(0, &after) != 0 || after.c_lflag != before.c_lflag) return 95;
    return kBase + static_cast<int>(got);
  });
  EXPECT_EQ(session.exit_code(), answer(Answer::kNotAsked));
}

TEST(TerminalAsker, AnotherRunsQuestionIsNotWaitedForForEver) {
  std::string lock = testing::TempDir() + "question.lock.XXXXXX";
  const Fd held(mkostemp(lock.data(), O_CLOEXEC));
  ASSERT_EQ(flock(held.get(), LOCK_EX), 0);
  Session session([&lock](int) {
    alarm(30);
    auto asker =
        TerminalAsker::open({.lock_file = lock, .patience = std::chrono::milliseconds(100)});
    if (!asker.ok()) return 99;
    const Answer got = (*asker)->ask(kQuestion);
    return kBase + static_cast<int>(got);
  });
  EXPECT_EQ(session.exit_code(), answer(Answer::kNotAsked));
  EXPECT_FALSE(session.wait_for("wants to"));
  unlink(lock.c_str());
}

TEST(TerminalAsker, AsksOnlySoOften) {
  Session session([](int) {
    auto asker = TerminalAsker::open(
        {.lock_file = "", .patience = std::chrono::milliseconds(60'000), .most = 2});
    if (!asker.ok()) return 99;
    const bool both =
        (*asker)->ask(kQuestion) == Answer::kOnce && (*asker)->ask(kQuestion) == Answer::kOnce;
    const Answer third = (*asker)->ask(kQuestion);
    return both ? kBase + static_cast<int>(third) : 96;
  });
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(session.wait_for("[N]o: "));
    session.type("once\n");
  }
  EXPECT_EQ(session.exit_code(), answer(Answer::kNotAsked));
}

TEST(TerminalAsker, NeedsATerminal) {
  const pid_t child = fork();
  if (child == 0) {
    setsid();
    _exit(TerminalAsker::open({}).ok() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace bulkhead
