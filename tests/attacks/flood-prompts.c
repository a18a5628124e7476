// Asks for hundreds of files, many at once and one after the other, until a person would say yes to be left alone.
// class: OS sandboxes: prompt floods
// plain: message
// act: prompt
// otherwise: ask
#include "attack.h"
#include <pthread.h>

static void* ask(void* number) {
  char path[4096];  // text() is not for threads
  snprintf(path, sizeof path, "%s/%ld", fact("OUTSIDE"), (long)number);
  // Plainly: what a guard that asks for each would do.
  if (!inside()) printf("Allow %s? [N]o: ", path);
  else if (open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) >= 0) effect("made a file that nobody allowed");
  return NULL;
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  enum { kThreads = 300 };
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; ++i)
    if (pthread_create(&threads[i], NULL, ask, (void*)i) != 0) return 1;
  for (long i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  for (long i = 0; i < 2 * kThreads; ++i) ask((void*)i);
  return 0;
}
