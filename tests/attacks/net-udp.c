// Sends a datagram outside: by sendto, connect, sendmsg, sendmmsg.
// class: OS sandboxes: UDP, which Landlock does not cover
// plain: message
#include "net.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  struct sockaddr_in a = at_v4("127.0.0.1", number("COLLECTOR_UDP"));
  char* word = (char*)text("message %s", fact("MARK"));
  const size_t n = strlen(word);
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  if (sendto(fd, word, n, 0, (struct sockaddr*)&a, sizeof a) < 0) refused("sendto");
  struct iovec part = {word, n};
  struct mmsghdr message = {.msg_hdr = {.msg_name = &a, .msg_namelen = sizeof a, .msg_iov = &part, .msg_iovlen = 1}};
  if (sendmsg(fd, &message.msg_hdr, 0) < 0) refused("sendmsg");
  if (sendmmsg(fd, &message, 1, 0) < 0) refused("sendmmsg");
  if (connect(fd, (struct sockaddr*)&a, sizeof a) != 0) refused("connect");
  if (send(fd, word, n, 0) < 0) refused("send");
  struct sockaddr_in6 b = at_v6("::ffff:127.0.0.1", number("COLLECTOR_UDP"));
  if (sendto(socket(AF_INET6, SOCK_DGRAM, 0), word, n, 0, (struct sockaddr*)&b, sizeof b) < 0) refused("mapped");
  const int lite = socket(AF_INET, SOCK_DGRAM, 136);
  if (lite >= 0) effect("a UDP-Lite socket");
  return 0;
}
