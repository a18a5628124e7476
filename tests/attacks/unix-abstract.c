// Connects and sends to abstract sockets of services outside, which have no path.
// class: OS sandboxes: abstract unix sockets (X11, D-Bus)
// plain: message
#include "net.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  struct sockaddr_un a = {.sun_family = AF_UNIX};
  size_t n = offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)sprintf(a.sun_path + 1, "%s", fact("ABSTRACT"));
  connect_and_tell(socket(AF_UNIX, SOCK_STREAM, 0), &a, n, "abstract");
  a.sun_path[n - offsetof(struct sockaddr_un, sun_path)] = '-';
  a.sun_path[n + 1 - offsetof(struct sockaddr_un, sun_path)] = 'd';
  n += 2;
  const char* word = text("message %s", fact("MARK"));
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) != 0) refused("socketpair of datagrams");
  const int fds[] = {socket(AF_UNIX, SOCK_DGRAM, 0), pair[0]};
  for (int i = 0; i < 2; ++i)
    if (fds[i] < 0 || sendto(fds[i], word, strlen(word), MSG_NOSIGNAL, (struct sockaddr*)&a, (socklen_t)n) < 0) refused("sendto");
  return 0;
}
