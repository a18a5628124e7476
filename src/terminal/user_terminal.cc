#include "terminal/user_terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/ttydefaults.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <string>
#include <utility>

#include "sandbox/kernel/process_stat.h"
#include "terminal/terminal_guard.h"

namespace bulkhead {
namespace {

constexpr unsigned long kDevice = 0x80045432;  // TIOCGDEV, which libc's headers do not have

// Which terminal it is; nullopt for what is none.
std::optional<unsigned> device_of(int fd) {
  unsigned device = 0;
  if (isatty(fd) == 0 || ioctl(fd, kDevice, &device) != 0) return std::nullopt;
  return device;
}

// A key is a control character that begins nothing of what terminals say by themselves: with "n" as
// the one that erases, who types "no" has typed "o". Anything else is some program's doing.
cc_t key_or(cc_t key, cc_t instead) {
  const bool fit =
      (key < ' ' || key == 0x7f) && key != '\0' && key != '\n' && key != '\r' && key != '\033';
  return fit ? key : instead;
}

// Who asks for a password lets the keys be lines that are not echoed (getpass(3)).
bool hides_lines(const TerminalModes& modes) { return (modes.c_lflag & (ICANON | ECHO)) == ICANON; }

// As another run of the job has them.
bool are_keys(const TerminalModes& modes) { return (modes.c_lflag & (ICANON | ISIG)) == 0; }

// Whether the job has others than this process: the compartment's are in another session.
bool shares_job() {
  const pid_t group = getpgrp();
  for (const pid_t pid : numbers_in("/proc")) {
    if (pid == getpid()) continue;
    if (const auto stat = stat_of(folder_of(pid)); stat && stat->group == group) return true;
  }
  return false;
}

// Another user's, where somebody became this one at it (`su -c`) and has no terminal of their own.
Error cannot_open(int fd) {
  Error error = errno_error("open the terminal that is descriptor " + std::to_string(fd));
  if (error.errno_value == EACCES)
    error.message +=
        ": it is another user's; become this one with a terminal of your own (su --pty, sudo with "
        "use_pty), or redirect input, output and errors";
  return error;
}

bool same(const TerminalModes& a, const TerminalModes& b) {
  return a.c_iflag == b.c_iflag && a.c_oflag == b.c_oflag && a.c_lflag == b.c_lflag &&
         std::equal(std::begin(a.c_cc), std::end(a.c_cc), std::begin(b.c_cc));
}

}  // namespace

bool is_terminal_there() {
  const Fd terminal(open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC));
  return terminal.valid();
}

Result<std::optional<UserTerminal>> UserTerminal::find() {
  UserTerminal self;
  constexpr int kFlags = O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK;
  self.fd_.reset(open("/dev/tty", kFlags));
  self.controls_ = self.fd_.valid();
  for (int fd = 0; fd < 3 && !self.fd_; ++fd) {
    if (isatty(fd) == 0) continue;
    self.fd_.reset(open(("/proc/self/fd/" + std::to_string(fd)).c_str(), kFlags));
    if (!self.fd_) return cannot_open(fd);
  }
  if (!self.fd_) return std::optional<UserTerminal>();
  const auto device = device_of(self.fd_.get());
  for (int fd = 0; fd < 3; ++fd)
    self.is_it_[static_cast<size_t>(fd)] = device && device_of(fd) == device;
  struct stat out = {};
  const bool feeds =
      fstat(STDOUT_FILENO, &out) == 0 && (S_ISFIFO(out.st_mode) || S_ISSOCK(out.st_mode));
  self.offers_keys_ = self.is(STDIN_FILENO) && !feeds;
  const bool here = self.has_foreground();
  if (tcgetattr(self.fd_.get(), &self.start_) != 0) return errno_error("read the terminal's modes");
  self.knows_start_ = here && !are_keys(self.start_);
  return std::optional<UserTerminal>(std::move(self));
}

bool UserTerminal::has_foreground() const {
  return !controls_ || tcgetpgrp(fd_.get()) == getpgrp();
}

bool UserTerminal::is_hung_up() const {
  struct pollfd look = {.fd = fd_.get(), .events = 0, .revents = 0};
  return poll(&look, 1, 0) == 1 && (look.revents & (POLLHUP | POLLERR)) != 0;
}

// Where nobody else is likely to read, lines that are not echoed are the person's own wish.
bool UserTerminal::may_take_keys() const {
  TerminalModes now = {};
  if (!has_foreground() || tcgetattr(fd_.get(), &now) != 0) return false;
  return offers_keys_ || !hides_lines(now);
}

void UserTerminal::see_start(const TerminalModes& now) {
  if (knows_start_ || are_keys(now)) return;
  knows_start_ = true;
  start_ = now;
}

