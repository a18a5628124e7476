// Connects by MPTCP, which connects past Landlock's TCP rules.
// class: OS sandboxes: MPTCP
// plain: message
#include "net.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  struct sockaddr_in a = at_v4("127.0.0.1", number("COLLECTOR"));
  const int fd = socket(AF_INET, SOCK_STREAM, 262);
  if (fd < 0) {
    refused("socket");
    if (!inside()) needs("mptcp");
  }
  connect_and_tell(fd, &a, sizeof a, "mptcp");
  return 0;
}
