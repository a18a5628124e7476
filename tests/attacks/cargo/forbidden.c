// The program that no compartment of the tests may run: it tells that it did.
#include <unistd.h>
int main(void) {
  static const char word[] = "EFFECT the forbidden program ran\n";
  return write(1, word, sizeof word - 1) < 0;
}
