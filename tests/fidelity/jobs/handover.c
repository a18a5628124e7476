// What others can tell of a descriptor that has just been closed: whether a FIFO has a reader, whether
// a file that was written can be executed, whether a lock is free. Whoever opens on a program's behalf
// must have let go of it by the time that the program goes on.
// modes: root-served user-served
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char program[1 << 16];

int main(void) {
  int readers = 0, busy = 0, locked = 0;
  mkfifo("fifo", 0600);
  for (int i = 0; i < 3000; ++i) {
    close(open("fifo", O_RDONLY | O_NONBLOCK));
    const int writer = open("fifo", O_WRONLY | O_NONBLOCK);
    if (writer >= 0 || errno != ENXIO) ++readers;
    close(writer);
  }
  const int held = open("lock", O_RDWR | O_CREAT, 0600);
  for (int i = 0; i < 3000; ++i) {
    const int other = open("lock", O_RDWR | O_CREAT, 0600);
    flock(other, LOCK_EX);
    close(other);
    if (flock(held, LOCK_EX | LOCK_NB) != 0) ++locked;
    flock(held, LOCK_UN);
  }
  const int from = open("/bin/true", O_RDONLY);
  const ssize_t size = read(from, program, sizeof program);
  for (int i = 0; i < 150; ++i) {
    const int copy = open("program", O_WRONLY | O_CREAT | O_TRUNC, 0700);
    if (write(copy, program, (size_t)size) != size) return 1;
    close(copy);
    const pid_t child = fork();
    if (child == 0) {
      execl("./program", "program", NULL);
      _exit(errno == ETXTBSY ? 26 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) ++busy;
  }
  printf("readers that nobody is %d, locks that nobody holds %d, programs that nobody writes %d\n", readers, locked, busy);
  return 0;
}
