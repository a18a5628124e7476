// A kernel as old as Debian 12's 6.1, as far as bulkhead asks: loaded by LD_PRELOAD into the
// supervisor, and into it alone, it answers as that kernel does where bulkhead looks for what came
// later. What bulkhead then does not ask of the kernel, this one does not enforce either. See
// scripts/older-kernel.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>

enum {
  CREATE_RULESET = 444,
  RULESET_VERSION = 1,
  LANDLOCK_ABI = 2,  // 6.1's: no truncating (6.2), no commands of devices (6.10), no scopes (6.12)
  PIDFD_OPEN = 434,
  PIDFD_THREAD = 0x80,        // 6.9
  SYNC_WAKE_UP = 0x40082104,  // SECCOMP_IOCTL_NOTIF_SET_FLAGS, 6.6
  NAMESPACES = 0xb7,          // type of the ioctls of namespaces
  FIRST_NUMBER = 6,           // NS_GET_PID_FROM_PIDNS and its three kin, 6.11
  LAST_NUMBER = 9,
};

__attribute__((constructor)) static void begin(void) { unsetenv("LD_PRELOAD"); }

long syscall(long number, ...) {
  static long (*plain)(long, ...);
  if (!plain) *(void**)&plain = dlsym(RTLD_NEXT, "syscall");
  long at[6];
  va_list list;
  va_start(list, number);
  for (int i = 0; i < 6; ++i) at[i] = va_arg(list, long);
  va_end(list);
  if (number == PIDFD_OPEN && ((int)at[1] & PIDFD_THREAD)) {
    errno = EINVAL;
    return -1;
  }
  const long answer = plain(number, at[0], at[1], at[2], at[3], at[4], at[5]);
  const int version = number == CREATE_RULESET && at[0] == 0 && (int)at[2] == RULESET_VERSION;
  return version && answer > LANDLOCK_ABI ? LANDLOCK_ABI : answer;
}

int ioctl(int file, unsigned long request, ...) {
  static int (*plain)(int, unsigned long, ...);
  if (!plain) *(void**)&plain = dlsym(RTLD_NEXT, "ioctl");
  va_list list;
  va_start(list, request);
  void* argument = va_arg(list, void*);
  va_end(list);
  const unsigned asked = (unsigned)request, type = asked >> 8 & 0xff, number = asked & 0xff;
  if (type == NAMESPACES && number >= FIRST_NUMBER && number <= LAST_NUMBER) {
    errno = ENOTTY;
    return -1;
  }
  if (asked == SYNC_WAKE_UP) {
    errno = EINVAL;
    return -1;
  }
  return plain(file, request, argument);
}
