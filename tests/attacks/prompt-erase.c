// Makes "n" the key that erases: who types "no" has typed "o", which is "once".
// class: a question read with the modes that the program has set
// plain: say
// act: prompt
// types: no
// otherwise: ask
#include <termios.h>

#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  struct termios modes;
  if (tcgetattr(0, &modes) != 0) return 1;
  modes.c_cc[VERASE] = 'n';
  tcsetattr(0, TCSANOW, &modes);
  if (inside()) {
    if (open(fact("SECRET"), O_RDONLY) >= 0) effect("no was yes");
    else refused("open");
    return 0;
  }
  tcflush(0, TCIFLUSH);
  printf("Allow? [N]o: ");
  char line[64] = "";
  for (int tries = 0; tries < 3 && line[0] != 'o'; ++tries)  // what was typed before may come first
    if (read(0, line, sizeof line) == 2 && line[0] == 'o') effect("no was yes");
  return 0;
}
