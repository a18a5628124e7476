// Makes a repository as git does, and brings into its settings and hooks what runs later: by a
// descriptor that is held over the rename, by bytes that change while they are judged, by a link in
// the lock's place, by an example that becomes a hook.
// class: Extensions: .git/config written in two steps
// plain: say
// flags: --run @programs
// journal: write {W}/made/.git/config
#include "race.h"

#define EVIL "[core]\n\tfsmonitor = planted\n"
#define GOOD "[user]\n\tname = 01234567890123456789\n"

static const char *config = "made/.git/config", *lock = "made/.git/config.lock";
static int held = -1;

static void put(const char* path, const char* content) {
  const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0755);
  if (fd < 0 || write(fd, content, strlen(content)) < 0) refused(path);
  if (fd >= 0) close(fd);
}

static void look(const char* way) {
  char content[4096] = {0};
  const int fd = open(config, O_RDONLY);
  if (fd >= 0 && read(fd, content, sizeof content - 1) > 0 && strstr(content, "planted")) effect("settings %s", way);
  if (fd >= 0) close(fd);
  if (access("made/.git/hooks/pre-commit", F_OK) == 0) effect("a hook %s", way);
}

static void* flip_content(void* unused) {
  (void)unused;
  while (!race_over) {
    if (held < 0) continue;
    pwrite(held, EVIL, strlen(EVIL), 0);
    pwrite(held, GOOD, strlen(GOOD), 0);
  }
  return NULL;
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  _Static_assert(sizeof EVIL <= sizeof GOOD, "one covers the other");
  mkdir("made", 0755);
  if (mkdir("made/.git", 0755) != 0) refused("mkdir .git");
  if (mkdir("made/.git/hooks", 0755) != 0) refused("mkdir hooks");
  put(lock, EVIL);
  if (rename(lock, config) != 0) refused("rename");
  look("by a rename");
  unlink(config);

  int fd = open(lock, O_RDWR | O_CREAT | O_TRUNC, 0644);
  if (write(fd, GOOD, strlen(GOOD)) < 0 || rename(lock, config) != 0) refused("a held lock");
  if (ftruncate(fd, 0) != 0 || pwrite(fd, EVIL, strlen(EVIL), 0) < 0) refused("writing on");
  close(fd);
  look("by a descriptor");

  put(lock, GOOD);
  if (link(lock, "second") != 0) refused("link");
  if (rename(lock, config) != 0) refused("rename");
  put("second", EVIL);
  look("by a second name");
  unlink("second");

  put("elsewhere", GOOD);
  if (symlink("../../elsewhere", lock) != 0 || rename(lock, config) != 0) refused("a link in the lock's place");
  put("elsewhere", EVIL);
  look("by a link");
  unlink(lock);

  put("made/.git/hooks/pre-commit.sample", "planted\n");
  if (rename("made/.git/hooks/pre-commit.sample", "made/.git/hooks/pre-commit") != 0) refused("rename of an example");
  if (link("made/.git/hooks/pre-commit.sample", "made/.git/hooks/pre-commit") != 0) refused("link of an example");
  mkdir("other", 0755);
  put("other/pre-commit", "planted\n");
  rmdir("made/.git/hooks");
  if (rename("other", "made/.git/hooks") != 0) refused("a folder in the place of hooks");
  if (symlink("../../other", "made/.git/hooks") != 0) refused("a link in the place of hooks");
  look("of another name");

  const pthread_t thread = race_begin(flip_content);
  for (int i = 0; race_goes_on(i, 300); ++i) {
    held = open(lock, O_RDWR | O_CREAT | O_TRUNC, 0644);
    pwrite(held, GOOD, strlen(GOOD), 0);
    sched_yield();
    rename(lock, config);
    sched_yield();
    char content[4096] = {0};
    fd = open(config, O_RDONLY);
    if (fd >= 0 && read(fd, content, sizeof content - 1) > 0 && strstr(content, "planted")) {
      effect("settings by a race");
      break;
    }
    close(fd);
    const int old = held;
    held = -1;
    close(old);
  }
  race_end(thread);
  return 0;
}
