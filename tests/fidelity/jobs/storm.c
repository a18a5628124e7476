// A storm of signals while files are made: a call that is served after its caller was interrupted must not
// be served twice. 20,000 exclusive creates must find no file there; renames, mkdirs and links neither. A call
// whose notification was not yet received when a signal came ends with EINTR where the handler does not
// restart calls: the kernel has it so, and nothing may have been done then, so trying again must succeed.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static void nothing(int s) { (void)s; }

static int failures, first_errno;
static void check(long result) {
  if (result >= 0) return;
  if (!failures++) first_errno = errno;
}
#define AGAIN(call) TEMP_FAILURE_RETRY(call)

static void* many_opens(void* name) {
  for (int i = 0; i < 500; ++i) {
    char path[64];
    snprintf(path, sizeof path, "%s-%d", (const char*)name, i);
    const int fd = open(path, O_CREAT | O_EXCL | O_RDWR, 0600);
    if (fd < 0 || write(fd, path, strlen(path)) != (ssize_t)strlen(path) || close(fd) != 0) return (void*)1;
    char back[64] = "";
    const int again = open(path, O_RDONLY);
    if (again < 0 || read(again, back, sizeof back) != (ssize_t)strlen(path) || strcmp(back, path) != 0) return (void*)2;
    close(again);
    if (unlink(path) != 0) return (void*)3;
  }
  return NULL;
}

int main(void) {
  for (int restart = 1; restart >= 0; --restart) {
    struct sigaction action = {.sa_handler = nothing, .sa_flags = restart ? SA_RESTART : 0};
    sigaction(SIGALRM, &action, NULL);
    struct itimerval timer = {{0, 50}, {0, 50}};
    setitimer(ITIMER_REAL, &timer, NULL);
    failures = 0;
    for (int i = 0; i < 10000; ++i) {
      const int fd = (int)AGAIN(open("x", O_CREAT | O_EXCL | O_WRONLY, 0600));
      check(fd);
      if (fd >= 0) close(fd);
      check(AGAIN(rename("x", "y")));
      check(AGAIN(link("y", "x")));
      check(AGAIN(unlink("x")));
      check(AGAIN(unlink("y")));
      if (i % 10 == 0) {
        check(AGAIN(mkdir("d", 0700)));
        check(AGAIN(rmdir("d")));
        check(AGAIN(symlink("a", "s")));
        check(AGAIN(unlink("s")));
      }
    }
    timer.it_value.tv_usec = 0;
    setitimer(ITIMER_REAL, &timer, NULL);
    printf("storm, %s: %d false failures, first %s\n", restart ? "restarting" : "interrupting", failures, failures ? strerror(first_errno) : "none");
  }
  pthread_t threads[16];
  char names[16][16];
  for (int i = 0; i < 16; ++i) {
    snprintf(names[i], sizeof names[i], "thread%d", i);
    pthread_create(&threads[i], NULL, many_opens, names[i]);
  }
  for (int i = 0; i < 16; ++i) {
    void* result;
    pthread_join(threads[i], &result);
    printf("thread %d: %ld\n", i, (long)result);
  }
  // Children that come and go, each with a file of its own; some are killed on the way.
  int ended = 0, killed = 0;
  for (int i = 0; i < 300; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      char name[32];
      snprintf(name, sizeof name, "child%d", i);
      for (int j = 0; j < 5; ++j) {
        const int fd = open(name, O_CREAT | O_RDWR, 0600);
        if (fd < 0) _exit(1);
        close(fd);
        if (unlink(name) != 0) _exit(2);
      }
      _exit(0);
    }
    if (i % 7 == 0) kill(child, SIGKILL);
    int status;
    waitpid(child, &status, 0);
    ended += WIFEXITED(status) && WEXITSTATUS(status) == 0;
    killed += i % 7 == 0;
    char name[32];
    snprintf(name, sizeof name, "child%d", i);
    unlink(name);
  }
  printf("children: %s\n", ended >= 300 - killed ? "all well" : "some failed");
  return 0;
}
