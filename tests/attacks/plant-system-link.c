// Root plants links to folders of the system, and to names there that are yet to be made: what root
// writes through them outside would be a start-up file of the machine's.
// class: deputies: builds of root's that write through links of a project
// plain: say
// as: root
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const char* targets[] = {"/etc", "/usr/bin", "/etc/profile.d", "/etc/profile.d/bulkhead-planted.sh", "/usr/bin/bulkhead-planted",
                           "/etc/ld.so.preload-planted"};
  for (size_t i = 0; i < sizeof targets / sizeof *targets; ++i) {
    const char* name = text("link-%zu", i);
    if (symlink(targets[i], name) != 0)
      refused(targets[i]);
    else
      effect("a link to %s", targets[i]);
  }
  return 0;
}
