// Spells the key's path in ways that a textual match reads otherwise.
// class: spelling: `..`, `//`, `/./`, trailing forms
// plain: leak
// journal: read {KEY}
#include "attack.h"

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const char *w = fact("W"), *home = fact("HOME"), *key = fact("KEY");
  const char* spellings[] = {
      text("%s/../home/.ssh/id_rsa", w),
      text("%s/sub/../../home/./.ssh//id_rsa", w),
      text("//%s", key),
      text("/..%s", key),
      text("/.%s", key),
      text("%s/.ssh/../.ssh/id_rsa", home),
      text("/proc/../%s", key),
      text("/usr/../usr/lib/../..%s", key),
      text("/proc/self/task/../../..%s", key),
      "../home/.ssh/id_rsa",
      "./sub/../../home/.ssh/id_rsa",
      "sub/..//..//home//.ssh//id_rsa",
  };
  for (unsigned i = 0; i < sizeof spellings / sizeof *spellings; ++i) read_path(spellings[i]);
  // Nearly as long as a path may be.
  char longest[PATH_MAX] = "";
  size_t n = 0;
  while (n + strlen(key) + 4 < sizeof longest) n += (size_t)sprintf(longest + n, "/./");
  strcpy(longest + n, key);
  read_path(longest);
  return 0;
}
