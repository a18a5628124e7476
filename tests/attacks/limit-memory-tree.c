// The same spread over many processes, none of which is large.
// class: OS sandboxes: memory filling
// plain: say
// flags: --memory 64MiB
// inside: exit 120
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  for (int i = 0; i < 20; ++i)
    if (fork() == 0) {
      volatile char* at = malloc(20 << 20);
      for (int j = 0; j < 20 << 20; j += 512) at[j] = 1;
      nap(4000);
      _exit(0);
    }
  nap(3000);
  effect("400 MiB in 20 processes");
  return 0;
}
