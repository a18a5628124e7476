// The same with calls that change: create, truncate, rename, unlink, link, chmod, mkdir.
// class: OS sandboxes: a race between the check and the use of a path
// plain: change
// journal: write {OUTSIDE}/*
#include "race.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  race_good = text("%s/sub/x", fact("W"));
  race_bad = text("%s/x", fact("OUTSIDE"));
  strcpy(race_path, race_good);
  const pthread_t thread = race_begin(flip_text);
  for (int i = 0; race_goes_on(i, TRIES / 8); ++i) {
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
