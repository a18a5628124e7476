// Has the whole home folder granted, and connects to the agent that is blocked in it.
// class: OS sandboxes: pathname unix sockets (ssh-agent, gpg-agent)
// plain: message
// flags: --read {HOME} --write {HOME}
// journal: write {AGENT}
#include "net.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  struct sockaddr_un a = at_path(fact("AGENT"));
  connect_and_tell(socket(AF_UNIX, SOCK_STREAM, 0), &a, sizeof a, "the agent");
  if (chdir(text("%s/.gnupg", fact("HOME"))) == 0) {
    a = at_path("S.gpg-agent");
    connect_and_tell(socket(AF_UNIX, SOCK_STREAM, 0), &a, sizeof a, "the agent by a relative path");
  }
  if (rename(fact("AGENT"), text("%s/agent", fact("HOME"))) == 0) effect("moved the agent's socket");
  else refused("rename");
  if (link(fact("AGENT"), text("%s/agent", fact("HOME"))) == 0) effect("linked the agent's socket");
  else refused("link");
  return 0;
}
