#include "cli/prompt.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/ttydefaults.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <optional>
#include <utility>

#include "base/path.h"
#include "cli/foreground.h"
#include "cli/terminal.h"
#include "sandbox/kernel/process_stat.h"
#include "sandbox/run/job_control.h"
#include "sandbox/run/stillness.h"

namespace bulkhead {
namespace {

constexpr size_t kMostLines = 20;
// A question is put, where somebody moved beside it.
constexpr int kMostTimes = 10;
// Reads of what was typed before: 256 KiB.
constexpr int kMostTyped = 64;
// For the job to stop.
constexpr std::chrono::seconds kStillIn{30};
// How often whoever waits looks around: at the child and its terminal, at another run's question.
constexpr int kLook = 50;  // milliseconds
// A look at all of /proc costs milliseconds.
constexpr unsigned kLooksBetweenPasses = 4;
// Beyond the child's own time: it says by itself that nobody answered, if it can.
constexpr std::chrono::seconds kLastWord{1};
constexpr std::string_view kKeys = "Allow? [once], for this [run], [always], ne[v]er, [N]o: ";
constexpr std::string_view kTooLate = "\nbulkhead: no answer in time: no\n";
constexpr std::string_view kAgain = "  one of once, run, always, never, no, then Enter: ";

std::string_view verb_of(Kind kind) {
  switch (kind) {
    case Kind::kRead:
      return "read";
    case Kind::kWrite:
      return "write";
    case Kind::kReadStatus:
      return "look at";
    case Kind::kWriteStatus:
      return "change the mode, owner or times of";
    case Kind::kConnect:
      return "connect to";
    case Kind::kLookup:
      return "look up the address of";
    case Kind::kRun:
      return "run the program";
    case Kind::kEnvironment:
      return "see the variable";
    case Kind::kVscode:
      return "use, of VS Code,";
    case Kind::kSystem:
      return "use the kernel interface";
  }
  return "use";
}

// What the child reports: the answer's key, or one of these.
constexpr char kInterrupted = 'i';
constexpr char kNothing = '-';
constexpr char kLate = 'l';       // the parent's word: the child has said nothing in time
constexpr char kDisturbed = 'd';  // somebody may have written over the question, or the answer
constexpr char kSuspended = 'z';  // the same: it has stopped, by Ctrl-Z
constexpr char kReady = 'q';      // no answer yet: it has the terminal, with the modes it needs

// By which an answer is read: a line that nothing but Enter ends, with the letters that were typed.
// Of the modes of the run's start no more than the line's speed, the keys, and what neither ends
// lines nor makes letters of others: another program may have set those too.
struct termios modes_of_question(struct termios start, bool may_suspend) {
  start.c_iflag = (start.c_iflag & (IXON | IXOFF | IUTF8 | IMAXBEL)) | ICRNL | BRKINT;
  start.c_oflag = OPOST | ONLCR;
  start.c_lflag = ICANON | ISIG | IEXTEN | ECHO | ECHOE | ECHOK | ECHOCTL | ECHOKE;
  start.c_cc[VINTR] = CINTR;
  start.c_cc[VEOF] = CEOF;
  start.c_cc[VEOL] = start.c_cc[VEOL2] = start.c_cc[VQUIT] = _POSIX_VDISABLE;
  if (start.c_cc[VERASE] == _POSIX_VDISABLE) start.c_cc[VERASE] = CERASE;
  start.c_cc[VSUSP] = may_suspend ? cc_t{CSUSP} : cc_t{_POSIX_VDISABLE};
  return start;
}

bool has_modes(int terminal, const struct termios& modes) {
  struct termios now = {};
  return tcgetattr(terminal, &now) == 0 && now.c_iflag == modes.c_iflag &&
         now.c_oflag == modes.c_oflag && now.c_lflag == modes.c_lflag &&
         std::equal(std::begin(now.c_cc), std::end(now.c_cc), std::begin(modes.c_cc));
}

// True where the terminal is as the child that asks has made it. Otherwise what is read there may
// be lines that nobody typed, the terminal's own replies say, or of what somebody typed only a
// part.
bool is_as_made(int terminal, pid_t child, const struct termios& modes) {
  return tcgetpgrp(terminal) == child && has_modes(terminal, modes);
}

// The pipe of the child, for its signal handler. The child has one thread.
int g_child_report = -1;

void report(char what) { static_cast<void>(!write(g_child_report, &what, 1)); }

// Then waits to be stopped and killed, with the terminal still its own: a Ctrl-C from here on
// stays pending, where the parent finds it once it has the terminal back. A group without
// processes would lose it.
[[noreturn]] void report_and_wait(char what) {
  sigset_t interrupt;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  sigprocmask(SIG_BLOCK, &interrupt, nullptr);
  report(what);
  for (;;) pause();
}

// By which all that was typed before is read, the beginning of a line too.
struct termios modes_of_discarding(struct termios modes) {
  modes.c_lflag &= ~tcflag_t{ICANON};
  modes.c_cc[VMIN] = 1;
  modes.c_cc[VTIME] = 0;
  return modes;
}

// Throws away what was typed before there was a question to answer, by reading it: tcflush(3) would
// also lose a Ctrl-Z that the kernel has taken and not looked at yet. False where it does not end.
bool discard_typed(int terminal, const struct termios& modes) {
  const struct termios reading = modes_of_discarding(modes);
  if (tcsetattr(terminal, TCSANOW, &reading) != 0) return false;
  std::array<char, 4096> typed;
  for (int reads = 0; reads < kMostTyped; ++reads)
    if (read(terminal, typed.data(), typed.size()) <= 0) return true;
  return false;
}

// The prompting child. Only async-signal-safe calls: its parent has threads.
[[noreturn]] void prompt_child(int terminal, int reports, pid_t supervisor, std::string_view text,
                               const struct termios& modes, int patience_ms) {
  // It must not outlive the supervisor, or it would keep the terminal.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != supervisor) _exit(1);
  g_child_report = reports;
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  for (int signal :
       {SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGTTIN, SIGCHLD, SIGPIPE, SIGUSR1, SIGUSR2})
    sigaction(signal, &action, nullptr);
  action.sa_handler = SIG_IGN;
  sigaction(SIGTTOU, &action, nullptr);
  action.sa_handler = [](int) { report_and_wait(kInterrupted); };
  sigaction(SIGINT, &action, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);

  if (setpgid(0, 0) != 0 || tcsetpgrp(terminal, getpid()) != 0 || !discard_typed(terminal, modes) ||
      tcsetattr(terminal, TCSANOW, &modes) != 0)
    report_and_wait(kNothing);
  report(kReady);

  struct timespec start = {};
  clock_gettime(CLOCK_MONOTONIC, &start);
  const auto left = [&] {
    struct timespec now = {};
    clock_gettime(CLOCK_MONOTONIC, &now);
    const int64_t passed =
        int64_t{now.tv_sec - start.tv_sec} * 1000 + (now.tv_nsec - start.tv_nsec) / 1'000'000;
    return static_cast<int>(std::max<int64_t>(0, patience_ms - passed));
  };
  const auto say = [&](std::string_view what) {
    while (!what.empty()) {
      const ssize_t n = write(terminal, what.data(), what.size());
      if (n > 0) what.remove_prefix(static_cast<size_t>(n));
      if (n > 0 || (n < 0 && errno == EINTR)) continue;
      // A program may hold the terminal's output (TCOOFF), so that nobody sees what is asked.
      if (n == 0 || errno != EAGAIN || left() == 0) report_and_wait(kNothing);
      tcflow(terminal, TCOON);
      struct pollfd room = {.fd = terminal, .events = POLLOUT, .revents = 0};
      poll(&room, 1, std::min(left(), 50));
    }
  };
  say(text);
  say(kKeys);
  // A line in pieces is no answer: longer than any word, or ended without Enter (Ctrl-D).
  bool in_pieces = false;
  for (int tries = 0; tries < 3;) {
    struct pollfd waiting = {.fd = terminal, .events = POLLIN, .revents = 0};
    const int ready = poll(&waiting, 1, left());
    if (ready == 0) {
      say(kTooLate);
      report_and_wait(kNothing);
    }
    std::array<char, 256> bytes = {};
    const ssize_t n = ready < 0 ? -1 : read(terminal, bytes.data(), bytes.size());
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) {  // end of file (Ctrl-D) or hang-up
      say("\n");
      report_and_wait(kNothing);
    }
    if (!is_as_made(terminal, getpid(), modes)) report_and_wait(kDisturbed);
    const std::string_view line(bytes.data(), static_cast<size_t>(n));
    const bool ends = line.back() == '\n';
    // parse_answer does not allocate.
    const auto answer = ends && !in_pieces ? parse_answer(line) : std::nullopt;
    in_pieces = !ends;
    if (!ends) continue;
    if (answer) {
      constexpr std::array<char, 5> kReports = {'n', 'o', 'r', 'a', 'v'};
      report_and_wait(kReports[static_cast<size_t>(*answer)]);
    }
    say(kAgain);
    ++tries;
  }
  report_and_wait(kNothing);
}

Answer answer_of(char report) {
  switch (report) {
    case 'n':
      return Answer::kNo;
    case 'o':
      return Answer::kOnce;
    case 'r':
      return Answer::kThisRun;
    case 'a':
      return Answer::kAlways;
    case 'v':
      return Answer::kNever;
    default:
      return Answer::kNobody;
  }
}

// Ignores the signals by which a terminal stops background processes, in this process: between the
// child's taking the foreground and our taking it back, we are such a process.
class TerminalStopsIgnored {
 public:
  TerminalStopsIgnored() {
    struct sigaction ignore = {};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGTTIN, &ignore, &in_);
    sigaction(SIGTTOU, &ignore, &out_);
  }
  ~TerminalStopsIgnored() {
    sigaction(SIGTTIN, &in_, nullptr);
    sigaction(SIGTTOU, &out_, nullptr);
  }
  TerminalStopsIgnored(const TerminalStopsIgnored&) = delete;
  TerminalStopsIgnored& operator=(const TerminalStopsIgnored&) = delete;

