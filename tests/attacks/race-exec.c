// Changes the program's path in memory between the check and the execve.
// class: OS sandboxes: a race between the check and the use of a program
// plain: say
// flags: --run {W}/helper
#include "race.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  race_good = text("%s/helper", fact("W"));
  race_bad = fact("FORBIDDEN");
  for (int i = 0; race_goes_on(i, 1500); ++i) {
    strcpy(race_path, i % 2 ? race_good : race_bad);
    // The child shares our memory, so that a thread of ours can change what its execve names.
    race_over = 0;
    const pthread_t thread = race_begin(flip_text);
    const pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
      // In the forked child only this thread lives: race against a thread of its own.
      pthread_t own;
      pthread_create(&own, NULL, flip_text, NULL);
      char* words[] = {race_path, NULL};
      execve(race_path, words, words + 1);
      _exit(0);
    }
    waitpid(child, NULL, 0);
    race_end(thread);
  }
  return 0;
}
