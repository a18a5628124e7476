// Makes "n" the key that erases: who types what is no answer has given one.
// class: a question read with the modes that the program has set
// plain: say
// act: prompt
// types: nonalways\x0an
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
    if (open(fact("SECRET"), O_RDONLY) >= 0) effect("that was always");
    else refused("open");
    return 0;
  }
  tcflush(0, TCIFLUSH);
  printf("Allow? [N]o: ");
  char line[64] = "";
  // What was typed before may come first.
  for (int tries = 0; tries < 4 && memcmp(line, "always\n", 7) != 0; ++tries)
    if (read(0, line, sizeof line) == 7 && !memcmp(line, "always\n", 7)) effect("that was always");
  return 0;
}