 private:
  struct sigaction in_ = {}, out_ = {};
};

// True where nobody but us decides who has the terminal: a shell that took it wants it.
bool may_take(pid_t foreground) { return is_ours(foreground) || is_empty_group(foreground); }

// The signal by which a child of ours has stopped; 0 where it has not. Leaves that to be seen
// again.
int stop_signal(pid_t child) {
  siginfo_t stopped = {};
  const bool seen =
      waitid(P_PID, static_cast<id_t>(child), &stopped, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
      stopped.si_pid == child;
  return seen ? stopped.si_status : 0;
}

// True where the signal waits for this process to unblock it, or to go on.
bool is_pending(pid_t pid, int signal) {
  return has_signal(folder_of(pid), {"SigPnd", "ShdPnd"}, signal);
}

bool is_hung_up(int terminal) {
  struct pollfd look = {.fd = terminal, .events = 0, .revents = 0};
  return poll(&look, 1, 0) == 1 && (look.revents & POLLHUP) != 0;
}

// As it was before the question. A shell that took the terminal meanwhile keeps it, and its modes
// where it has set any. True where the terminal is our job's.
bool give_back_terminal(int terminal, pid_t child, pid_t foreground, const struct termios& before,
                        const struct termios& modes) {
  const pid_t now = tcgetpgrp(terminal);
  if (now > 0 && now != child && !may_take(now)) {
    if (has_modes(terminal, modes) || has_modes(terminal, modes_of_discarding(modes)))
      tcsetattr(terminal, TCSANOW, &before);
    return false;
  }
  // What was typed beyond the answer was meant for the question, not for the program.
  tcsetattr(terminal, TCSAFLUSH, &before);
  if (tcsetpgrp(terminal, foreground) != 0) tcsetpgrp(terminal, getpgrp());
  return true;
}

// True where a Ctrl-Z went to our own group since the last look: the supervisor's is held back. So
// it is before the child has the terminal, and while it is asked anew.
bool take_stop() {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  const struct timespec now = {};
  return sigtimedwait(&stop, nullptr, &now) == SIGTSTP;
}

}  // namespace

