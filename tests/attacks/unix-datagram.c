// Sends datagrams to a path outside; sendmsg names it in memory, where no filter can see it.
// class: OS sandboxes: datagram unix sockets (syslog, systemd-notify)
// plain: message
#include "net.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  struct sockaddr_un a = at_path(fact("DGRAM"));
  char* word = (char*)text("message %s", fact("MARK"));
  int pair[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) != 0) refused("socketpair");
  const int fds[] = {socket(AF_UNIX, SOCK_DGRAM, 0), pair[0]};
  for (int i = 0; i < 2; ++i) {
    struct iovec part = {word, strlen(word)};
    struct mmsghdr message = {.msg_hdr = {.msg_name = &a, .msg_namelen = sizeof a, .msg_iov = &part, .msg_iovlen = 1}};
    if (sendto(fds[i], word, strlen(word), 0, (struct sockaddr*)&a, sizeof a) < 0) refused("sendto");
    if (sendmsg(fds[i], &message.msg_hdr, 0) < 0) refused("sendmsg");
    if (sendmmsg(fds[i], &message, 1, 0) < 0) refused("sendmmsg");
    if (connect(fds[i], (struct sockaddr*)&a, sizeof a) != 0 || send(fds[i], word, strlen(word), 0) < 0) refused("connect");
  }
  return 0;
}
