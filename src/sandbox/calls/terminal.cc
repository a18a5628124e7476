// ioctl(fd, TCSETS…), as tcsetattr(3) calls it, tcflush(3), tcflow(3), TIOCEXCL, tcsetpgrp(3): a
// terminal's modes, what is typed there, its output and its foreground are for who has that.
//
// The kernel stops others by SIGTTOU (not at TIOCEXCL), but lets those go on who block that signal
// or have left the session. So a program in the background could have another run's question read
// by a line that it did not end, or by keys that make "no" of "always"; throw away the "n" of a
// "no", which leaves "o", once; leave the terminal without output, or closed to who opens it; and
// take it from the shell, to be typed into in its place.
//
// What this does not stop: modes of a terminal that is not the supervisor's own, by a run that was
// started on one or whose descriptors are another.
#include <fmt/core.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "sandbox/caller/pool.h"
#include "sandbox/caller/walker.h"
#include "sandbox/calls/call.h"
#include "sandbox/kernel/process_stat.h"
#include "sandbox/kernel/processes.h"

namespace bulkhead {
namespace {

constexpr int kRestart = 512;  // ERESTARTSYS: the call is made anew once the caller goes on

// Bytes of what the command reads at its argument, 0 where that is a number; nullopt: another
// command. The structures are the kernel's own, which libc's headers do not have side by side with
// its own.
std::optional<size_t> size_of_argument(uint32_t command) {
  switch (command) {
    case TCSETS:
    case TCSETSW:
    case TCSETSF:
      return 36;
    case TCSETA:
    case TCSETAW:
    case TCSETAF:
      return 18;
    case 0x402c542b:  // TCSETS2, TCSETSW2, TCSETSF2
    case 0x402c542c:
    case 0x402c542d:
      return 44;
    case TCXONC:
    case TCFLSH:
    case TIOCEXCL:
      return 0;
    default:
      return std::nullopt;
  }
}

// True for the controlling terminal of this process. Of the other end of one, which a program has
// that made it, the kernel would tell the foreground too.
bool is_own_terminal(int fd) {
  int number = 0;
  return ::tcgetpgrp(fd) >= 0 && ::ioctl(fd, TIOCGPTN, &number) != 0;
}

// True where a group of the compartment has the caller's terminal, if only until a moment ago: a
// shell's job that has ended. Others have no number there.
bool has_foreground(const Call& call) {
  const Service& service = call.service();
  const auto status = service.processes.status(call.tid());
  const auto seen = status ? stat_of(fmt::format("/proc/self/fd/{}{}", service.walker.root(),
                                                 folder_of(status->inner_process)))
                           : std::nullopt;
  return seen && seen->foreground > 0;
}

// As the kernel answers who has not got the terminal, but for those whom it would let.
Reply refuse_in_background(Call& call, pid_t group) {
  if (has_signal(folder_of(call.tid()), {"SigBlk", "SigIgn"}, SIGTTOU)) {
    call.note_refusal(Kind::kSystem, "ioctl", "the terminal is another program's");
    return Reply::error(EIO);
  }
  if (is_orphaned(group)) return Reply::error(EIO);
  if (call.still_valid()) ::kill(-group, SIGTTOU);
  return Reply::error(kRestart);
}

}  // namespace

Reply serve_ioctl(Call& call) {
  const uint32_t command = call.flags_arg(1);
  if (command == FIOASYNC) return serve_async(call);
  const auto size = size_of_argument(command);
  if (!size && command != TIOCSPGRP) return serve_refusal(call);
  const auto own = stat_of("/proc/self");
  const auto caller = stat_of(folder_of(call.tid()));
  if (!own || !caller) return Reply::error(EIO);
  // Our terminal is this run's, or there is none: any may be set, and the kernel decides.
  if (own->foreground < 0 || own->foreground == own->group || own->foreground == caller->group)
    return Reply::go_on();
  // Of another session's the kernel lets nobody have ours.
  const bool takes = command == TIOCSPGRP;
  if (takes && (caller->session != own->session || has_foreground(call))) return Reply::go_on();
  // Somebody else's. Set here, since another thread could make the descriptor mean that one.
  if (!call.may_block()) return Reply::later();
  const auto terminal = call.service().processes.borrow(call.tid(), call.fd_arg(0));
  std::array<char, 64> modes{};
  if (!terminal.ok()) return Reply::error(terminal.error().errno_value);
  if (::isatty(terminal->get()) == 0) return Reply::error(errno);
  if (is_own_terminal(terminal->get())) return refuse_in_background(call, caller->group);
  if (takes) return Reply::error(ENOTTY);
  uint64_t argument = call.arg(2);
  if (size && *size > 0) {
    if (!call.memory().read(argument, modes.data(), *size).ok()) return Reply::error(EFAULT);
    argument = reinterpret_cast<uint64_t>(modes.data());
  }
  if (!call.still_valid()) return Reply::error(ESRCH);
  const Waiting waiting;
  return ::ioctl(terminal->get(), command, argument) == 0 ? Reply::value(0) : Reply::error(errno);
}

}  // namespace bulkhead
