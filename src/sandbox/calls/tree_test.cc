// Calls that change names and status, through a real Server.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#include <filesystem>

#include "base/fd.h"
#include "sandbox/testing/served_child.h"

namespace bulkhead::testing {
namespace {

using ::testing::Contains;

TEST(ServeTree, NamesChangeOnlyWhereWritingIsGranted) {
  const Folder folder;
  folder.file("w/a", "a");
  folder.file("r/b", "b");
  folder.folder("w/empty");
  const std::string result = serve({.read = {folder.path()}, .write = {folder / "w"}}, [&] {
    std::string text;
    const auto add = [&](long value) { text += outcome_of(value) + " "; };
    add(::mkdir((folder / "w/new").c_str(), 0755));
    add(::mkdir((folder / "r/new").c_str(), 0755));
    add(::mkdir((folder / "r").c_str(), 0755));
    add(::mkdir("/", 0755));
    add(::unlink((folder / "r/b").c_str()));
    add(::unlink((folder / "w/empty").c_str()));
    add(::rmdir((folder / "w/a").c_str()));
    add(::rmdir((folder / "w/empty").c_str()));
    add(::rename((folder / "w/a").c_str(), (folder / "r/a").c_str()));
    add(::rename((folder / "r/b").c_str(), (folder / "w/b").c_str()));
    add(::link((folder / "r/b").c_str(), (folder / "w/b").c_str()));
    add(::link((folder / "w/a").c_str(), (folder / "w/b").c_str()));
    add(::symlink((folder / "w/empty").c_str(), (folder / "w/l").c_str()));
    add(::symlink("x", (folder / "r/l").c_str()));
    add(::mkfifo((folder / "w/f").c_str(), 0644));
    add(::mknod((folder / "w/dev").c_str(), S_IFCHR | 0600, 0x103));
    add(::rename((folder / "w/a").c_str(), (folder / "w/c").c_str()));
    add(::unlink((folder / "w/none").c_str()));
    return text;
  });
  EXPECT_EQ(result,
            "ok EACCES EEXIST EEXIST EACCES EISDIR ENOTDIR ok EACCES EACCES EACCES ok ok EACCES ok "
            "EPERM ok ENOENT ");
}

// What the kernel says to one call after another in an empty place; the same inside, if it is
// served well.
struct Answers {
  void add(long value) { text += outcome_of(value) + " "; }
  void of_names() {
    add(::mkdir(base.c_str(), 0777));
    add(::mkdir((base + "/").c_str(), 0777));
    add(::mkdir((base + "/d/").c_str(), 0777));
    add(::mkdir((base + "/none/d").c_str(), 0777));
    add(::mkdir((base + "/.").c_str(), 0777));
    add(::rmdir((base + "/.").c_str()));
    add(::rmdir((base + "/d/..").c_str()));
    add(::rmdir(base.c_str()));
    add(::unlink((base + "/d").c_str()));
    add(::rename((base + "/.").c_str(), (base + "/e").c_str()));
    add(::rename((base + "/d").c_str(), (base + "/d/e").c_str()));
    file.reset(::open((base + "/f").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
    add(::mkdir((base + "/f/d").c_str(), 0777));
    add(::unlink((base + "/f/").c_str()));
    add(::rename((base + "/f").c_str(), (base + "/d").c_str()));
    add(::rename((base + "/d").c_str(), (base + "/f").c_str()));
    add(::rename((base + "/f").c_str(), (base + "/g/").c_str()));
    add(::renameat2(AT_FDCWD, (base + "/f").c_str(), AT_FDCWD, (base + "/d").c_str(),
                    RENAME_NOREPLACE));
    add(::renameat2(AT_FDCWD, (base + "/f").c_str(), AT_FDCWD, (base + "/none").c_str(),
                    RENAME_EXCHANGE));
    add(::link((base + "/d").c_str(), (base + "/l").c_str()));
    add(::link((base + "/f").c_str(), (base + "/d").c_str()));
    add(::symlink("", (base + "/s").c_str()));
    add(::symlink("f", (base + "/s").c_str()));
    add(::symlink("f", (base + "/s").c_str()));
    add(::linkat(AT_FDCWD, (base + "/s").c_str(), AT_FDCWD, (base + "/hs").c_str(), 0));
    add(::linkat(AT_FDCWD, (base + "/s").c_str(), AT_FDCWD, (base + "/hf").c_str(),
                 AT_SYMLINK_FOLLOW));
    add(::unlink((base + "/s/").c_str()));
    add(::rmdir((base + "/s").c_str()));
  }
  void of_status() {
    struct stat about {};
    ::stat((base + "/f").c_str(), &about);
    text += std::to_string(about.st_nlink) + " ";
    add(::chmod((base + "/f").c_str(), 0604));
    add(::fchmod(file.get(), 0644));
    add(::fchmodat(AT_FDCWD, (base + "/s").c_str(), 0600, 0));
    add(::chmod((base + "/none").c_str(), 0600));
    add(::chown((base + "/f").c_str(), ::getuid(), ::getgid()));
    add(::lchown((base + "/s").c_str(), ::getuid(), ::getgid()));
    add(::fchown(file.get(), static_cast<uid_t>(-1), ::getgid()));
    add(::fchown(99, 0, 0));
    const timespec times[2] = {{1000, 5}, {2000, 7}};
    add(::utimensat(AT_FDCWD, (base + "/f").c_str(), times, 0));
    add(::utimensat(AT_FDCWD, (base + "/s").c_str(), times, AT_SYMLINK_NOFOLLOW));
    ::stat((base + "/f").c_str(), &about);
    text +=
        std::to_string(about.st_mtim.tv_sec) + "." + std::to_string(about.st_mtim.tv_nsec) + " ";
    ::lstat((base + "/s").c_str(), &about);
    text += std::to_string(about.st_mtim.tv_sec) + " ";
    const timespec keep[2] = {{0, UTIME_OMIT}, {3000, 0}};
    add(::futimens(file.get(), keep));
    ::stat((base + "/f").c_str(), &about);
    text += std::to_string(about.st_atim.tv_sec) + "," + std::to_string(about.st_mtim.tv_sec) + " ";
    const utimbuf old = {4000, 5000};
    add(::utime((base + "/f").c_str(), &old));
    add(::utime((base + "/f").c_str(), nullptr));
    add(::truncate((base + "/f").c_str(), 10));
    add(::truncate((base + "/d").c_str(), 10));
    add(::truncate((base + "/f").c_str(), -1));
    ::stat((base + "/f").c_str(), &about);
    text += std::to_string(about.st_size) + " " + std::to_string(about.st_mode) + " ";
  }
  void of_attributes() {
    add(::setxattr((base + "/f").c_str(), "user.a", "v", 1, 0));
    add(::setxattr((base + "/f").c_str(), "user.a", "v", 1, XATTR_CREATE));
    add(::fsetxattr(file.get(), "user.b", "", 0, 0));
    char target[16] = {};
    const auto attribute = [&](const char* place, const char* name, size_t size) {
      add(::getxattr((base + place).c_str(), name, target, size));
      add(::lgetxattr((base + place).c_str(), name, target, size));
      text += std::string(target, ::strnlen(target, sizeof target)) + " ";
    };
    add(::setxattr((base + "/f").c_str(), "user.c", "word", 4, 0));
    for (const char* name : {"user.a", "user.c", "user.none", "", "none", "trusted.a",
                             "security.none", "system.posix_acl_access"}) {
      for (const char* place : {"/f", "/s", "/d", "/none"}) attribute(place, name, sizeof target);
    }
    attribute("/f", "user.c", 0);
    attribute("/f", "user.c", 3);
    attribute("/f", std::string(300, 'x').c_str(), sizeof target);
    add(::fgetxattr(file.get(), "user.c", target, sizeof target));
    add(::fgetxattr(-1, "user.c", target, sizeof target));
    const Fd path_only(::open((base + "/f").c_str(), O_PATH | O_CLOEXEC));
    add(::fgetxattr(path_only.get(), "user.c", target, sizeof target));
    add(::syscall(SYS_getxattr, (base + "/f").c_str(), "user.c", 8, 16));
    add(::removexattr((base + "/f").c_str(), "user.a"));
    add(::removexattr((base + "/f").c_str(), "user.a"));
  }
  void of_links() {
    char target[16] = {};
    add(::readlink((base + "/s").c_str(), target, 16));
    text += std::string(target, 1) + " ";
    add(::readlink((base + "/f").c_str(), target, 16));
    add(::readlink((base + "/none").c_str(), target, 16));
    add(::readlink((base + "/s").c_str(), target, 0));
  }

  const std::string base;
  std::string text = {};
  Fd file = {};
};

TEST(ServeTree, ErrorsAreTheKernels) {
  const Folder folder;
  const auto code = [&] {
    Answers answers{folder / "x"};
    answers.of_names();
    answers.of_status();
    answers.of_attributes();
    answers.of_links();
    return answers.text;
  };
  const std::string plain = code();
  std::string command = "rm -rf " + (folder / "x");
  ASSERT_EQ(::system(command.c_str()), 0);
  EXPECT_EQ(serve({.read = {folder.path()}, .write = {folder.path()}}, code), plain);
}

TEST(ServeTree, NothingAboveABlockedPathMoves) {
  const Folder folder;
  folder.file("w/a/b/key", "secret");
  folder.folder("w/x");
  std::vector<std::string> denied;
  const std::string result = serve(
      {.read = {folder / "w"}, .write = {folder / "w"}, .block = {folder / "w/a/b/key"}},
      [&] {
        std::string text;
        const auto add = [&](long value) { text += outcome_of(value) + " "; };
        add(::rename((folder / "w/a").c_str(), (folder / "w/z").c_str()));
        add(::rename((folder / "w/a/b").c_str(), (folder / "w/z").c_str()));
        add(::rename((folder / "w/a/b/key").c_str(), (folder / "w/z").c_str()));
        add(::renameat2(AT_FDCWD, (folder / "w/x").c_str(), AT_FDCWD, (folder / "w/a").c_str(),
                        RENAME_EXCHANGE));
        add(::link((folder / "w/a/b/key").c_str(), (folder / "w/z").c_str()));
        add(::rename((folder / "w/x").c_str(), (folder / "w/y").c_str()));
        return text + read_all(folder / "w/a/b/key");
      },
      &denied);
  EXPECT_EQ(result, "EACCES EACCES EACCES EACCES EACCES ok EACCES");
  EXPECT_THAT(denied, Contains("write " + (folder / "w/a")));
}

// "x/.git" is where a block looks for hooks: a link or a file there leads git to other ones.
TEST(ServeTree, WhereABlockExpectsAFolderStandsNothingElse) {
  const Folder folder;
  folder.folder("w/evil");
  folder.file("w/file", "gitdir: evil");
  folder.file("w/worktree/.git", "gitdir: elsewhere");
  folder.folder("w/x");
  std::vector<std::string> denied;
  const Grants grants = {.read = {folder.path()},
                         .write = {folder / "w"},
                         .block_write = {"**/.git/hooks", folder / "w/place/settings"},
                         .kernel_decides = {}};
  const std::string git = folder / "w/x/.git";
  const std::string result = serve(
      grants,
      [&] {
        std::string text;
        const auto add = [&](long value) { text += outcome_of(value) + " "; };
        const auto write_to = [&](const std::string& path, int flags) {
          const Fd fd(::open(path.c_str(), O_WRONLY | flags, 0644));
          add(fd.get());
        };
        write_to(git, O_CREAT);
        write_to(git, O_CREAT | O_EXCL);
        add(::symlink("../evil", git.c_str()));
        add(::link((folder / "w/file").c_str(), git.c_str()));
        add(::rename((folder / "w/file").c_str(), git.c_str()));
        add(::rename((folder / "w/evil").c_str(), git.c_str()));
        add(::mknod(git.c_str(), S_IFREG | 0644, 0));
        add(::symlink("evil", (folder / "w/place").c_str()));
        text += "| ";
        write_to(folder / "w/worktree/.git", 0);
        write_to(folder / "w/worktree/.git", O_TRUNC);
        add(::rename((folder / "w/file").c_str(), (folder / "w/worktree/.git").c_str()));
        add(::renameat2(AT_FDCWD, (folder / "w/worktree/.git").c_str(), AT_FDCWD,
                        (folder / "w/file").c_str(), RENAME_EXCHANGE));
        add(::truncate((folder / "w/worktree/.git").c_str(), 8));
        // A second name, by which it could be written.
        const Fd held(::open((folder / "w/worktree/.git").c_str(), O_RDONLY | O_CLOEXEC));
        add(::link((folder / "w/worktree/.git").c_str(), (folder / "w/second").c_str()));
        add(::linkat(held.get(), "", AT_FDCWD, (folder / "w/second").c_str(), AT_EMPTY_PATH));
        text += "| ";
        // As it was.
        text += read_all(folder / "w/worktree/.git") + " ";
        add(::mkdir(git.c_str(), 0755));
        write_to(git + "/index", O_CREAT);
        write_to(git + "/hooks", O_CREAT);
        add(::unlink((folder / "w/worktree/.git").c_str()));
        return text;
      },
      &denied);
  EXPECT_EQ(result,
            "EACCES EACCES EACCES EACCES EACCES EACCES EACCES EACCES | EACCES EACCES EACCES EACCES "
            "EACCES EACCES EACCES | gitdir: elsewhere ok ok EACCES ok ");
  EXPECT_THAT(denied, Contains("write " + git));
}

TEST(ServeTree, ANewNameGivesNoRightToRead) {
  const Folder folder;
  folder.file("drop/a", "written blindly");
  folder.folder("w");
  const std::string result =
      serve({.read = {folder / "w"}, .write = {folder / "w", folder / "drop"}}, [&] {
        std::string text;
        text += outcome_of(::rename((folder / "drop/a").c_str(), (folder / "w/a").c_str()));
        text += " ";
        text += outcome_of(::rename((folder / "drop/a").c_str(), (folder / "drop/b").c_str()));
        return text;
      });
  EXPECT_EQ(result, "EACCES ok");
}

TEST(ServeTree, AFoldersNewNameGivesNoRightToReadWhatIsInIt) {
  const Folder folder;
  folder.file("w/in/d/a", "written blindly");
  folder.file("w/names/a", "the same");
  folder.file("w/open/a", "readable");
  folder.folder("w/new");
  const Grants grants = {.read = {folder / "w/out/*/a", folder / "w/src/d", folder / "w/names/.",
                                  folder / "w/named", folder / "w/open"},
                         .write = {folder / "w"}};
  const std::string result = serve(grants, [&] {
    std::string text;
    const auto add = [&](const char* from, const char* to, unsigned flags = 0) {
      text += outcome_of(::renameat2(AT_FDCWD, (folder / from).c_str(), AT_FDCWD,
                                     (folder / to).c_str(), flags)) +
              " ";
    };
    add("w/in", "w/out");
    add("w/in/d", "w/out");
    add("w/in", "w/src");
    add("w/names", "w/named");
    ::mkdir((folder / "w/out").c_str(), 0700);
    add("w/in", "w/out", RENAME_EXCHANGE);
    add("w/out", "w/in", RENAME_EXCHANGE);
    text += "| ";
    add("w/in", "w/elsewhere");
    add("w/elsewhere/d/a", "w/elsewhere/b");
    add("w/open", "w/src");
    return text;
  });
  EXPECT_EQ(result, "EACCES EACCES EACCES EACCES EACCES EACCES | ok ok ok ");
}

TEST(ServeTree, NorDoesTheAnswerToAQuestionAboutIt) {
  const Folder folder;
  folder.file("w/secret", "secret");
  folder.file("w/notes", "notes");
  folder.file("w/d/secret", "secret");
  // The person knows what each name stands for.
  const auto answers = [](const std::string& resource) { return !resource.ends_with("secret"); };
  const std::string result = serve({.write = {folder / "w"}, .ask = answers}, [&] {
    std::string text = read_all(folder / "w/notes");
    for (const auto& [from, to] : {std::pair{"w/secret", "w/notes"},
                                   {"w/secret", "w/new"},
                                   {"w/d", "w/e"},
                                   {"w/notes", "w/new"}})
      text += " " + outcome_of(::rename((folder / from).c_str(), (folder / to).c_str()));
    return text + " " + read_all(folder / "w/notes") + " " + read_all(folder / "w/new");
  });
  EXPECT_EQ(result, "notes EACCES EACCES EACCES ok ENOENT notes");
}

TEST(ServeTree, AYesToAFoldersNameIsNoneToItsContent) {
  const Folder folder;
  folder.file("read/d/file", "x");
  folder.file("write/d/file", "x");
  const auto answers = [](const std::string& resource) { return resource.ends_with("/d"); };
  const Grants grants = {
      .read = {folder / "read", folder / "write"}, .write = {folder / "write"}, .ask = answers};
  const std::string result = serve(grants, [&] {
    std::string text;
    for (const auto& [from, to] : {std::pair{"read/d", "write/e"}, {"write/d", "write/f"}})
      text += outcome_of(::rename((folder / from).c_str(), (folder / to).c_str())) + " ";
    return text;
  });
  EXPECT_EQ(result, "EACCES ok ");
}

TEST(ServeTree, NamesAreNotExchangedWhileSomebodyOutsideFollowsThem) {
  const Folder folder;
  folder.file("w/moved/sub/file", "x");
  folder.file("w/opened/sub/file", "x");
  folder.file("w/free/file", "x");
  folder.file("w/plain", "x");
  const Grants grants = {.read = {folder / "w"},
                         .write = {folder / "w"},
                         .opened = {folder / "w/opened/sub/file", folder / "w/none"},
                         .moved = {folder / "w/moved/sub"},
                         .kernel_decides = {{folder / "w", true, true}}};
  const std::string result = serve(grants, [&] {
    std::string text;
    const auto add = [&](long value) { text += outcome_of(value) + " "; };
    add(::symlink("file", (folder / "w/moved/sub/l").c_str()));
    add(::rename((folder / "w/free/file").c_str(), (folder / "w/moved/sub/f").c_str()));
    add(::rename((folder / "w/moved").c_str(), (folder / "w/m").c_str()));
    add(::symlink("plain", (folder / "w/none").c_str()));
    add(::mkfifo((folder / "w/none").c_str(), 0600));
    add(::mkfifo((folder / "w/moved/sub/f").c_str(), 0600));
    add(::rename((folder / "w/opened").c_str(), (folder / "w/o").c_str()));
    add(::renameat2(AT_FDCWD, (folder / "w/free").c_str(), AT_FDCWD,
                    (folder / "w/opened/sub").c_str(), RENAME_EXCHANGE));
    text += "| ";
    add(::symlink("file", (folder / "w/moved/l").c_str()));
    add(::symlink("file", (folder / "w/opened/sub/l").c_str()));
    add(::mkfifo((folder / "w/opened/sub/f").c_str(), 0600));
    // As an editor saves.
    add(::rename((folder / "w/plain").c_str(), (folder / "w/opened/sub/file").c_str()));
    add(::rename((folder / "w/free").c_str(), (folder / "w/freed").c_str()));
    return text;
  });
  EXPECT_EQ(result, "EBUSY EBUSY EBUSY EBUSY EBUSY EBUSY EBUSY EBUSY | ok ok ok ok ok ");
}

TEST(ServeStatus, NeedsTheRightByPathAndByDescriptor) {
  const Folder folder;
  const std::string file = folder.file("r/a", "content");
  const Fd inherited(::open(file.c_str(), O_RDONLY));
  std::vector<std::string> denied;
  const std::string result = serve(
      {.read = {folder / "r"}},
      [&] {
        std::string text;
        const auto add = [&](long value) { text += outcome_of(value) + " "; };
        add(::chmod(file.c_str(), 0777));
        add(::fchmod(inherited.get(), 0777));
        add(::fchown(inherited.get(), 12, 12));
        add(::futimens(inherited.get(), nullptr));
        add(::utime(file.c_str(), nullptr));
        add(::truncate(file.c_str(), 0));
        add(::setxattr(file.c_str(), "user.a", "v", 1, 0));
        add(::fsetxattr(inherited.get(), "user.a", "v", 1, 0));
        add(syscall(452 /* fchmodat2 */, inherited.get(), "", 0777, AT_EMPTY_PATH));
        add(::fchownat(inherited.get(), "", 12, 12, AT_EMPTY_PATH));
        return text;
      },
      &denied);
  EXPECT_EQ(result, "EACCES EACCES EACCES EACCES EACCES EACCES EACCES EACCES EACCES EACCES ");
  EXPECT_THAT(denied, Contains("write-status " + file));
}

TEST(ServeStatus, NoPrivilegedProgramIsLeftBehind) {
  const Folder folder;
  folder.file("a", "content", 0755);
  folder.folder("d");
  EXPECT_EQ(serve({.read = {folder.path()}, .write = {folder.path()}},
                  [&] {
                    return outcome_of(::chmod((folder / "a").c_str(), 04755)) + " " +
                           outcome_of(::chmod((folder / "a").c_str(), 02755)) + " " +
                           outcome_of(::chmod((folder / "a").c_str(), 02644)) + " " +
                           outcome_of(::chmod((folder / "d").c_str(), 02755)) + " " +
                           outcome_of(::mknod((folder / "n").c_str(), S_IFREG | 04711, 0)) + " " +
                           outcome_of(::setxattr((folder / "a").c_str(), "security.capability", "x",
                                                 1, 0));
                  }),
            "EPERM EPERM EPERM ok EPERM EPERM");
}

TEST(ServeRead, LinksAndWatchesNeedTheRight) {
  const Folder folder;
  folder.file("r/a", "x");
  folder.file("c/b", "x");
  ASSERT_EQ(::symlink("target", (folder / "c/l").c_str()), 0);
  EXPECT_EQ(
      serve({.read = {folder / "r"}},
            [&] {
              char target[64];
              const int watcher = ::inotify_init1(0);
              std::string text =
                  outcome_of(::readlink((folder / "c/l").c_str(), target, sizeof target)) + " ";
              text +=
                  outcome_of(::inotify_add_watch(watcher, (folder / "r").c_str(), IN_MODIFY)) + " ";
              text +=
                  outcome_of(::inotify_add_watch(watcher, (folder / "c").c_str(), IN_MODIFY)) + " ";
              text += outcome_of(::inotify_add_watch(99, (folder / "r").c_str(), IN_MODIFY)) + " ";
              const ssize_t n = ::readlink("/proc/self/exe", target, sizeof target);
              text += n > 0 ? "ok " : "no ";
              text += outcome_of(::readlink("/proc/1/cwd", target, sizeof target));
              const ssize_t m = ::readlink("/proc/self", target, sizeof target);
              return text + " " +
                     std::to_string(std::string(target, static_cast<size_t>(m)) ==
                                    std::to_string(::getpid()));
            }),
      "EACCES ok EACCES EBADF ok EACCES 1");
}

TEST(ServeExecute, ProgramsAndTheirInterpreters) {
  const Folder folder;
  folder.file("script", "#!/bin/sh\nexit 7\n", 0755);
  folder.file("plain", "text", 0644);
  const auto run = [](const std::string& program) {
    const pid_t child = ::fork();
    if (child == 0) {
      char* const argv[] = {const_cast<char*>(program.c_str()), nullptr};
      ::execv(program.c_str(), argv);
      ::_exit(errno == EACCES ? 100 : errno == ENOENT ? 101 : 102);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return std::to_string(WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status)) + " ";
  };
  const auto code = [&] {
    return run("/bin/true") + run("/bin/false") + run(folder / "script") + run(folder / "none") +
           run(folder / "plain") + run(folder.path());
  };
  const std::vector<std::string> system = {"/usr", "/lib", "/lib64", "/bin", "/etc"};
  std::vector<std::string> read = system;
  read.push_back(folder.path());
  // A script that is named brings its interpreter; one that a tree brings does not.
  EXPECT_EQ(serve({.read = read, .run = {"/usr/bin/true", folder / "script"}}, code),
            "0 100 7 101 100 100 ");
  EXPECT_EQ(serve({.read = read, .run = {folder.path()}}, code), "100 100 100 101 100 100 ");
}

TEST(ServeExecute, AProgramWithoutAPathOnlyWhereEverythingRuns) {
  const auto code = [] {
    const int memory = ::memfd_create("program", 0);
    const std::string program = read_all("/usr/bin/true");
    (void)!::write(memory, program.data(), program.size());
    const pid_t child = ::fork();
    if (child == 0) {
      char* const argv[] = {const_cast<char*>("program"), nullptr};
      ::fexecve(memory, argv, environ);
      ::_exit(errno == EACCES ? 100 : 101);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return std::to_string(WEXITSTATUS(status));
  };
  const std::vector<std::string> system = {"/usr", "/lib", "/lib64", "/bin", "/etc"};
  EXPECT_EQ(serve({.read = system, .run = {"/usr"}}, code), "100");
  EXPECT_EQ(serve({.read = system, .run = {"/"}}, code), "0");
}

TEST(ServeRefusal, JournalNamesTheInterface) {
  std::vector<std::string> denied;
  EXPECT_EQ(serve(
                {},
                [] {
                  return outcome_of(syscall(SYS_io_uring_setup, 4, nullptr)) + " " +
                         outcome_of(::ptrace(PTRACE_TRACEME, 0, 0, 0)) + " " +
                         outcome_of(::socket(AF_INET, SOCK_RAW, 1)) + " " +
                         outcome_of(::socket(AF_ALG, SOCK_SEQPACKET, 0));
                },
                &denied),
            "ENOSYS EPERM EPERM EAFNOSUPPORT");
  EXPECT_THAT(denied, Contains("system io_uring_setup"));
  EXPECT_THAT(denied, Contains("system ptrace"));
  EXPECT_THAT(denied, Contains("system socket"));
}

TEST(ServeAudit, EverythingPassesButEscapes) {
  const Folder folder;
  folder.file("a", "x");
  const std::string result = serve({.audit = true}, [&] {
    std::string text = read_all(folder / "a") + " ";
    text += outcome_of(::unlink((folder / "a").c_str())) + " ";
    return text + read_all("/proc/1/environ");
  });
  EXPECT_EQ(result, "x ok EACCES");
}

// A caller that dies is not there to get its answer; whoever comes next must not find traces of it.
TEST(ServeTree, AKilledCallerLeavesNothingHalfDone) {
  const Folder folder;
  folder.file("target", "whole");
  const auto path = [&](const char* name) { return folder / name; };
  const std::string result = serve({.read = {folder.path()}, .write = {folder.path()}}, [&] {
    ::umask(027);
    for (int round = 0; round < 150; ++round) {
      const pid_t child = ::fork();
      if (child == 0) {
        for (;;) {
          ::mkdir(path("made").c_str(), 0777);
          ::rename(path("made").c_str(), path("moved").c_str());
          ::rmdir(path("moved").c_str());
          const Fd fd(::open(path("new").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
          (void)!::write(fd.get(), "whole", 5);
          ::rename(path("new").c_str(), path("target").c_str());
        }
      }
      ::usleep(static_cast<useconds_t>(500 + round * 37 % 1000));
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
      if (read_all(path("target")) != "whole") return std::string("the target was lost");
      // What it left, it left whole; and no lock and no mask is left over.
      for (const char* name : {"made", "moved"}) {
        struct stat about {};
        if (::stat(path(name).c_str(), &about) == 0 && (about.st_mode & 07777) != 0750)
          return std::string("another mode");
      }
      ::rmdir(path("made").c_str());
      ::rmdir(path("moved").c_str());
      ::mkdir(path("next").c_str(), 0777);
      if (::rename(path("next").c_str(), path("moved").c_str()) != 0) return outcome_of(-1);
      if (::rmdir(path("moved").c_str()) != 0) return outcome_of(-1);
    }
    ::unlink(path("new").c_str());
    return std::string("whole");
  });
  EXPECT_EQ(result, "whole");
  std::vector<std::string> left;
  for (const auto& each : std::filesystem::directory_iterator(folder.path()))
    left.push_back(each.path().filename());
  EXPECT_THAT(left, ::testing::ElementsAre("target"));
}

}  // namespace
}  // namespace bulkhead::testing
