// Asks for files whose names write on the terminal: clear it, change its title, begin a line anew, look
// like another question. The person presses Enter at each question, having typed "a" before any.
// class: Deno: prompt spoofing with ANSI codes, long text, input already typed
// plain: message
// act: prompt
// otherwise: ask
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const char* names[] = {"\x1b]0;spoofed\a", "\x1b[2Jspoofed", "x\rspoofed: allow? [y]", "\xc2\x9bspoofed", "a\nb\nAllow everything? [Y-n] "};
  char longest[200];
  memset(longest, 'A', sizeof longest);
  longest[sizeof longest - 1] = 0;
  for (unsigned i = 0; i < sizeof names / sizeof *names; ++i) {
    if (!inside()) printf("%s\n", names[i]);  // what a guard that prints names as they are would do
    const int fd = open(text("%s/%s", fact("OUTSIDE"), names[i]), O_RDONLY | (inside() ? O_CREAT : 0), 0600);
    if (fd >= 0) effect("opened a file that nobody allowed");
    else refused("open");
  }
  if (open(text("%s/%s", fact("OUTSIDE"), longest), O_WRONLY | (inside() ? O_CREAT : 0), 0600) >= 0) effect("opened a long name");
  read_path(fact("SECRET"));
  read_path(fact("KEY"));
  return 0;
}
