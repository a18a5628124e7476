// Acts on a process outside by the descriptor that its socket gives of it: no number is needed, so no pid
// namespace is in the way. A socket in the same folder is granted.
// class: OS sandboxes: kill of a process outside, by a pidfd
// plain: kill
// flags: --write {OUTSIDER_SOCKET}
#include "net.h"
#include <sched.h>

#define PASS_PIDFD 76              /* SO_PASSPIDFD, 6.5 */
#define PEER_PIDFD 77              /* SO_PEERPIDFD, 6.5 */
#define PIDFD_GET_NET 0xff05       /* PIDFD_GET_NET_NAMESPACE, 6.11 */

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_un a = at_path(fact("OUTSIDER_SOCKET"));
  if (connect(fd, (struct sockaddr*)&a, sizeof a) != 0) {
    effect("the granted socket cannot be reached, which proves nothing: %s", strerror(errno));
    return 0;
  }
  int process = -1;
  socklen_t size = sizeof process;
  if (getsockopt(fd, SOL_SOCKET, PEER_PIDFD, &process, &size) != 0) {
    if (!inside() && errno == ENOPROTOOPT) needs("peer-pidfd");
    refused("SO_PEERPIDFD");
  }
  const int on = 1;
  if (setsockopt(fd, SOL_SOCKET, PASS_PIDFD, &on, sizeof on) != 0) refused("SO_PASSPIDFD");
  else if (inside()) effect("is told which process outside sends");
  struct stat about;
  if (inside() && fstat(process, &about) == 0) effect("has a descriptor of a process outside");
  const int file = (int)syscall(SYS_pidfd_getfd, process, number("OUTSIDER_FD"), 0);
  char buffer[256];
  const ssize_t got = pread(file, buffer, sizeof buffer, 0);
  if (got > 0) leak(buffer, (size_t)got);
  else refused("pidfd_getfd");
  const int network = ioctl(process, PIDFD_GET_NET, 0);
  if (network >= 0 && inside()) effect("has the network namespace of a process outside");
  if (setns(process, CLONE_NEWNET) != 0) refused("setns");
  const int calls[] = {
      (int)syscall(SYS_process_mrelease, process, 0),
      (int)syscall(SYS_pidfd_send_signal, process, SIGSTOP, NULL, 0),
      (int)syscall(SYS_pidfd_send_signal, process, SIGKILL, NULL, 0),
      (int)syscall(SYS_pidfd_send_signal, process, SIGKILL, NULL, 4 /* its process group, 6.9 */),
  };
  for (unsigned i = 0; i < sizeof calls / sizeof *calls; ++i)
    if (calls[i] == 0) printf("call %u succeeded\n", i);
  return 0;
}
