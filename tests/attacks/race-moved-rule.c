// A folder that may be read, in one that may only be written, gets another name there, and then what may
// not be read is moved into it. The kernel's rule went along with the folder.
// class: OS sandboxes: a race between the check and the use of a path; a rule by the file, not by its name
// plain: leak
// flags: --write {DROP} --read {DROP}/known
#include "race.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const char* known = text("%s/known", fact("DROP"));
  const char* other = text("%s/other", fact("DROP"));
  if (rename(known, other) != 0) refused("rename");
  if (rename(text("%s/file.txt", fact("DROP")), text("%s/file.txt", other)) != 0) refused("rename of the file");
  race_good = text("%s/allowed.txt", fact("W"));
  race_bad = text("%s/file.txt", other);
  strcpy(race_path, race_good);
  const pthread_t thread = race_begin(flip_text);
  int won = 0;
  for (int i = 0; race_goes_on(i, TRIES); ++i) {
    const int fd = open(race_path, O_RDONLY);
    if (fd < 0) continue;
    char content[256];
    const ssize_t n = read(fd, content, sizeof content);
    if (n > 0 && memcmp(content, "allowed", 7) != 0 && !won++) leak(content, (size_t)n);
    close(fd);
  }
  race_end(thread);
  read_path(race_bad);
  printf("%d of %d forbidden\n", won, TRIES);
  return 0;
}
