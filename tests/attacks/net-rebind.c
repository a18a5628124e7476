// Has a granted name that its owner lets resolve to the user's own machine: by A, and by a mapped AAAA.
// class: Deno: names that resolve to a denied address
// plain: message
// flags: --connect rebind.test:{COLLECTOR} --connect metadata.test:80 --dns 127.0.0.1:{DNS_SERVER}
// journal: connect *:{COLLECTOR}
#include "net.h"

static int resolve(const char* label, int type, unsigned char* address) {
  unsigned char query[64] = "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00", answer[512];
  size_t at = 12;
  query[at++] = (unsigned char)strlen(label);
  at += (size_t)sprintf((char*)query + at, "%s", label);
  query[at++] = 4;
  memcpy(query + at, "test\0\0", 6);
  query[at + 6] = (unsigned char)type;
  memcpy(query + at + 7, "\0\1", 2);
  at += 9;
  struct sockaddr_in a = at_v4("127.0.0.1", number("DNS"));
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  struct timeval patience = {3, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (sendto(fd, query, at, 0, (struct sockaddr*)&a, sizeof a) < 0) return -1;
  const ssize_t n = recv(fd, answer, sizeof answer, 0);
  close(fd);
  const ssize_t size = type == 1 ? 4 : 16;
  if (n < (ssize_t)at + 12 + size) return -1;
  memcpy(address, answer + n - size, (size_t)size);
  return 0;
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  struct sockaddr_in a = at_v4("127.0.0.1", number("COLLECTOR"));
  if (resolve("rebind", 1, (unsigned char*)&a.sin_addr) != 0) refused("lookup");
  connect_and_tell(socket(AF_INET, SOCK_STREAM, 0), &a, sizeof a, "the address of a granted name");
  struct sockaddr_in6 b = at_v6("::1", number("COLLECTOR"));
  if (resolve("rebind", 28, (unsigned char*)&b.sin6_addr) != 0) refused("lookup of AAAA");
  connect_and_tell(socket(AF_INET6, SOCK_STREAM, 0), &b, sizeof b, "the mapped address of a granted name");
  if (inside()) {
    struct sockaddr_in c = at_v4("169.254.169.254", 80);
    if (resolve("metadata", 1, (unsigned char*)&c.sin_addr) != 0) refused("lookup");
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (connect(fd, (struct sockaddr*)&c, sizeof c) == 0 || errno == EINPROGRESS) effect("connects to the cloud's metadata");
    else refused("metadata");
  }
  return 0;
}
