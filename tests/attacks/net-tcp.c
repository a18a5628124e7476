// Connects to a server that is not granted, in every spelling of the loopback address.
// class: Deno: names and addresses that mean another; OS sandboxes: connections
// plain: message
// flags: --connect 127.0.0.1:{GRANTED}
// journal: connect *:{COLLECTOR}
#include "net.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const long port = number("COLLECTOR");
  const char* v4[] = {"127.0.0.1", "0.0.0.0", "127.0.0.2"};
  for (int i = 0; i < 2; ++i) {
    struct sockaddr_in a = at_v4(v4[i], port);
    connect_and_tell(socket(AF_INET, SOCK_STREAM, 0), &a, sizeof a, v4[i]);
    connect_and_tell(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP), &a, sizeof a, v4[i]);
  }
  const char* v6[] = {"::1", "::ffff:127.0.0.1", "::", "::ffff:0.0.0.0"};
  for (int i = 0; i < 4; ++i) {
    struct sockaddr_in6 a = at_v6(v6[i], port);
    connect_and_tell(socket(AF_INET6, SOCK_STREAM, 0), &a, sizeof a, v6[i]);
  }
  // A length larger than the address, and one that ends within.
  struct { struct sockaddr_in a; char more[100]; } longer = {.a = at_v4("127.0.0.1", port)};
  connect_and_tell(socket(AF_INET, SOCK_STREAM, 0), &longer, sizeof longer, "a long address");
  struct sockaddr_in a = at_v4("127.0.0.1", port);
  connect_and_tell(socket(AF_INET, SOCK_STREAM, 0), &a, 8, "a short address");
  // A granted destination first; then, on the same socket, another.
  const int fd = granted_connection();
  connect_and_tell(fd, &a, sizeof a, "a connected socket");
  return 0;
}
