// Plants start-up files in the home folder, which the user's shell, git and desktop outside would run.
// class: persistence: malicious packages that append to shell profiles or add autostart entries
// plain: change
// flags: --private
// journal: write {HOME}/.bashrc
#include "attack.h"

static void plant(const char* name, const char* content) {
  const char* path = text("%s/%s", fact("HOME"), name);
  const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0700);
  if (fd < 0 || write(fd, content, strlen(content)) < 0) refused(name);
  if (fd >= 0) close(fd);
}

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const char* home = fact("HOME");
  const char* folders[] = {".config", ".config/autostart", ".config/systemd", ".config/systemd/user", ".ssh", ".local", ".local/bin"};
  for (size_t i = 0; i < sizeof folders / sizeof *folders; ++i)
    if (mkdir(text("%s/%s", home, folders[i]), 0700) != 0 && errno != EEXIST) refused(folders[i]);
  plant(".bashrc", "echo planted\n");
  plant(".profile", "echo planted\n");
  plant(".ssh/authorized_keys", "ssh-ed25519 planted\n");
  plant(".gitconfig", "[core]\n\tfsmonitor = planted\n");
  plant(".config/autostart/planted.desktop", "[Desktop Entry]\nExec=planted\n");
  plant(".config/systemd/user/planted.service", "[Service]\nExecStart=planted\n");
  plant(".local/bin/git", "#!/bin/sh\n");
  // And in the place of what is there.
  const char* over = text("%s/.bashrc.new", home);
  plant(".bashrc.new", "echo planted\n");
  if (rename(over, text("%s/.bashrc", home)) != 0) refused("rename over .bashrc");
  if (unlink(text("%s/.aws/credentials", home)) != 0) refused("unlink");
  if (chmod(text("%s/.ssh/id_rsa", home), 0644) != 0) refused("chmod");
  return 0;
}
