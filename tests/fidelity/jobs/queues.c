// POSIX message queues: made, found, sent to, waited for, told of by signal and by thread, removed.
// modes: root-granted root-served user-granted user-served user-workspace
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char name[64], other[64];

static void said(const char* what, long result) {
  printf("%s: %s\n", what, result < 0 ? strerrorname_np(errno) : "ok");
}

static void receive(const char* what, mqd_t queue, long wait) {
  char text[64] = {0};
  unsigned priority = 99;
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += wait;
  const ssize_t n = mq_timedreceive(queue, text, sizeof text, &priority, &until);
  if (n < 0) said(what, n);
  else printf("%s: %.*s, priority %u\n", what, (int)n, text, priority);
}

static sem_t told;
static void on_thread(union sigval value) {
  printf("thread is told %d\n", value.sival_int);
  sem_post(&told);
}

int main(void) {
  setvbuf(stdout, NULL, _IONBF, 0);
  // Plainly all the jobs of a machine share one set of names.
  snprintf(name, sizeof name, "/bulkhead-fidelity-%d", (int)getpid());
  snprintf(other, sizeof other, "/bulkhead-other-%d", (int)getpid());
  struct mq_attr size = {.mq_maxmsg = 4, .mq_msgsize = 64}, is;
  struct rlimit memory;
  getrlimit(RLIMIT_MSGQUEUE, &memory);
  printf("limits %ld %ld\n", (long)memory.rlim_cur, (long)memory.rlim_max);
  said("absent", mq_open(name, O_RDWR));
  said("no slash", mq_open("bulkhead", O_RDWR | O_CREAT, 0600, &size));
  umask(027);
  const mqd_t queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0666, &size);
  said("made", queue);
  said("twice", mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &size));
  struct stat about = {0};
  said("fstat", fstat(queue, &about));
  printf("mode %o, mine %d\n", about.st_mode, about.st_uid == getuid());
  mq_getattr(queue, &is);
  printf("%ld of %ld bytes, %ld there\n", is.mq_maxmsg, is.mq_msgsize, is.mq_curmsgs);
  const mqd_t reading = mq_open(name, O_RDONLY | O_NONBLOCK), writing = mq_open(name, O_WRONLY);
  said("for reading", reading);
  said("for writing", writing);
  said("send by a reader", mq_send(reading, "x", 1, 0));
  said("send", mq_send(writing, "low", 3, 1));
  said("send", mq_send(writing, "high", 4, 9));
  said("send too much", mq_send(writing, (char[65]){0}, 65, 9));
  receive("receive by a writer", writing, 0);
  receive("receive", queue, 5);
  receive("receive", reading, 5);
  receive("receive nothing", reading, 5);
  receive("receive in vain", queue, 0);
  struct pollfd ready = {queue, POLLIN | POLLOUT, 0};
  printf("poll %d %x\n", poll(&ready, 1, 0), (unsigned)ready.revents);

  const pid_t child = fork();
  if (child == 0) {
    const mqd_t found = mq_open(name, O_WRONLY);
    _exit(found >= 0 && mq_send(found, "child", 5, 3) == 0 ? 0 : errno);
  }
  receive("from the child", queue, 60);
  int status = 0;
  waitpid(child, &status, 0);
  printf("child ended with %d\n", status);

  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_int = 7};
  said("notify by signal", mq_notify(queue, &event));
  said("notify twice", mq_notify(queue, &event));
  mq_send(writing, "signal", 6, 0);
  siginfo_t told_by;
  printf("signal %d", sigwaitinfo(&set, &told_by) == SIGUSR1);
  printf(" says %d, %d, mine %d\n", told_by.si_code == SI_MESGQ, told_by.si_value.sival_int, told_by.si_pid == getpid());
  receive("receive", queue, 5);
  sem_init(&told, 0, 0);
  struct sigevent thread = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = on_thread, .sigev_value.sival_int = 8};
  said("notify by thread", mq_notify(queue, &thread));
  mq_send(writing, "thread", 6, 0);
  sem_wait(&told);
  receive("receive", queue, 5);

  said("close", mq_close(reading));
  said("close twice", mq_close(reading));
  said("unlink", mq_unlink(name));
  said("unlink twice", mq_unlink(name));
  said("send after it", mq_send(queue, "still", 5, 0));
  receive("receive after it", queue, 5);
  size.mq_maxmsg = 0;
  said("made of nothing", mq_open(other, O_RDWR | O_CREAT, 0600, &size));
  said("unlink it", mq_unlink(other));
  return 0;
}