bool UserTerminal::take_keys() {
  TerminalModes modes = {};
  if (!may_take_keys() || tcgetattr(fd_.get(), &modes) != 0) return false;
  see_start(modes);
  // Another run of the job may have the keys, and give them back before we do.
  if (!before_) before_ = are_keys(modes) ? start_ : modes;
  const TerminalModes raw = raw_modes(modes);
  if (tcsetattr(fd_.get(), TCSADRAIN, &raw) != 0) return false;
  guard_terminal(fd_.get(), *before_);
  return true;
}

bool UserTerminal::others_have_keys() const {
  return before_ && !has_modes(raw_modes(*before_)) && has_foreground() && shares_job();
}

bool UserTerminal::others_hide_keys() const {
  TerminalModes now = {};
  return has_foreground() && tcgetattr(fd_.get(), &now) == 0 && hides_lines(now) && shares_job();
}

void UserTerminal::give_back_keys() {
  if (!before_) return;
  give_back(*before_, raw_modes(*before_), TCSADRAIN);
  before_.reset();
  leave_terminal();
}

TerminalModes UserTerminal::raw_modes(const TerminalModes& modes) const {
  TerminalModes raw = modes;
  cfmakeraw(&raw);
  raw.c_cflag = modes.c_cflag;  // a line's own matter
  // Means nothing where there are no lines. Who asks for a password takes it away, by which that
  // shows (others_have_keys()).
  raw.c_lflag |= ECHONL;
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  return raw;
}

// A key stops the whole job, and the shell may have the terminal before we have given it back.
void UserTerminal::give_back(const TerminalModes& before, const TerminalModes& ours,
                             int when) const {
  const bool here = has_foreground();
  if (!here && !has_modes(ours)) return;
  sigset_t stop, mask;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTTOU);
  sigprocmask(SIG_BLOCK, &stop, &mask);
  static_cast<void>(tcsetattr(fd_.get(), here ? when : TCSANOW, &before));
  sigprocmask(SIG_SETMASK, &mask, nullptr);
}

// Of the terminal's modes no more than the line's speed, its flow control, and the key that erases.
TerminalModes UserTerminal::line_modes() const {
  TerminalModes modes = {};
  if (before_)
    modes = *before_;
  else if (tcgetattr(fd_.get(), &modes) != 0)
    return modes;
  const cc_t erase = key_or(modes.c_cc[VERASE], CERASE);
  modes.c_iflag = (modes.c_iflag & (IXON | IXOFF | IUTF8 | IMAXBEL)) | ICRNL | BRKINT;
  modes.c_oflag = OPOST | ONLCR;
  modes.c_lflag = ISIG | IEXTEN | ECHOE | ECHOK | ECHOCTL | ECHOKE;
  if (open_) modes.c_lflag |= ICANON | ECHO;
  std::fill(std::begin(modes.c_cc), std::end(modes.c_cc), cc_t{_POSIX_VDISABLE});
  modes.c_cc[VINTR] = CINTR;
  modes.c_cc[VSUSP] = stops_ ? cc_t{CSUSP} : cc_t{_POSIX_VDISABLE};
  modes.c_cc[VEOF] = CEOF;
  modes.c_cc[VERASE] = erase;
  modes.c_cc[VKILL] = CKILL;
  modes.c_cc[VWERASE] = CWERASE;
  modes.c_cc[VLNEXT] = CLNEXT;
  modes.c_cc[VSTART] = CSTART;
  modes.c_cc[VSTOP] = CSTOP;
  modes.c_cc[VMIN] = 1;
  return modes;
}

bool UserTerminal::shut_line() {
  stops_ = controls_ && !is_orphaned(getpgrp());
  open_ = false;
  TerminalModes modes = {};
  if (tcgetattr(fd_.get(), &modes) == 0) see_start(modes);
  modes = line_modes();
  if (tcsetattr(fd_.get(), TCSANOW, &modes) != 0) return false;
  if (!before_) guard_terminal(fd_.get(), start_);
  return true;
}

bool UserTerminal::open_line() {
  open_ = true;
  const TerminalModes modes = line_modes();
  return tcsetattr(fd_.get(), TCSANOW, &modes) == 0;
}

bool UserTerminal::has_modes(const TerminalModes& ours) const {
  TerminalModes now = {};
  return tcgetattr(fd_.get(), &now) == 0 && same(now, ours);
}

bool UserTerminal::has_line() const { return has_foreground() && has_modes(line_modes()); }

void UserTerminal::give_back_line(const TerminalModes& before) {
  give_back(before, line_modes(), TCSAFLUSH);
  if (!before_) leave_terminal();
}

}  // namespace bulkhead
