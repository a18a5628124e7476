// Calls the parts of the kernel that no program of a compartment needs, and that broke it before.
// class: OS sandboxes: the kernel's own surface
// plain: say
// journal: system *bpf*
// journal: system *userfaultfd*
// journal: system *perf_event_open*
#include "attack.h"
#include <linux/bpf.h>
#include <linux/perf_event.h>

static char scratch[4096];

static void report(const char* name, long result) {
  // Any answer but these came from the call itself: it was reached.
  if (result >= 0) effect("%s works", name);
  else refused(name);
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  union bpf_attr map = {.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};
  report("bpf", syscall(SYS_bpf, BPF_MAP_CREATE, &map, sizeof map));
  struct perf_event_attr event = {.type = PERF_TYPE_SOFTWARE, .size = sizeof event, .config = PERF_COUNT_SW_TASK_CLOCK, .exclude_kernel = 1};
  report("perf_event_open", syscall(SYS_perf_event_open, &event, 0, -1, -1, 0));
  report("userfaultfd", syscall(SYS_userfaultfd, O_CLOEXEC | 1 /* user mode only */));
  report("io_uring_setup", syscall(SYS_io_uring_setup, 1, scratch));
  report("memfd_secret", -1);
  report("syslog", syscall(SYS_syslog, 3, scratch, 64));
  report("acct", syscall(SYS_acct, NULL) == 0 ? 0 : -1);
  report("quotactl", syscall(SYS_quotactl, 0x800001 << 8, NULL, 0, scratch));
  report("kcmp", syscall(SYS_kcmp, getpid(), inside() ? 1 : getppid(), 0, 0, 1));
  report("sethostname", inside() ? syscall(SYS_sethostname, "attacked", 8) : -1);
  report("swapoff", inside() ? syscall(SYS_swapoff, "/nowhere") : -1);
  report("iopl", syscall(SYS_iopl, 3));
  report("modify_ldt", inside() ? syscall(SYS_modify_ldt, 0, scratch, 64) : -1);
  report("lookup_dcookie", inside() ? syscall(SYS_lookup_dcookie, 1, scratch, 64) : -1);
  return 0;
}
