// Looks for secrets in the environment: its own, its start's, its parent's.
// class: Deno: environment read by toObject, /proc/self/environ
// plain: leak
// journal: environment SECRET_TOKEN
#include "attack.h"

extern char** environ;

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  for (char** at = environ; *at; ++at) leak(*at, strlen(*at));
  read_path("/proc/self/environ");
  read_path("/proc/thread-self/environ");
  if (inside()) {
    read_path(text("/proc/%d/environ", getppid()));
    read_path("/proc/1/environ");
  }
  return 0;
}
