// As root: drops to other users and groups, in the ways that daemons and package tools do, or drops
// capabilities, and looks what it may then open, change and make, and whose the new files are. The file
// system's own rules must hold for who is left, though the one who serves is root.
// modes: root-granted root-served
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int top;

static void look(const char* who) {
  struct stat status;
  char made[64];
  snprintf(made, sizeof made, "shared/%s", who);
  const int fd = open(made, O_CREAT | O_EXCL | O_WRONLY, 0664);
  printf("%s: make %s", who, fd < 0 ? strerrorname_np(errno) : "0");
  if (fd >= 0 && fstat(fd, &status) == 0) printf(" is %u:%u", status.st_uid, status.st_gid);
  if (fd >= 0) close(fd);
#define TRY(call) printf(" %s", (call) < 0 ? strerrorname_np(errno) : "0")
  printf("\n %s: open", who);
  TRY(open("private", O_RDONLY));
  TRY(open("private", O_WRONLY));
  TRY(open("grouped", O_RDWR));
  TRY(open("theirs", O_RDWR));
  TRY(open("closed/file", O_RDONLY));
  TRY(open("closed", O_RDONLY | O_DIRECTORY));
  TRY(open("root-only/new", O_CREAT | O_WRONLY, 0600));
  TRY(open("readonly", O_WRONLY));
  TRY(open("theirs", O_RDONLY | O_NOATIME));
  TRY(open("private", O_RDONLY | O_NOATIME));
  printf("\n %s: change", who);
  TRY(chmod("private", 0600));
  TRY(chmod("theirs", 0640));
  TRY(chown("theirs", (uid_t)-1, 1000));
  TRY(chown("theirs", 0, 0));
  TRY(chown("private", 1000, 1000));
  TRY(truncate("private", 1));
  TRY(truncate("theirs", 1));
  TRY(utimensat(AT_FDCWD, "private", NULL, 0));
  TRY(utimensat(AT_FDCWD, "open", NULL, 0));
  TRY(utimensat(AT_FDCWD, "open", (struct timespec[]){{1, 1}, {1, 1}}, 0));
  TRY(unlink("root-only/file"));
  TRY(unlink("sticky/file"));
  TRY(rename("sticky/file", "sticky/other"));
  TRY(rename("private", "shared/private"));
  TRY(mkdir("root-only/folder", 0755));
  TRY(mkdir("closed/folder", 0755));
  TRY(symlink("x", "root-only/link"));
  TRY(link("private", "shared/linked"));
  TRY(mknod("root-only/pipe", S_IFIFO | 0600, 0));
  char target[64];
  TRY(readlink("closed/link", target, sizeof target));
  TRY(access("private", R_OK));
  TRY(chdir("closed"));
  TRY(execl("closed/program", "program", NULL));
  printf("\n");
  if (fchdir(top) != 0) exit(92);
  unlink(made);
  fflush(stdout);
}

static void file(const char* name, mode_t mode, uid_t uid, gid_t gid) {
  const int fd = open(name, O_CREAT | O_WRONLY, 0600);
  if (fd < 0 || write(fd, name, strlen(name)) < 0 || fchown(fd, uid, gid) != 0 || fchmod(fd, mode) != 0) exit(90);
  close(fd);
}

// Of chown 0, dac-override 1, dac-read-search 2, fowner 3, fsetid 4, kill 5, setgid 6, setuid 7.
static void keep(unsigned capabilities) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct sets[2] = {{capabilities, capabilities, 0}, {0, 0, 0}};
  if (syscall(SYS_capset, &header, sets) != 0) printf("%s\n", strerrorname_np(errno));
}

static void* weak_thread(void* unused) {
  (void)unused;
  keep(0);
  look("weak-thread");
  return NULL;
}

static void* dropped_thread(void* unused) {
  (void)unused;
  // Only this thread: libc's wrappers would drop all of them.
  syscall(SYS_setresgid, 1000, 1000, 1000);
  syscall(SYS_setresuid, 1000, 1000, 1000);
  look("thread");
  return NULL;
}

// What the one before could move, make or change.
static void make_again(void) {
  const char* const made[] = {"shared/private", "shared/linked", "sticky/other", "root-only/link", "root-only/pipe", "root-only/new"};
  for (unsigned i = 0; i < sizeof made / sizeof *made; ++i) unlink(made[i]);
  rmdir("root-only/folder"), rmdir("closed/folder");
  file("private", 0600, 0, 0), file("theirs", 0600, 1000, 1000), file("sticky/file", 0644, 0, 0), file("root-only/file", 0644, 0, 0);
}

int main(void) {
  umask(022);
  top = open(".", O_RDONLY | O_DIRECTORY);
  mkdir("shared", 0777), chmod("shared", 0777);
  mkdir("closed", 0700), mkdir("root-only", 0755), mkdir("sticky", 0777), chmod("sticky", 01777);
  file("private", 0600, 0, 0), file("grouped", 0660, 0, 1234), file("theirs", 0600, 1000, 1000), file("open", 0666, 0, 0), file("readonly", 0444, 0, 0);
  file("closed/file", 0644, 0, 0), file("closed/program", 0755, 0, 0), file("root-only/file", 0644, 0, 0), file("sticky/file", 0644, 0, 0);
  if (symlink("x", "closed/link") != 0) return 91;
  look("root");
  file("private", 0600, 0, 0), file("theirs", 0600, 1000, 1000), file("sticky/file", 0644, 0, 0), file("root-only/file", 0644, 0, 0);
  fflush(stdout);
  for (int n = 0; n < 13; ++n) {
    // Who drops capabilities comes first: from the first change of identity on, all are looked at.
    const int way = (n + 6) % 13;
    make_again();
    const pid_t child = fork();
    if (child == 0) {
      gid_t groups[] = {1234};
      switch (way) {
        case 0: if (setgroups(0, NULL) || setgid(1000) || setuid(1000)) printf("%s\n", strerrorname_np(errno)); look("user"); break;
        case 1: if (setgroups(1, groups) || setgid(1000) || setuid(1000)) printf("%s\n", strerrorname_np(errno)); look("grouped"); break;
        case 2: if (seteuid(1000)) printf("%s\n", strerrorname_np(errno)); look("effective"); if (seteuid(0)) printf("%s\n", strerrorname_np(errno)); look("back"); break;
        case 3: setfsgid(1000); setfsuid(1000); look("fsuid"); break;
        case 4: if (setresuid(1000, 1000, 0)) printf("%s\n", strerrorname_np(errno)); look("saved"); break;
        case 5: { pthread_t t; pthread_create(&t, NULL, dropped_thread, NULL); pthread_join(t, NULL); look("leader"); break; }
        case 6: keep(0); look("weak"); break;
        case 7: keep(0xf9); look("no-dac"); break;
        case 8: keep(0xfd); look("no-dac-override"); break;
        case 9: keep(0xf7); look("no-fowner"); break;
        case 10: keep(0xfe); look("no-chown"); break;
        case 11: { pthread_t t; pthread_create(&t, NULL, weak_thread, NULL); pthread_join(t, NULL); look("strong-leader"); break; }
        case 12:  // another user who keeps some
          if (prctl(PR_SET_KEEPCAPS, 1) || setgid(1000) || setuid(1000)) printf("%s\n", strerrorname_np(errno));
          keep(0x6);
          look("strong-user");
          break;
      }
      fflush(stdout);
      _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    printf("way %d ended with %d\n", way, status);
    fflush(stdout);
  }
  return 0;
}
