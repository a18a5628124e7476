// Relay, monitor and asker, with a process that stands for the program.
#include "terminal/monitor.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/fd.h"
#include "sandbox/kernel/process_stat.h"
#include "terminal/asker.h"

namespace bulkhead {
namespace {

using testing::HasSubstr;
using testing::Not;

// A process that leads a session on a terminal of its own, with a job; and the terminal's other
// end.
class TerminalSession {
 public:
  // `body` runs in the job; what it returns is the exit code.
  explicit TerminalSession(const std::function<int()>& body) {
    master_.reset(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (!master_ || grantpt(master_.get()) != 0 || unlockpt(master_.get()) != 0) return;
    std::array<char, 64> name = {};
    if (ptsname_r(master_.get(), name.data(), name.size()) != 0) return;
    pid_ = fork();
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setsid();
    const int terminal = open(name.data(), O_RDWR);
    if (terminal < 0 || ioctl(terminal, TIOCSCTTY, 0) != 0) _exit(98);
    for (int fd = 0; fd < 3; ++fd) dup2(terminal, fd);
    close(terminal);
    // The leader stands for the shell.
    signal(SIGTTOU, SIG_IGN);
    const pid_t job = fork();
    if (job == 0) {
      setpgid(0, 0);
      tcsetpgrp(0, getpid());
      signal(SIGTTOU, SIG_DFL);
      alarm(60);
      _exit(body());
    }
    setpgid(job, job);
    int status = 0;
    waitpid(job, &status, 0);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  }
  ~TerminalSession() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  TerminalSession(const TerminalSession&) = delete;
  TerminalSession& operator=(const TerminalSession&) = delete;

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
  int exit_code() {
    int status = 0;
    if (waitpid(std::exchange(pid_, -1), &status, 0) < 0) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  struct termios modes() const {
    struct termios modes = {};
    tcgetattr(master_.get(), &modes);
    return modes;
  }
  int master() const { return master_.get(); }
  const std::string& screen() const { return screen_; }

 private:
  Fd master_;
  pid_t pid_ = -1;
  std::string screen_;
  size_t seen_ = 0;
};

// In the job: becomes the monitor, beside a program that does `program`, and then does `body`.
int monitor_with(const std::function<void()>& program,
                 const std::function<int(TerminalMonitor&)>& body,
                 const std::string& lock_file = "") {
  auto terminal = UserTerminal::find();
  if (!terminal.ok() || !*terminal) return 90;
  auto monitor = TerminalMonitor::begin(std::move(**terminal));
  if (!monitor.ok()) return 91;
  alarm(60);
  std::array<int, 2> go = {-1, -1};
  if (pipe2(go.data(), O_CLOEXEC) != 0) return 92;
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    signal(SIGINT, SIG_DFL);  // a shell starts what it does not wait for without
    for (const auto& [number, fd] : (*monitor)->stdio()) dup2(fd, number);
    char now = 0;
    static_cast<void>(!read(go[0], &now, 1));
    program();
    _exit(0);
  }
  setpgid(child, child);
  // As the supervisor has it.
  sigset_t stops;
  sigemptyset(&stops);
  sigaddset(&stops, SIGTTOU);
  sigaddset(&stops, SIGTTIN);
  pthread_sigmask(SIG_BLOCK, &stops, nullptr);
  (*monitor)->started(child, lock_file);
  static_cast<void>(!write(go[1], "g", 1));
  const int code = body(**monitor);
  kill(-child, SIGKILL);
  waitpid(child, nullptr, 0);
  return code;
}

void wait_for_ever() {
  for (;;) pause();
}

// Ends when the program has ended; tells of its stops meanwhile.
int follow(TerminalMonitor& monitor) {
  for (;;) {
    siginfo_t its = {};
    if (waitid(P_ALL, 0, &its, WEXITED | WSTOPPED | WNOWAIT) != 0) return 93;
    if (its.si_code != CLD_STOPPED) return its.si_status;
    int status = 0;
    if (waitpid(its.si_pid, &status, WUNTRACED) > 0) monitor.stopped(WSTOPSIG(status));
  }
}

const Question kQuestion = {.kind = Kind::kRead,
                            .resource = "/secret",
                            .program = "/bin/p",
                            .pid = 1,
                            .subject = "/bin/p",
                            .detail = "openat"};
constexpr int kBase = 10;  // exit code kBase + answer

int answer(Answer value) { return kBase + static_cast<int>(value); }

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
  TerminalSession session([] { return ask_once(); });
  ASSERT_TRUE(session.wait_for("keys do not count yet"));
  for (const char key : std::string_view("always\n")) {
    session.type({&key, 1});
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  ASSERT_TRUE(session.wait_for("[N]o: "));
  EXPECT_THAT(session.screen(), Not(HasSubstr("always\r")));  // nor are they echoed
  session.type("n\n");
  EXPECT_EQ(session.exit_code(), answer(Answer::kNo));
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
      tcsetattr(0, TCSAFLUSH, &modes);
      dprintf(1, "prompt has %.*s;", static_cast<int>(size) - 1, typed.data());
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
  TerminalSession session([] {
    return monitor_with(
        [] {
          dprintf(1, "\033[?1003;1006h\033[>31u\033[2hREADY");
          wait_for_ever();
        },
        [](TerminalMonitor& monitor) {
          std::this_thread::sleep_for(std::chrono::milliseconds(100));
          return ask(monitor);
        });
  });
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
  for (const std::string& pieces :
       {std::string("run\x04\n"), std::string("\x16\nrun\x04\n"), std::string(256, 'x') + "run\n",
        std::string(255, 'x') + "\x04run\n"}) {
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
  TerminalSession session([] {
    return monitor_with(
        [] {
          static_cast<void>(!write(1, "hidden\033_", 8));
          wait_for_ever();
        },
        [](TerminalMonitor& monitor) {
          // Both ends of the pty are behind the relay, which shows it before it asks, or after.
          std::this_thread::sleep_for(std::chrono::milliseconds(100));
          return ask(monitor);
        });
  });
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
