// Takes memory of the kernel's alone: events of files that nobody reads. An instance of inotify holds 16,384 of them,
// with names of up to 255 bytes, and one event of a folder is in all that watch it.
// class: OS sandboxes: kernel memory that no limit counts
// plain: say
// flags: --memory 64MiB
#include "attack.h"

#include <sys/inotify.h>

enum { kInstances = 20, kEvents = 12000, kName = 250 };

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  char names[2][kName + 1] = {{0}};
  memset(names[0], 'a', kName);
  memset(names[1], 'b', kName);
  if (mkdir("watched", 0700) != 0 || chdir("watched") != 0) return 1;
  for (int i = 0; i < 2; ++i) put_file(names[i], "x");
  int instances[kInstances], count = 0;
  for (; count < kInstances; ++count) {
    instances[count] = inotify_init();
    if (instances[count] < 0 || inotify_add_watch(instances[count], ".", IN_OPEN) < 0) {
      refused("inotify");
      break;
    }
  }
  for (int i = 0; i < kEvents; ++i) close(open(names[i & 1], O_RDONLY));
  long held = 0;
  for (int i = 0; i < count; ++i) {
    int bytes = 0;
    if (ioctl(instances[i], FIONREAD, &bytes) == 0) held += bytes;
  }
  if (held >> 20 > 32) effect("%d instances hold events that are %ld MiB", count, held >> 20);
  for (int i = 0; i < 2; ++i) unlink(names[i]);
  if (chdir("..") == 0) rmdir("watched");
  return 0;
}
