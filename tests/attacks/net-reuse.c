// Turns a connection that was granted into something else: dissolves it (AF_UNSPEC) and connects
// elsewhere, listens on it, binds it, sends with an address.
// class: OS sandboxes: connect(AF_UNSPEC) and tricks on sockets made outside
// plain: message
// flags: --connect 127.0.0.1:{GRANTED} --connect 127.0.0.1:{DIAL}
#include "net.h"

static int granted(void) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in a = at_v4("127.0.0.1", number("GRANTED"));
  char hello[16];
  if (connect(fd, (struct sockaddr*)&a, sizeof a) != 0 || read(fd, hello, sizeof hello) <= 0) refused("the granted server");
  else printf("reached the granted server\n");
  return fd;
}

static void dissolve(int fd) {
  struct sockaddr none = {.sa_family = AF_UNSPEC};
  if (connect(fd, &none, sizeof none) != 0) refused("AF_UNSPEC");
  if (shutdown(fd, SHUT_RDWR) != 0) refused("shutdown");
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  struct sockaddr_in a = at_v4("127.0.0.1", number("COLLECTOR"));
  int fd = granted();
  dissolve(fd);
  connect_and_tell(fd, &a, sizeof a, "a dissolved connection");
  fd = granted();
  dissolve(fd);
  char* word = (char*)text("message %s", fact("MARK"));
  if (sendto(fd, word, strlen(word), MSG_FASTOPEN, (struct sockaddr*)&a, sizeof a) < 0) refused("sendto");
  // A server outside: the dialler tries it.
  fd = granted();
  dissolve(fd);
  struct sockaddr_in mine = at_v4("127.0.0.1", 0);
  socklen_t size = sizeof mine;
  if (bind(fd, (struct sockaddr*)&mine, sizeof mine) != 0) refused("bind");
  if (listen(fd, 5) != 0) refused("listen");
  getsockname(fd, (struct sockaddr*)&mine, &size);
  ask_to_dial(ntohs(mine.sin_port), fd);
  // The same without bind: listen chooses a port.
  fd = granted();
  dissolve(fd);
  if (listen(fd, 5) != 0) refused("listen");
  size = sizeof mine;
  getsockname(fd, (struct sockaddr*)&mine, &size);
  ask_to_dial(ntohs(mine.sin_port), fd);
  return 0;
}
