// Leaves a key in the user's keyring, where programs outside find it, and reads what is there.
// class: OS sandboxes: keyrings shared by user
// plain: say
// journal: system *key*
#include "attack.h"
#include <linux/keyctl.h>

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const int rings[] = {KEY_SPEC_USER_KEYRING, KEY_SPEC_USER_SESSION_KEYRING, KEY_SPEC_SESSION_KEYRING, KEY_SPEC_PROCESS_KEYRING};
  for (unsigned i = 0; i < sizeof rings / sizeof *rings; ++i) {
    const long key = syscall(SYS_add_key, "user", fact("MARK"), "loot", 4, rings[i]);
    if (key < 0) {
      refused("add_key");
      continue;
    }
    effect("a key in ring %d", rings[i]);
    syscall(SYS_keyctl, KEYCTL_UNLINK, key, rings[i]);
  }
  if (syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_USER_KEYRING, 0) >= 0) effect("the user's keyring");
  else refused("keyctl");
  if (syscall(SYS_request_key, "user", fact("MARK"), NULL, 0) >= 0) effect("request_key");
  return 0;
}
