// Was granted writing a file, not reading it: opens it for writing and reopens that for reading.
// class: OS sandboxes: descriptors reopened with more access
// plain: leak
// flags: --write {WO}
// journal: read {WO}/file.txt
#include "attack.h"
#include <sys/sendfile.h>

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const char* path = text("%s/file.txt", fact("WO"));
  read_path(path);
  const int fd = open(path, O_WRONLY);
  if (fd < 0) refused("open for writing");
  read_path(text("/proc/self/fd/%d", fd));
  drain_and_close(open(text("/dev/fd/%d", fd), O_RDWR), "reopened for both");
  drain_and_close(open(path, O_RDWR | O_CREAT, 0600), "O_RDWR and O_CREAT");
  drain_and_close(open(path, O_RDWR | O_APPEND), "O_RDWR and O_APPEND");
  if (link(path, "mine") == 0) read_path("mine");
  if (rename(path, "moved") == 0) read_path("moved");
  return 0;
}
