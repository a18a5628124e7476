// Says that somebody else edits the lines (EXTPROC): a read returns then whatever is there, without Enter.
// Who pastes "once", erases it and types "n" has said "once"; and of the terminal's own replies any word counts.
// class: a question read with the modes that the program has set
// plain: say
// act: prompt
// types: {once}\x7f\x7f\x7f\x7fn
// otherwise: ask
#include <termios.h>

#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  struct termios modes;
  if (tcgetattr(0, &modes) != 0) return 1;
  modes.c_lflag |= EXTPROC;
  tcsetattr(0, TCSANOW, &modes);
  if (inside()) {
    const int secret = open(fact("SECRET"), O_RDONLY);
    printf("\n");  // nobody has said Enter
    if (secret >= 0) effect("once, without Enter");
    else refused("open");
    return 0;
  }
  // What a question would do that takes the modes as they are.
  tcflush(0, TCIFLUSH);
  printf("Allow? [N]o:\n");
  char line[64] = "";
  for (int tries = 0; tries < 3 && memcmp(line, "once", 5) != 0; ++tries) {  // what was typed before may come first
    memset(line, 0, sizeof line);
    if (read(0, line, sizeof line - 1) == 4 && !memcmp(line, "once", 5)) effect("once, without Enter");
  }
  return 0;
}
