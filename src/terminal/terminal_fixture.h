// TerminalSession: a person's terminal for tests, and a monitor beside a process that stands for
// the program.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/fd.h"
#include "terminal/monitor.h"

namespace bulkhead {

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
inline int monitor_with(const std::function<void()>& program,
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

inline void wait_for_ever() {
  for (;;) pause();
}

// Ends when the program has ended; tells of its stops meanwhile.
inline int follow(TerminalMonitor& monitor) {
  for (;;) {
    siginfo_t its = {};
    if (waitid(P_ALL, 0, &its, WEXITED | WSTOPPED | WNOWAIT) != 0) return 93;
    if (its.si_code != CLD_STOPPED) return its.si_status;
    int status = 0;
    if (waitpid(its.si_pid, &status, WUNTRACED) > 0) monitor.stopped(WSTOPSIG(status));
  }
}

}  // namespace bulkhead