std::string question_text(const Question& question, size_t width) {
  width = std::clamp<size_t>(width == 0 ? 80 : width, 20, 200);
  std::string who = escape_for_display(question.program.empty() ? "a program" : question.program);
  if (!question.subject.empty() && question.subject != question.program)
    who += " (" + escape_for_display(question.subject) + ")";
  std::string head = "bulkhead: " + who + " wants to " + std::string(verb_of(question.kind));

  std::string out = "\n";
  const auto add = [&out](const std::vector<std::string>& lines, std::string_view indent) {
    for (size_t i = 0; i < lines.size(); ++i) {
      if (lines.size() > kMostLines && i >= kMostLines / 2 && i < lines.size() - kMostLines / 2) {
        if (i == kMostLines / 2)
          out.append(indent)
              .append("… (")
              .append(std::to_string(lines.size() - kMostLines))
              .append(" lines left out) …\n");
        continue;
      }
      out.append(indent).append(lines[i]).append("\n");
    }
  };
  add(wrap(head, width), "");
  add(wrap(escape_for_display(question.resource), width - 2), "  ");
  return out;
}

std::optional<Answer> parse_answer(std::string_view line) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  while (!line.empty() && blank(line.front())) line.remove_prefix(1);
  while (!line.empty() && blank(line.back())) line.remove_suffix(1);
  struct Word {
    std::string_view text;
    Answer answer;
  };
  // What allows is a whole word, and the end of nothing that denies: who has left the session can
  // read the terminal still (setsid(2)), the first letter of "no" alone, and a terminal's replies
  // end in letters.
  static constexpr std::array kWords = {
      Word{"", Answer::kNo},       Word{"n", Answer::kNo},        Word{"no", Answer::kNo},
      Word{"once", Answer::kOnce}, Word{"run", Answer::kThisRun}, Word{"always", Answer::kAlways},
      Word{"v", Answer::kNever},   Word{"never", Answer::kNever},
  };
  const auto same = [line](std::string_view word) {
    return std::equal(line.begin(), line.end(), word.begin(), word.end(), [](char a, char b) {
      return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + ('a' - 'A')) : a) == b;
    });
  };
  for (const Word& word : kWords)
    if (same(word.text)) return word.answer;
  return std::nullopt;
}

