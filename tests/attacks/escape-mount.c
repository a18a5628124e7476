// Binds the key's folder into the workspace, in a mount namespace of its own if it must.
// class: OS sandboxes: bind mounts, user namespaces
// plain: leak
// journal: system *unshare*
#include "attack.h"
#include <sched.h>

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  if (mkdir("mount", 0755) != 0) refused("mkdir");
  // The mount must not be seen by the rest of the machine in the plain run.
  if (unshare(CLONE_NEWNS) != 0) {
    refused("unshare of the mount namespace");
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) refused("unshare of user and mount namespaces");
  }
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) refused("mount private");
  if (mount(text("%s/.ssh", fact("HOME")), "mount", NULL, MS_BIND, NULL) != 0) refused("bind");
  read_path("mount/id_rsa");
  if (mount("proc", "sub", "proc", 0, NULL) != 0) refused("mount of proc");
  if (mount("none", "sub", "tmpfs", 0, NULL) == 0) effect("mounted a file system");
  else refused("mount of tmpfs");
  return 0;
}
