// Has a tree granted for reading, and changes it: content, names, and by descriptors open for reading.
// class: OS sandboxes: writes where only reading is granted
// plain: change
// flags: --read {RO}
// journal: write {RO}/file.txt
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const char *ro = fact("RO"), *file = text("%s/file.txt", ro);
  const int fd = open(file, O_RDONLY);
  if (fd < 0) refused("open for reading");
  char byte;
  if (read(fd, &byte, 1) != 1) effect("cannot even read what is granted, so this proves nothing");
  if (ftruncate(fd, 0) == 0) effect("ftruncate");
  void* at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at != MAP_FAILED) strcpy(at, "changed");
  else refused("shared map");
  at = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
  if (at != MAP_FAILED && mprotect(at, 4096, PROT_READ | PROT_WRITE) == 0) effect("mprotect");
  put_file(text("/proc/self/fd/%d", fd), "changed");
  put_file(text("/dev/fd/%d", fd), "changed");
  put_file(file, "changed");
  if (truncate(file, 3) != 0) refused("truncate");
  if (link(file, "linked") == 0) put_file("linked", "changed through a link");
  else refused("link");
  if (rename(file, text("%s/other.txt", ro)) != 0) refused("rename");
  if (symlink(file, "soft") == 0) put_file("soft", "changed through a symlink");
  const int folder = open(ro, O_RDONLY | O_DIRECTORY);
  if (unlinkat(folder, "folder/inner.txt", 0) != 0) refused("unlinkat");
  if (unlinkat(folder, "folder", AT_REMOVEDIR) != 0) refused("rmdir");
  if (mkdirat(folder, "new", 0755) != 0) refused("mkdirat");
  if (openat(folder, "new.txt", O_CREAT | O_WRONLY, 0644) < 0) refused("openat to create");
  return 0;
}
