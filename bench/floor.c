// The least that any supervisor by seccomp notification costs: receives each call that names a path, reads
// the path, says CONTINUE. Decides nothing and protects nothing.
//
//   floor [-l FOLDER]... PROGRAM ARGS...
//
// With -l the kernel judges each open as well, by Landlock, which grants these folders: the least that a
// supervisor with a second wall behind it costs.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, uint64_t)
#endif
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

static void fail(const char* step) {
  perror(step);
  exit(125);
}

static int filter(void) {
  static const int kCalls[] = {__NR_open,   __NR_openat,   __NR_openat2, __NR_readlink, __NR_readlinkat, __NR_execve, __NR_execveat,
                               __NR_rename, __NR_renameat, __NR_unlink,  __NR_unlinkat, __NR_mkdir,      __NR_mkdirat};
  enum { kCount = sizeof kCalls / sizeof *kCalls };
  struct sock_filter code[kCount + 3];
  code[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (int i = 0; i < kCount; ++i)
    code[i + 1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)kCalls[i], (uint8_t)(kCount - i), 0);
  code[kCount + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  code[kCount + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
  struct sock_fprog program = {kCount + 3, code};
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &program);
}

static void pass(int socket, int fd) {
  char space[CMSG_SPACE(sizeof fd)] = {0}, byte = 0;
  struct iovec part = {&byte, 1};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
  struct cmsghdr* control = CMSG_FIRSTHDR(&message);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(sizeof fd);
  memcpy(CMSG_DATA(control), &fd, sizeof fd);
  if (sendmsg(socket, &message, 0) != 1) fail("sendmsg");
}

static int take(int socket) {
  char space[CMSG_SPACE(sizeof(int))], byte;
  struct iovec part = {&byte, 1};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
  if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1 || !CMSG_FIRSTHDR(&message)) exit(125);  // the program has told
  int fd;
  memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
  return fd;
}

// Reads up to 256 bytes by /proc/TID/mem, which is kept open while TID makes the calls. It stays with the
// memory that TID had when it was opened: after an exec nothing is read, and it is opened anew.
static ssize_t read_path(unsigned tid, uint64_t path, char* text) {
  enum { kSlots = 64, kMost = 256 };
  static struct {
    unsigned tid;
    int fd;
  } kept[kSlots];
  const unsigned slot = tid % kSlots;
  const size_t whole = 4096 - path % 4096;  // to the end of the page: the next one may not be there
  const size_t size = whole < kMost ? whole : kMost;
  if (kept[slot].tid == tid) {
    const ssize_t got = pread(kept[slot].fd, text, size, (off_t)path);
    if (got > 0) return got;
  }
  if (kept[slot].tid != 0) close(kept[slot].fd);
  char name[64];
  snprintf(name, sizeof name, "/proc/%u/mem", tid);
  kept[slot].fd = open(name, O_RDONLY | O_CLOEXEC);
  kept[slot].tid = kept[slot].fd < 0 ? 0 : tid;
  return kept[slot].fd < 0 ? -1 : pread(kept[slot].fd, text, size, (off_t)path);
}

static void serve(int listener) {
  static char text[4096];
  for (;;) {
    struct seccomp_notif call;
    memset(&call, 0, sizeof call);
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) {
      if (errno == EINTR || errno == ENOENT) continue;  // ENOENT: the caller was killed meanwhile
      fail("receive");
    }
    const int nr = call.data.nr;
    const int at = nr == __NR_openat || nr == __NR_openat2 || nr == __NR_readlinkat || nr == __NR_execveat || nr == __NR_renameat ||
                   nr == __NR_unlinkat || nr == __NR_mkdirat;
    const uint64_t path = call.data.args[at];
    if (read_path(call.pid, path, text) <= 0) text[0] = '\0';
    struct seccomp_notif_resp answer = {.id = call.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
  }
}

enum { kFileRights = LANDLOCK_ACCESS_FS_MAKE_SYM * 2 - 1 };  // all of Landlock's first version

static void restrict_to(char** folders, int count) {
  const struct landlock_ruleset_attr handled = {.handled_access_fs = kFileRights};
  const int ruleset = (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0);
  if (ruleset < 0) fail("landlock_create_ruleset");
  for (int i = 0; i < count; ++i) {
    const struct landlock_path_beneath_attr rule = {.allowed_access = kFileRights, .parent_fd = open(folders[i], O_PATH | O_CLOEXEC)};
    if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0) fail(folders[i]);
    close(rule.parent_fd);
  }
  if (syscall(SYS_landlock_restrict_self, ruleset, 0) != 0) fail("landlock_restrict_self");
  close(ruleset);
}

static pid_t program;

static void ended(int signal_number) {
  (void)signal_number;
  int status;
  if (waitpid(program, &status, WNOHANG) == program) _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

int main(int argc, char** argv) {
  char** const folders = calloc((size_t)argc, sizeof *folders);
  int granted = 0;
  for (int option; (option = getopt(argc, argv, "+l:")) != -1;)
    if (option == 'l' && folders != NULL) folders[granted++] = optarg;
  argv += optind;
  if (*argv == NULL) {
    fprintf(stderr, "usage: floor [-l FOLDER]... PROGRAM ARGS...\n");
    return 2;
  }
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) fail("socketpair");
  program = fork();
  if (program < 0) fail("fork");
  if (program == 0) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail("no_new_privs");
    const int listener = filter();
    if (listener < 0) fail("seccomp");
    pass(sockets[1], listener);
    close(listener);
    if (granted > 0) restrict_to(folders, granted);
    execvp(argv[0], argv);
    fail(argv[0]);
  }
  close(sockets[1]);
  const int listener = take(sockets[0]);
  // Caller and supervisor on one core; Linux 6.6, and slower without.
  ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, 1);
  struct sigaction action = {.sa_handler = ended};
  sigaction(SIGCHLD, &action, NULL);
  ended(0);
  serve(listener);
}
