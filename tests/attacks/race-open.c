// Changes the path in memory between the check and the open.
// class: OS sandboxes: a race between the check and the use of a path
// plain: leak
// journal: read {SECRET}
#include "race.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  // Both below the base, so that they have the same length but for the tail.
  race_good = text("%s/allowed.txt", fact("W"));
  race_bad = fact("SECRET");
  strcpy(race_path, race_good);
  const pthread_t thread = race_begin(flip_text);
  int opened = 0, won = 0;
  for (int i = 0; race_goes_on(i, TRIES); ++i) {
    const int fd = open(race_path, O_RDONLY);
    if (fd < 0) continue;
    char content[256];
    const ssize_t n = read(fd, content, sizeof content);
    ++opened;
    if (n > 0 && memcmp(content, "allowed", 7) != 0 && !won++) leak(content, (size_t)n);
    close(fd);
  }
  race_end(thread);
  read_path(race_bad);  // the last try, which plainly always works
  printf("opened %d of %d, %d of them forbidden\n", opened, TRIES, won);
  return 0;
}
