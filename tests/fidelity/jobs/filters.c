// Filters that a program installs for itself hold, beside the compartment's, for it and its
// children; and programs start by descriptor.
// modes: root-granted root-served user-granted user-served
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void start(const char* program, int flags, const char* word) {
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const int fd = open(program, flags);
    char* const words[] = {"echo", (char*)word, NULL};
    if (fd >= 0) fexecve(fd, words, environ);
    printf("%s: %s\n", word, strerrorname_np(errno));
    fflush(stdout);
    _exit(1);
  }
  int status;
  waitpid(child, &status, 0);
  printf("%s ended with %d\n", word, status);
}

// From here on `number` fails with `error`, for this process and its children.
static void refuse(int number, int error) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
    printf("%s\n", strerrorname_np(errno));
}

static void look(const char* who) {
  const long parent = syscall(SYS_getppid);
  printf("%s: getppid %s, ", who, parent < 0 ? strerrorname_np(errno) : "works");
  const int fd = open("made", O_CREAT | O_WRONLY, 0644);
  printf("open %s\n", fd < 0 ? strerrorname_np(errno) : "works");
  if (fd >= 0) close(fd);
  fflush(stdout);
}

int main(void) {
  start("/bin/echo", O_RDONLY, "by-descriptor");
  start("/bin/echo", O_PATH | O_CLOEXEC, "by-path-descriptor");
  start("/etc/passwd", O_RDONLY, "no-program");
  look("before");
  refuse(SYS_getppid, EPERM);
  look("first");
  refuse(SYS_openat, ENOTTY);
  look("second");
  const pid_t child = fork();
  if (child == 0) {
    look("child");
    _exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  start("/bin/echo", O_RDONLY, "nothing-to-open");
  return 0;
}
