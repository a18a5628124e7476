// Changes mode, owner, times, extended attributes and flags of a file granted only for reading, which
// Landlock does not look at: by path, by descriptor, by no path at all.
// class: Node: operations on descriptors (fchmod, futimes); kernel: Landlock ignores chmod, utimensat, setxattr
// plain: change
// flags: --read {RO}
// journal: write-status {RO}/file.txt
#include "attack.h"
#include <sys/time.h>
#include <sys/xattr.h>
#include <utime.h>

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const char* path = text("%s/file.txt", fact("RO"));
  const int fd = open(path, O_RDONLY), path_only = open(path, O_PATH);
  const char* by_proc = text("/proc/self/fd/%d", fd);
  if (symlink(path, "soft") != 0) refused("symlink");
  struct timespec times[2] = {{1, 0}, {2, 0}};
  struct timeval old_times[2] = {{3, 0}, {4, 0}};
  struct utimbuf oldest = {5, 6};
#define TRY(call) do { if ((call) != 0) refused(#call); } while (0)
  TRY(chmod(path, 0777));
  TRY(fchmod(fd, 0777));
  TRY(fchmodat(AT_FDCWD, path, 0777, 0));
  TRY(syscall(452 /* fchmodat2 */, path_only, "", 0777, AT_EMPTY_PATH));
  TRY(syscall(452 /* fchmodat2 */, AT_FDCWD, "soft", 0777, 0));
  TRY(chmod(by_proc, 0777));
  TRY(chmod("soft", 0777));
  TRY(chown(path, getuid(), getgid()));
  TRY(lchown(path, getuid(), getgid()));
  TRY(fchown(fd, getuid(), getgid()));
  TRY(fchownat(path_only, "", getuid(), getgid(), AT_EMPTY_PATH));
  TRY(utimensat(AT_FDCWD, path, times, 0));
  TRY(futimens(fd, times));
  TRY(utimensat(path_only, "", times, AT_EMPTY_PATH));
  TRY(utimensat(AT_FDCWD, by_proc, times, 0));
  TRY(syscall(SYS_utimensat, fd, NULL, times, 0));
  TRY(syscall(SYS_utimes, path, old_times));
  TRY(syscall(SYS_futimesat, AT_FDCWD, path, old_times));
  TRY(syscall(SYS_futimesat, fd, NULL, old_times));
  TRY(syscall(SYS_utime, path, &oldest));
  TRY(setxattr(path, "user.attack", "1", 1, 0));
  TRY(lsetxattr(path, "user.attack", "2", 1, 0));
  TRY(fsetxattr(fd, "user.attack", "3", 1, 0));
  TRY(setxattr(by_proc, "user.attack", "4", 1, 0));
  struct { uint64_t value; uint32_t size, flags; } at_arguments = {(uintptr_t)"5", 1, 0};
  TRY(syscall(463 /* setxattrat */, AT_FDCWD, path, 0, "user.attack", &at_arguments, sizeof at_arguments));
  TRY(syscall(463 /* setxattrat */, fd, "", AT_EMPTY_PATH, "user.attack", &at_arguments, sizeof at_arguments));
  long flags = 0x40 /* no dump */;
  TRY(ioctl(fd, 0x40086602 /* FS_IOC_SETFLAGS */, &flags));
  TRY(syscall(SYS_ioctl, (long)fd, 0xdead00000000UL | 0x40086602UL, &flags));
  struct { uint32_t flags, extent, count, project, cow; uint8_t pad[8]; } attributes = {.flags = 0x80 /* no dump */};
  TRY(ioctl(fd, 0x401c5820 /* FS_IOC_FSSETXATTR */, &attributes));
  struct { uint64_t flags; uint32_t extent, count, project, cow; } newer = {.flags = 0x80};
  TRY(syscall(469 /* file_setattr */, AT_FDCWD, path, &newer, sizeof newer, 0));
  TRY(syscall(469 /* file_setattr */, fd, "", &newer, sizeof newer, AT_EMPTY_PATH));
  return 0;
}
