// Connects to a socket of a service outside by its path, a link to it, and relative spellings.
// class: OS sandboxes: pathname unix sockets (docker.sock, ssh-agent, D-Bus, X11)
// plain: message
// journal: write {DOCKER}
#include "net.h"

static void try(const char* path) {
  struct sockaddr_un a = at_path(path);
  connect_and_tell(socket(AF_UNIX, SOCK_STREAM, 0), &a, sizeof a, path);
  connect_and_tell(socket(AF_UNIX, SOCK_STREAM, 0), &a, offsetof(struct sockaddr_un, sun_path) + strlen(path), path);
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  try(fact("DOCKER"));
  try("../outside/docker.sock");
  if (symlink(fact("DOCKER"), "sock") != 0) refused("symlink");
  try("sock");
  if (link(fact("DOCKER"), "hard") != 0) refused("link");
  try("hard");
  if (chdir(fact("OUTSIDE")) == 0) try("docker.sock");
  try(text("/proc/self/root%s", fact("DOCKER")));
  const int fd = open(fact("DOCKER"), O_PATH);
  try(text("/proc/self/fd/%d", fd));
  try(fact("AGENT"));
  try(fact("TMP_SOCKET"));
  return 0;
}
