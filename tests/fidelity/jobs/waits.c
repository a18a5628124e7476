// Signals that meet a call that waits: for the other end of a FIFO, for a server that accepts
// nothing. A handler interrupts it or lets it begin again (SA_RESTART), Ctrl-\ ends it, Ctrl-Z
// stops it.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int handled[2];
static struct sockaddr_in server;

static void handle(int number) {
  (void)number;
  (void)!write(handled[1], "h", 1);
}

static void on_signal(int number, int flags) {
  struct sigaction action = {.sa_handler = handle, .sa_flags = flags};
  sigaction(number, &action, NULL);
}

static int read_fifo(void) { return open("fifo", O_RDONLY); }
static int write_fifo(void) { return open("fifo", O_WRONLY); }
static int connect_unix(void) {
  const struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
  return connect(socket(AF_UNIX, SOCK_STREAM, 0), (const struct sockaddr*)&address, sizeof address);
}
static int connect_tcp(void) {
  return connect(socket(AF_INET, SOCK_STREAM, 0), (const struct sockaddr*)&server, sizeof server);
}

static void* sleep_on(void* nothing) {
  for (;;) pause();
  return nothing;
}

// The system call that it waits in; -1: none.
static long call_of(pid_t pid) {
  char path[64], text[64] = "";
  snprintf(path, sizeof path, "/proc/%d/syscall", pid);
  const int file = open(path, O_RDONLY);
  (void)!read(file, text, sizeof text - 1);
  close(file);
  return text[0] >= '0' && text[0] <= '9' ? strtol(text, NULL, 10) : -1;
}

// A hang is told as one.
static void on_alarm(int number) {
  static const char text[] = "hangs\n";
  (void)number;
  (void)!write(1, text, sizeof text - 1);
  _exit(1);
}

static pid_t begin(int (*call)(void), int flags, int threads) {
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    if (flags >= 0) on_signal(SIGUSR1, flags);
    // They handle none, so that it is this thread's.
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    for (int i = 0; i < threads; ++i) pthread_create(&thread, NULL, sleep_on, NULL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    _exit(call() >= 0 ? 0 : errno);
  }
  return child;
}

static void await_call(pid_t child) {
  for (int seen = 0; seen < 5; usleep(20000)) {
    const long call = call_of(child);
    seen = call == SYS_openat || call == SYS_open || call == SYS_connect ? seen + 1 : 0;
  }
}

static void tell(const char* what, pid_t child) {
  int status = 0;
  waitpid(child, &status, WUNTRACED);
  if (WIFEXITED(status))
    printf("%s: %s\n", what,
           WEXITSTATUS(status) == 0 ? "done" : strerrorname_np(WEXITSTATUS(status)));
  else if (WIFSIGNALED(status))
    printf("%s: ended by signal %d\n", what, WTERMSIG(status));
  else
    printf("%s: stopped by signal %d\n", what, WSTOPSIG(status));
}

static void interrupt(const char* what, int (*call)(void), int threads) {
  const pid_t child = begin(call, 0, threads);
  await_call(child);
  kill(child, SIGUSR1);
  tell(what, child);
  char byte;
  (void)!read(handled[0], &byte, 1);
}

static void begin_again(const char* what, int (*call)(void), int (*other_end)(void)) {
  const pid_t child = begin(call, SA_RESTART, 0);
  await_call(child);
  kill(child, SIGUSR1);
  char byte;
  (void)!read(handled[0], &byte, 1);
  await_call(child);
  const int end = other_end();
  tell(what, child);
  close(end);
}

static int listener;
static int accept_some(void) {
  for (int i = 0; i < 2; ++i) close(accept(listener, NULL, NULL));
  return -1;
}

int main(void) {
  signal(SIGALRM, on_alarm);
  alarm(60);
  setvbuf(stdout, NULL, _IOLBF, 0);
  mkfifo("fifo", 0600);
  if (pipe2(handled, O_CLOEXEC) != 0) return 1;
  interrupt("reads, handled", read_fifo, 0);
  interrupt("writes, handled", write_fifo, 0);
  interrupt("reads, handled, threads", read_fifo, 2);
  begin_again("reads, handled and begun again", read_fifo, write_fifo);
  begin_again("writes, handled and begun again", write_fifo, read_fifo);

  pid_t child = begin(read_fifo, -1, 0);
  await_call(child);
  kill(child, SIGQUIT);
  tell("reads, to be ended with a core", child);
  child = begin(read_fifo, -1, 0);
  await_call(child);
  kill(child, SIGTSTP);
  tell("reads, to be stopped", child);
  kill(child, SIGCONT);
  await_call(child);
  const int end = write_fifo();
  tell("reads, continued", child);
  close(end);

  listener = socket(AF_UNIX, SOCK_STREAM, 0);
  const struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
  if (bind(listener, (const struct sockaddr*)&address, sizeof address) != 0 ||
      listen(listener, 0) != 0)
    return 1;
  if (connect_unix() != 0) return 1;
  interrupt("connects to a path, handled", connect_unix, 0);
  begin_again("connects to a path, handled and begun again", connect_unix, accept_some);

  const int full = socket(AF_INET, SOCK_STREAM, 0);
  socklen_t size = sizeof server;
  server = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  if (bind(full, (const struct sockaddr*)&server, sizeof server) != 0 || listen(full, 0) != 0 ||
      getsockname(full, (struct sockaddr*)&server, &size) != 0)
    return 1;
  if (connect_tcp() != 0) return 1;
  interrupt("connects to a port, handled", connect_tcp, 0);
  return 0;
}
