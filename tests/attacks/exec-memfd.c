// Runs code that is in no file: a copy of itself in memory, which then reads the key. No rule about
// programs sees it; the compartment must hold it all the same.
// class: OS sandboxes: memfd
// plain: leak
// journal: read {KEY}
#include "attack.h"

int main(int argc, char** argv) {
  attack(argv);
  if (!strcmp(argv[0], "copy")) {
    read_path(fact("KEY"));
    return 0;
  }
  (void)argc;
  char part[1 << 16];
  const int from = open("/proc/self/exe", O_RDONLY), memory = memfd_create("copy", 0);
  ssize_t n;
  while ((n = read(from, part, sizeof part)) > 0) (void)!write(memory, part, (size_t)n);
  argv[0] = "copy";
  if (fork() == 0) {
    fexecve(memory, argv, (char*[]){NULL});
    refused("execution of a memfd");
    _exit(0);
  }
  wait(NULL);
  // Or without any exec: a map of the copy, made executable.
  if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, memory, 0) == MAP_FAILED) refused("map");
  read_path(fact("KEY"));
  return 0;
}
