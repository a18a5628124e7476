// Cuts a file short that may only be read: opened for reading and truncating, its path in memory changed
// behind the supervisor's look from one that the kernel opens by itself. Landlock has a right for that since
// Linux 6.2; before, who may read may truncate.
// class: OS sandboxes: a race between the check and the use of a path
// plain: change
// flags: --read {RO}
// journal: write {RO}/file.txt
#include "race.h"

static void race_from(const char* good) {
  race_good = good;
  strcpy(race_path, good);
  race_over = 0;
  const pthread_t thread = race_begin(flip_text);
  struct stat about;
  int opened = 0;
  for (int i = 0; race_goes_on(i, TRIES / 8) && (stat(race_bad, &about) != 0 || about.st_size != 0); ++i) {
    const int fd = open(race_path, O_RDONLY | O_TRUNC);
    if (fd < 0) continue;
    ++opened;
    close(fd);
  }
  race_end(thread);
  printf("%s: opened %d of %d\n", good, opened, TRIES / 8);
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  race_bad = text("%s/file.txt", fact("RO"));
  // A compartment's own tree, and what only its caller can open.
  const char* const own = text("%s/own-%d", inside() ? "/tmp" : fact("W"), getpid());
  put_file(own, "own");
  race_from(own);
  race_from("/dev/tty");
  const int last = open(race_bad, O_RDONLY | O_TRUNC);  // the last try, which plainly always works
  if (last < 0) refused(race_bad);
  return 0;
}
