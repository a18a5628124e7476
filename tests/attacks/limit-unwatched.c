// Takes the supervisor's descriptors, by which it sees what a process uses: a call that waits holds two, and a
// connection to its name server one.
// class: OS sandboxes: descriptor exhaustion
// plain: say
// flags: --memory 64MiB --processes 8
// descriptors: 800
// as: user
#include "net.h"
#include <pthread.h>

enum { kThreads = 500, kMegabytes = 256 };

static void* wait_for_nobody(void* path) {
  while (open(path, O_WRONLY) < 0) nap(20);
  return NULL;
}

static int can_open(void) {
  const int fd = open("seen", O_RDWR | O_CREAT, 0600);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const char* pipe = "nobody";
  if (mkfifo(pipe, 0600) != 0) refused(pipe);
  const pid_t client = fork();
  if (client == 0) {
    struct sockaddr_in names = at_v4("127.0.0.1", 53);
    (void)!connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr*)&names, sizeof names);
    for (;;) pause();
  }
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 1 << 16);
  pthread_t one;
  int threads = 0;
  nap(300);
  while (threads < kThreads && pthread_create(&one, &small, wait_for_nobody, (void*)pipe) == 0) ++threads;
  // Until nothing can be opened for us any more, or everybody waits.
  for (int i = 0; i < 60 && can_open(); ++i) nap(50);
  nap(2000);
  // Where one was left over there are two now: a thread takes them.
  kill(client, SIGKILL);
  nap(1000);
  int alive = 0;
  for (int i = 0; i < 64; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      nap(2000);
      _exit(0);
    }
    if (child > 0) ++alive;
  }
  if (alive > 16) effect("%d processes at once", alive);
  static char* held[kMegabytes];
  for (int i = 0; i < kMegabytes; ++i) {
    held[i] = malloc(1 << 20);
    if (held[i] != NULL) memset(held[i], 1, 1 << 20);
    nap(5);
  }
  effect("%d MiB held", kMegabytes);
  _exit(0);
}
