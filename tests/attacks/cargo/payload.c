// For LD_PRELOAD: reads the key named by the variable LOOT inside whatever program loads it.
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void begin(void) {
  char part[4096];
  const char* loot = getenv("LOOT");
  const int fd = loot ? open(loot, O_RDONLY) : -1;
  const ssize_t n = fd < 0 ? -1 : read(fd, part, sizeof part);
  if (n > 0 && write(1, part, (size_t)n) < 0) _exit(1);
}