Result<std::unique_ptr<TerminalAsker>> TerminalAsker::open(Options options) {
  // Not to wait for a program that holds the terminal's output. The flag is
  // this descriptor's alone.
  Fd terminal(::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
  if (!terminal) return errno_error("open /dev/tty to ask on");
  const std::optional<TerminalKeys> keys = TerminalKeys::of(terminal.get());
  if (!keys) return errno_error("read the modes of /dev/tty");
  std::array<int, 2> ends = {-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return errno_error("make a pipe");
  return std::unique_ptr<TerminalAsker>(
      new TerminalAsker(std::move(options), std::move(terminal), *keys, Fd(ends[0]), Fd(ends[1])));
}

TerminalAsker::TerminalAsker(Options options, Fd terminal, TerminalKeys keys, Fd wake_read,
                             Fd wake_write)
    : options_(std::move(options)),
      terminal_(std::move(terminal)),
      keys_(keys),
      wake_read_(std::move(wake_read)),
      wake_write_(std::move(wake_write)) {}

TerminalAsker::~TerminalAsker() = default;

void TerminalAsker::cancel() noexcept {
  cancelled_ = true;
  static_cast<void>(!write(wake_write_.get(), "x", 1));
  if (options_.suspension != nullptr) options_.suspension->end();
}

Answer TerminalAsker::ask(const Question& question) {
  const std::lock_guard lock(one_at_a_time_);
  asking_ = true;
  const std::optional<Answer> answer = cancelled_ ? std::nullopt : ask_in_turn(question);
  asking_ = false;
  return answer.value_or(cancelled_ ? Answer::kNobody : Answer::kNotAsked);
}

// nullopt: it was not asked.
std::optional<Answer> TerminalAsker::ask_in_turn(const Question& question) {
  if (asked_ >= options_.most) return std::nullopt;
  bool counted = false;
  (void)take_stop();  // the program's own
  for (int times = 0; times < kMostTimes;) {
    std::optional<Fd> turn = wait_for_turn();
    if (!turn) return std::nullopt;
    const pid_t foreground = tcgetpgrp(terminal_.get());
    if (foreground <= 0 || !is_ours(foreground)) return std::nullopt;
    if (!std::exchange(counted, true)) ++asked_;
    Stillness still([foreground] { return processes_of_job(foreground); });
    if (!still.reach(kStillIn, cancelled_)) return std::nullopt;
    char what = kSuspended;
    if (options_.suspension == nullptr || foreground != getpgrp() || !take_stop()) {
      // Meanwhile a key may have stopped those who started us, and the terminal is the shell's.
      if (tcgetpgrp(terminal_.get()) != foreground) return std::nullopt;
      what = ask_by_child(question, foreground, still);
    }
    if (what == kSuspended) {
      turn.reset();
      keys_.restore(terminal_.get());  // whoever reads next is not the program
      options_.suspension->stop(foreground);
    } else if (what == kDisturbed) {
      ++times;
    } else {
      return answer_of(what);
    }
  }
  return std::nullopt;
}

// Other runs on this terminal: two questions at once would share the keyboard. nullopt where
// another run's question stayed open, or this one is cancelled. Nothing is said here: it would
// stand in the middle of that question.
std::optional<Fd> TerminalAsker::wait_for_turn() const {
  Fd lock;
  if (options_.lock_file.empty()) return lock;
  lock.reset(::open(options_.lock_file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  const auto until = std::chrono::steady_clock::now() + options_.patience;
  while (lock && flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) break;  // a file system without locks
    struct pollfd wake = {.fd = wake_read_.get(), .events = POLLIN, .revents = 0};
    if (poll(&wake, 1, kLook) > 0 || std::chrono::steady_clock::now() >= until) return std::nullopt;
  }
  return lock;
}

// What the child reports next; kNothing where it ended, or the question is cancelled; kDisturbed
// where somebody moved before, or took the terminal or set its modes. A child that is stopped
// watches no clock: so this does.
char TerminalAsker::next_report(int reports, pid_t child, const struct termios& modes,
                                Stillness& still) const {
  const auto until = std::chrono::steady_clock::now() + options_.patience + kLastWord;
  bool ready_to_read = false;
  const auto is_disturbed = [&] {
    return ready_to_read && !is_as_made(terminal_.get(), child, modes);
  };
  for (unsigned looks = 1;; ++looks) {
    std::array<struct pollfd, 2> waiting = {{
        {.fd = reports, .events = POLLIN, .revents = 0},
        {.fd = wake_read_.get(), .events = POLLIN, .revents = 0},
    }};
    const int ready = poll(waiting.data(), waiting.size(), kLook);
    if (ready < 0 && errno != EINTR) return kNothing;
    if (ready > 0) {
      char what = kNothing;
      if (waiting[0].revents == 0 || read(reports, &what, 1) != 1) return kNothing;
      if (what == kReady) {
        ready_to_read = true;
        continue;
      }
      return what == kInterrupted || (still.holds(child) && !is_disturbed()) ? what : kDisturbed;
    }
    if (std::chrono::steady_clock::now() >= until) return kLate;
    const int stopped = stop_signal(child);
    if (stopped == SIGTSTP || (modes.c_cc[VSUSP] != _POSIX_VDISABLE && take_stop()))
      return kSuspended;
    if (stopped != 0 || is_disturbed()) return kDisturbed;
    if (looks % kLooksBetweenPasses == 0 && !still.holds(child)) return kDisturbed;
  }
}

// What next_report() tells.
char TerminalAsker::ask_by_child(const Question& question, pid_t foreground, Stillness& still) {
  std::array<int, 2> ends = {-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return kNothing;
  Fd reports(ends[0]), report(ends[1]);

  struct termios before = {};
  if (tcgetattr(terminal_.get(), &before) != 0) return kNothing;
  const bool may_suspend =
      options_.suspension != nullptr && foreground == getpgrp() && !is_orphaned(foreground);
  const struct termios modes = modes_of_question(keys_.start(), may_suspend);
  const std::string text =
      plain_screen() + question_text(question, terminal_width(terminal_.get()));
  const pid_t supervisor = getpid();

  char what = kNothing;
  bool interrupted = false;
  {
    const TerminalStopsIgnored ignored;
    const pid_t child = fork();
    if (child == 0) {
      prompt_child(terminal_.get(), report.get(), supervisor, text, modes,
                   static_cast<int>(options_.patience.count()));
    }
    report.reset();
    if (child > 0) {
      what = next_report(reports.get(), child, modes, still);
      interrupted = what == kInterrupted;
      // After cancel() it may still be about to take the terminal. Stopped it cannot take it from
      // us again, and a Ctrl-C stays pending in it, which a dead one would lose.
      kill(child, SIGSTOP);
      siginfo_t stopped = {};
      while (waitid(P_PID, static_cast<id_t>(child), &stopped, WSTOPPED | WEXITED | WNOWAIT) < 0 &&
             errno == EINTR) {
      }
    }
    const bool ours = give_back_terminal(terminal_.get(), child, foreground, before, modes);
    if (what == kLate && ours)
      static_cast<void>(!write(terminal_.get(), kTooLate.data(), kTooLate.size()));
    if (child > 0) {
      if (is_pending(child, SIGINT)) interrupted = true;
      if (what == kDisturbed && (stop_signal(child) == SIGTSTP || is_pending(child, SIGTSTP)))
        what = kSuspended;
      kill(child, SIGKILL);
      // Somebody else may have reaped it: ECHILD is as good.
      while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
  }
  if (cancelled_) what = kNothing;
  if (interrupted) what = kInterrupted;
  if (interrupted || cancelled_ || what == kSuspended)
    static_cast<void>(!write(terminal_.get(), "\n", 1));
  // As the key and the kernel would have done without us, to the group in the foreground.
  if (interrupted) kill(-foreground, SIGINT);
  if (is_hung_up(terminal_.get())) kill(-foreground, SIGHUP);
  return what;
}

}  // namespace bulkhead
