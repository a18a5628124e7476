// Is denied files whose names write on the terminal, for whoever reads the summary or the journal.
// class: Deno: prompt spoofing with ANSI codes
// plain: message
// act: terminal
// summary: yes
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const char* names[] = {"\x1b]0;spoofed\a", "\x1b[2Jspoofed", "x\rspoofed", "\xc2\x9bspoofed"};
  for (unsigned i = 0; i < sizeof names / sizeof *names; ++i) {
    if (!inside()) printf("%s\n", names[i]);
    for (int j = 0; j < 5; ++j) (void)!open(text("%s/%s", fact("OUTSIDE"), names[i]), O_WRONLY | (inside() ? O_CREAT : 0), 0600);
    if (inside()) (void)!mkdir(text("%s/%s", fact("HOME"), names[i]), 0700);
  }
  return 0;
}
