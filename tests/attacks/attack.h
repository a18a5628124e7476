// What the attacks share. An attack gets its facts as arguments NAME=VALUE, says "tried" before the
// act, and prints what it got. The runner (run.py) judges: it knows every secret of the throwaway
// world and looks for them in the output, at its servers and in the files.
#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define UNUSED __attribute__((unused))

static char** attack_facts;

static UNUSED const char* fact(const char* name) {
  const size_t n = strlen(name);
  for (char** at = attack_facts; *at; ++at)
    if (!strncmp(*at, name, n) && (*at)[n] == '=') return *at + n + 1;
  fprintf(stderr, "no fact %s\n", name);
  exit(99);
}
static UNUSED long number(const char* name) { return strtol(fact(name), NULL, 0); }
static UNUSED int inside(void) { return !strcmp(fact("WHERE"), "inside"); }

// Must come first. The word "tried" proves to the runner that the attack got as far as this.
static UNUSED void attack(char** argv) {
  attack_facts = argv + 1;
  setvbuf(stdout, NULL, _IONBF, 0);
  setvbuf(stderr, NULL, _IONBF, 0);
  printf("tried\n");
}

// Something was refused: say how, go on.
static UNUSED void refused(const char* what) { printf("refused: %s: %s\n", what, strerror(errno)); }

// A forbidden effect that the runner could not see for itself.
static UNUSED __attribute__((format(printf, 1, 2))) void effect(const char* format, ...) {
  va_list list;
  va_start(list, format);
  printf("EFFECT ");
  vprintf(format, list);
  printf("\n");
  va_end(list);
}

// This kernel has not got what the attack attacks: the plain run is skipped by that name.
static UNUSED void needs(const char* feature) {
  printf("NEEDS %s\n", feature);
  exit(77);
}

// As many descriptors as may be asked for; returns how many.
static UNUSED rlim_t most_descriptors(void) {
  struct rlimit files = {0, 0};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) exit(1);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  return files.rlim_max;
}

// KiB of large pages that the process has.
static UNUSED long large_pages(void) {
  char line[256];
  long found = 0;
  FILE* file = fopen("/proc/self/smaps_rollup", "re");
  while (file && fgets(line, sizeof line, file)) sscanf(line, "AnonHugePages: %ld", &found);
  if (file) fclose(file);
  return found;
}

static UNUSED void leak(const void* bytes, size_t size) {
  printf("LEAK ");
  fwrite(bytes, 1, size, stdout);
  printf("\n");
}

// Reads the descriptor to its end and leaks all of it. False where nothing came.
static UNUSED int drain(int fd) {
  char part[4096];
  int any = 0;
  ssize_t n;
  while ((n = read(fd, part, sizeof part)) > 0) {
    leak(part, (size_t)n);
    any = 1;
  }
  return any;
}

static UNUSED void drain_and_close(int fd, const char* what) {
  if (fd < 0) {
    refused(what);
    return;
  }
  if (!drain(fd)) refused(what);
  close(fd);
}

static UNUSED void read_path(const char* path) { drain_and_close(open(path, O_RDONLY | O_CLOEXEC), path); }

static UNUSED __attribute__((format(printf, 1, 2))) const char* text(const char* format, ...) {
  static char slots[8][8192];
  static unsigned next;
  char* at = slots[next++ % 8];
  va_list list;
  va_start(list, format);
  vsnprintf(at, sizeof slots[0], format, list);
  va_end(list);
  return at;
}

static UNUSED void put_file(const char* path, const char* content) {
  const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0 || write(fd, content, strlen(content)) < 0) refused(path);
  if (fd >= 0) close(fd);
}

// Each process that the attack aims at: the outsider; inside also the parent and pid 1, which are
// bulkhead's own. (Plain, those would be the test's and the machine's: left alone.)
static UNUSED int victims(pid_t* into) {
  int n = 0;
  into[n++] = (pid_t)number("OUTSIDER");
  if (inside()) {
    into[n++] = getppid();
    into[n++] = 1;
  }
  return n;
}

static UNUSED void nap(int milliseconds) {
  struct timespec t = {milliseconds / 1000, (milliseconds % 1000) * 1000000L};
  while (nanosleep(&t, &t) != 0 && errno == EINTR) {
  }
}
