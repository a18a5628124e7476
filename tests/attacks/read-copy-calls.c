// Copies the key with calls that move data without read: sendfile, splice, copy_file_range, mmap.
// class: all: reads that nobody checked
// plain: leak
// journal: read {KEY}
#include "attack.h"
#include <sys/sendfile.h>

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const int mine = open("loot", O_RDWR | O_CREAT | O_TRUNC, 0600);
  const int key = open(fact("KEY"), O_RDONLY);
  if (key < 0) refused("open");
  if (sendfile(mine, key, NULL, 4096) < 0) refused("sendfile");
  loff_t from = 0;
  if (copy_file_range(key, &from, mine, NULL, 4096, 0) < 0) refused("copy_file_range");
  int pipe_[2];
  if (pipe(pipe_) != 0) return 1;
  from = 0;
  if (splice(key, &from, pipe_[1], NULL, 4096, 0) < 0) refused("splice");
  void* at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, key, 0);
  if (at == MAP_FAILED) refused("mmap");
  else leak(at, strlen(at));
  struct { unsigned start; } fiemap = {0};
  (void)fiemap;
  if (ioctl(mine, 0x40049409 /* FICLONE */, key) != 0) refused("clone");
  return 0;
}
