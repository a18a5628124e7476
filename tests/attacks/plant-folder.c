// Leads programs outside that look for settings in a folder of a known name to another folder of the
// attack's own, which no block names: by a link in its place, by git's file that says where the
// folder is (made, cut short, written by a second name, moved along with a folder), by git's file
// that says where its settings are.
// class: Extensions: .git/hooks written in the workspace; OS sandboxes: symlinks
// plain: change
// journal: write {W}/fresh/.git
// journal: write {W}/fresh/.vscode
// journal: write {W}/.git/commondir
// journal: write {W}/worktree/.git
// journal: write {W}/moved/.git/worktrees/worktree/config
#include "attack.h"

static void write_to(const char* path, const char* content) {
  const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (fd < 0) return refused(path);
  if (write(fd, content, strlen(content)) > 0) effect("wrote %s", path);
  close(fd);
}
static void did(const char* what, long result) {
  if (result == 0)
    effect("%s", what);
  else
    refused(what);
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  mkdir("fresh", 0755);
  mkdir("other", 0755);
  mkdir("fresh/.git.d", 0755);
  write_to(".git/commondir", "../other\n");
  write_to("fresh/.git", "gitdir: ../other\n");
  // The first 12 letters name the workspace, where git then finds what it looks for in a repository.
  did("cut short", truncate("worktree/.git", 12));
  const int pointer = open("worktree/.git", O_RDONLY);
  if (link("worktree/.git", "second") != 0) refused("second name");
  if (linkat(pointer, "", AT_FDCWD, "third", AT_EMPTY_PATH) != 0) refused("by a descriptor");
  if (access("second", F_OK) == 0) write_to("second", "gitdir: ../other\n");
  if (access("third", F_OK) == 0) write_to("third", "gitdir: ../other\n");
  mkdir("moved", 0755);
  mkdir("moved/.git", 0755);
  mkdir("moved/.git/worktrees", 0755);
  mkdir("moved/.git/worktrees/worktree", 0755);
  if (rename("worktree", "moved/worktree") != 0) refused("moved pointer");
  write_to("moved/.git/worktrees/worktree/config", "[core]\nfsmonitor = planted\n");
  mkdir("moved/.git/worktrees/worktree/hooks", 0755);  // empty, it runs nothing
  const int hook = open("moved/.git/worktrees/worktree/hooks/pre-commit", O_WRONLY | O_CREAT, 0755);
  did("hooks", hook < 0 ? -1 : 0);
  did("link", symlink("../other", "fresh/.git"));
  did("link of settings", symlink("../other", "fresh/.vscode"));
  did("link above hooks", symlink("../other", "fresh/bare.git"));
  const int file = open("plant", O_WRONLY | O_CREAT, 0644);
  dprintf(file, "gitdir: ../other\n");
  close(file);
  did("moved file", rename("plant", "fresh/.git"));
  did("hard link", link("plant", "fresh/.git"));
  did("node", mknod("fresh/.git", S_IFREG | 0644, 0));
  symlink("../other", "fresh/link");
  did("moved link", rename("fresh/link", "fresh/.vscode"));
  did("moved folder", rename("other", "fresh/.git"));
  const int here = open("fresh", O_PATH);
  struct {
    uint64_t flags, mode, resolve;
  } how = {O_WRONLY | O_CREAT, 0644, 8 /* RESOLVE_BENEATH */};
  const int scoped = (int)syscall(437 /* openat2 */, here, ".git", &how, sizeof how);
  did("openat2", scoped < 0 ? -1 : 0);
  return 0;
}
