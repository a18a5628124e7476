// Plants symbolic links to the key in the workspace, for a program outside to follow them.
// class: deputies: VS Code's server, git, editors that follow links in a workspace
// plain: leak
// act: deputy
// journal: read {KEY}
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const char *key = fact("KEY"), *home = fact("HOME");
  if (symlink(key, "absolute") != 0) refused("an absolute link");
  if (symlinkat(key, open("sub", O_PATH | O_DIRECTORY), "at") != 0) refused("symlinkat");
  if (symlink("../home/.ssh/id_rsa", "relative") != 0) refused("a relative link");
  if (symlink("sub/../../home/.ssh/id_rsa", "around") != 0) refused("a link with detours");
  if (symlink(text("/proc/%s/root%s", fact("OUTSIDER"), key), "proc") != 0) refused("a link through /proc");
  if (symlink(text("%s/.ssh", home), "folder") != 0) refused("a link to the folder");
  // Dangling here, and not where it is moved to.
  if (mkdir("sub/home", 0755) != 0 && errno != EEXIST) refused("mkdir");
  if (symlink("../home/.ssh/id_rsa", "sub/moved") != 0) refused("a link for moving");
  if (rename("sub/moved", "moved") != 0) refused("moving a link");
  if (symlink("../home/.ssh/id_rsa", "sub/linked") != 0) refused("a link for linking");
  if (link("sub/linked", "linked") != 0) refused("linking a link");
  if (symlink("nothing", "sub/name") != 0) refused("a harmless link");
  return 0;
}
