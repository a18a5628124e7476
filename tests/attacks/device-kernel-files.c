// Opens for writing the kernel's own files that run programs or restart the machine. Writes nothing.
// class: OS sandboxes: core_pattern, sysrq-trigger, uevent_helper, release_agent
// plain: say
// as: root
// flags: --read / --write / --unblock all
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const char* files[] = {"/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/kernel/hostname",
                         "/proc/sysrq-trigger", "/sys/kernel/uevent_helper", "/proc/sys/vm/drop_caches",
                         "/proc/sys/fs/binfmt_misc/register", "/sys/power/state", "/proc/sys/kernel/poweroff_cmd"};
  for (unsigned i = 0; i < sizeof files / sizeof *files; ++i) {
    const int fd = open(files[i], O_WRONLY);
    if (fd >= 0) effect("opened %s for writing", files[i]);
    else refused(files[i]);
  }
  return 0;
}
