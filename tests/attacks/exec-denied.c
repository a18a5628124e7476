// Starts a program that is not granted, in each way that there is to name one.
// class: Deno: run permissions; OS sandboxes: ld.so, memfd, interpreters' lines
// plain: say
// journal: run {FORBIDDEN}
#include "attack.h"

static void start(const char* how, char* const words[], int fd, int flags) {
  const pid_t child = fork();
  if (child == 0) {
    extern char** environ;
    if (fd >= 0 || flags) syscall(SYS_execveat, fd, words[0], words, environ, flags);
    else execv(words[0], words);
    refused(how);
    _exit(0);
  }
  waitpid(child, NULL, 0);
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  char* path = (char*)fact("FORBIDDEN");
  start("execve", (char*[]){path, NULL}, -1, 0);
  start("a relative path", (char*[]){"../outside/forbidden", NULL}, -1, 0);
  if (symlink(path, "soft") != 0) refused("symlink");
  start("a symlink", (char*[]){"./soft", NULL}, -1, 0);
  const int fd = open(path, O_PATH);
  start("a descriptor", (char*[]){"", NULL}, fd, AT_EMPTY_PATH);
  start("/proc/self/fd", (char*[]){(char*)text("/proc/self/fd/%d", fd), NULL}, -1, 0);
  start("a folder's descriptor", (char*[]){"forbidden", NULL}, open(fact("OUTSIDE"), O_PATH), 0);
  if (link(path, "hard") != 0) refused("link");
  start("a hard link", (char*[]){"./hard", NULL}, -1, 0);
  // It may not be read either, so no interpreter and no copy can run it.
  put_file("script", text("#!%s\n", path));
  chmod("script", 0755);
  start("an interpreter's line", (char*[]){"./script", NULL}, -1, 0);
  start("ld.so", (char*[]){"/lib64/ld-linux-x86-64.so.2", path, NULL}, -1, 0);
  char copy[1 << 16];
  const int from = open(path, O_RDONLY), memory = memfd_create("copy", 0);
  ssize_t n;
  while (from >= 0 && (n = read(from, copy, sizeof copy)) > 0) (void)!write(memory, copy, (size_t)n);
  start("memfd", (char*[]){"", NULL}, memory, AT_EMPTY_PATH);
  return 0;
}
