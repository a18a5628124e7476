// Lets the terminal answer: "a" is made the key that ends a line, and the terminal asked for a colour
// full of that letter. Its reply comes when the question is there, as lines that nobody typed.
// class: terminals that reply; a question read with the modes that the program has set
// plain: say
// act: prompt
// types: n
// otherwise: ask
#include <termios.h>

#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  struct termios modes;
  if (tcgetattr(0, &modes) != 0) return 1;
  modes.c_cc[VEOL] = 'a';
  tcsetattr(0, TCSANOW, &modes);
  printf("\033]11;?\033\\");
  if (inside()) {
    if (open(fact("SECRET"), O_RDONLY) >= 0) effect("the terminal said yes");
    else refused("open");
    return 0;
  }
  // What a question would do that takes the modes as they are.
  tcflush(0, TCIFLUSH);
  printf("Allow? [N]o: ");
  char line[64] = "";
  for (int tries = 0; tries < 8; ++tries)  // what was typed before may come first
    if (read(0, line, sizeof line) == 1 && line[0] == 'a') effect("the terminal said yes");
  return 0;
}
