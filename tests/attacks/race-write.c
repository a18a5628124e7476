// The same with calls that change: create, truncate, rename, unlink, link, chmod, mkdir.
// class: OS sandboxes: a race between the check and the use of a path
// plain: change
// journal: write {OUTSIDE}/*
#include "race.h"
#include <time.h>

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  race_good = text("%s/sub/x", fact("W"));
  race_bad = text("%s/x", fact("OUTSIDE"));
  strcpy(race_path, race_good);
  const pthread_t thread = race_begin(flip_text);
  // Ten changes a turn, of which each waits for the supervisor beside a thread that never rests: on a
  // busy machine with two processors that took more than the two minutes that an attack has.
  const time_t end = time(NULL) + 20;
  for (int i = 0; i < TRIES / 8 && time(NULL) < end; ++i) {
    const int fd = open(race_path, O_WRONLY | O_CREAT, 0644);
    if (fd >= 0) close(fd);
    (void)!truncate(race_path, 0);
    chmod(race_path, 0600);
    (void)!link("allowed.txt", race_path);
    unlink(race_path);
    mkdir(race_path, 0755);
    rmdir(race_path);
    (void)!symlink("x", race_path);
    rename("sub/file.txt", race_path);
    rename(race_path, "sub/file.txt");
  }
  race_end(thread);
  put_file(race_bad, "the last try, which plainly always works");
  return 0;
}
