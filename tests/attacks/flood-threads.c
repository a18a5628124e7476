// Overwhelms the supervisor: calls from 200 threads and processes at once, killed at any moment, with
// thousands of descriptors open; then reads the key while it may still be dizzy.
// class: OS sandboxes: floods of notifications, descriptors, deaths
// plain: leak
// journal: read {KEY}
// inside: exit 0
#include "attack.h"
#include <pthread.h>

static char folder_outside[PATH_MAX];

static void* work(void* unused) {
  (void)unused;
  for (int i = 0; i < 400; ++i) {
    const int fd = open(i % 3 ? "allowed.txt" : fact("KEY"), O_RDONLY);
    if (fd >= 0 && i % 5) close(fd);
    mkdir(folder_outside, 0755);
    rmdir(folder_outside);
    unlink("absent");
  }
  return NULL;
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  snprintf(folder_outside, sizeof folder_outside, "%s/x", fact("OUTSIDE"));
  pid_t children[20];
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 20; ++i) {
      children[i] = fork();
      if (children[i] == 0) {
        if (nice(10) == -1) _exit(1);  // else they starve the one that is to end them
        pthread_t threads[10];
        for (int j = 0; j < 10; ++j) pthread_create(&threads[j], NULL, work, NULL);
        work(NULL);
        _exit(0);
      }
    }
    nap(20 + round * 10);
    for (int i = 0; i < 20; ++i) {
      kill(children[i], SIGKILL);
      waitpid(children[i], NULL, 0);
    }
  }
  const int fd = open("allowed.txt", O_RDONLY);
  if (fd < 0) {
    refused("what is allowed, after the flood");
    return 3;
  }
  read_path(fact("KEY"));
  rmdir(folder_outside);
  return 0;
}
