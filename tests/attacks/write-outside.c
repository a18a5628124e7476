// Changes files outside by path: create, overwrite, truncate, append, remove, make folders, links, pipes.
// class: OS sandboxes: writes outside the workspace
// plain: change
// journal: write {SECRET}
#include "attack.h"
#include <sys/socket.h>
#include <sys/un.h>

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const char *out = fact("OUTSIDE"), *secret = fact("SECRET");
  put_file(text("%s/new.txt", out), "new");
  if (open(text("%s/created", out), O_RDONLY | O_CREAT, 0644) < 0) refused("O_CREAT without writing");
  if (open(text("%s/exclusive", out), O_RDWR | O_CREAT | O_EXCL, 0644) < 0) refused("O_EXCL");
  if (open(secret, O_WRONLY | O_APPEND) < 0) refused("append");
  else effect("opened for appending");
  if (symlink(text("%s/through-link", out), "dangling") != 0) refused("symlink");
  if (open("dangling", O_WRONLY | O_CREAT, 0644) < 0) refused("O_CREAT through a dangling link");
  if (symlink(out, "way-out") != 0) refused("symlink");
  if (mkdir("way-out/folder-by-link", 0755) != 0) refused("mkdir through a link");
  if (rename("sub/file.txt", "way-out/renamed-by-link") != 0) refused("rename through a link");
  if (creat(text("%s/by-creat", out), 0644) < 0) refused("creat");
  if (open(secret, O_RDONLY | O_TRUNC) < 0) refused("truncate by open");
  if (truncate(secret, 1) != 0) refused("truncate");
  if (mkdir(text("%s/folder", out), 0755) != 0) refused("mkdir");
  if (mknod(text("%s/pipe", out), S_IFIFO | 0644, 0) != 0) refused("mknod");
  if (mknod(text("%s/file", out), S_IFREG | 0644, 0) != 0) refused("mknod of a file");
  if (symlink("target", text("%s/symlink", out)) != 0) refused("symlink");
  if (link("allowed.txt", text("%s/link", out)) != 0) refused("link");
  if (rename("allowed.txt", text("%s/renamed", out)) != 0) refused("rename");
  const int temporary = open(out, O_TMPFILE | O_RDWR, 0600);
  if (temporary < 0) refused("O_TMPFILE");
  else if (linkat(temporary, "", AT_FDCWD, text("%s/tmpfile", out), AT_EMPTY_PATH) != 0 &&
           linkat(AT_FDCWD, text("/proc/self/fd/%d", temporary), AT_FDCWD, text("%s/tmpfile", out), AT_SYMLINK_FOLLOW) != 0)
    refused("link of a temporary file");
  // A temporary file of the workspace, given a name outside.
  const int mine = open(".", O_TMPFILE | O_RDWR, 0600);
  if (mine < 0 || linkat(AT_FDCWD, text("/proc/self/fd/%d", mine), AT_FDCWD, text("%s/moved-out", out), AT_SYMLINK_FOLLOW) != 0)
    refused("temporary file moved out");
  struct sockaddr_un a = {.sun_family = AF_UNIX};
  snprintf(a.sun_path, sizeof a.sun_path, "%s/socket", out);
  if (bind(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr*)&a, sizeof a) != 0) refused("bind");
  if (unlink(text("%s/watched/file", out)) != 0) refused("unlink");
  if (unlink(fact("KEY")) != 0) refused("unlink of the key");
  if (rmdir(text("%s/watched", out)) != 0) refused("rmdir");
  return 0;
}
