// Makes a link in the workspace whose words lead to the workspace in its own home, and to the key
// for whoever follows it outside.
// class: deputies: VS Code's server, git, editors that follow links in a workspace
// plain: leak
// act: deputy
// flags: --private
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const char *home = fact("HOME"), *work = fact("W");
  if (!inside()) {
    symlink(fact("KEY"), text("%s/plain", work));
    return 0;
  }
  // In the private home ".ssh" is the workspace, where a file of that name may be read.
  close(open(text("%s/id_rsa", work), O_WRONLY | O_CREAT, 0600));
  if (symlink(work, text("%s/.ssh", home)) != 0) refused("a link in the home");
  if (symlink(text("%s/.ssh/id_rsa", home), text("%s/stolen", work)) != 0) refused("a link by the home");
  if (symlink("../home/.ssh/id_rsa", text("%s/climbing", work)) != 0) refused("a link that climbs");
  if (symlink(text("%s/.ssh", home), text("%s/folder", work)) != 0) refused("a link to the folder");
  // Prepared at home, where links are free, and moved.
  if (symlink(text("%s/.ssh/id_rsa", home), text("%s/ready", home)) != 0) refused("a link at home");
  if (rename(text("%s/ready", home), text("%s/moved", work)) != 0) refused("moving a link");
  if (link(text("%s/ready", home), text("%s/linked", work)) != 0) refused("linking a link");
  return 0;
}
