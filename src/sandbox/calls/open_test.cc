// open and friends through a real Server: what the child sees, and what reaches the journal.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>

#include "base/fd.h"
#include "sandbox/testing/served_child.h"

namespace bulkhead::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

std::string try_open(const std::string& path, int flags, mode_t mode = 0644) {
  const Fd fd(::open(path.c_str(), flags | O_CLOEXEC, mode));
  return outcome_of(fd.get());
}

TEST(ServeOpen, ReadsWhatIsGrantedAndNothingElse) {
  const Folder folder;
  folder.file("open/a.txt", "content");
  folder.file("closed/key", "secret");
  std::vector<std::string> denied;
  const std::string result = serve(
      {.read = {folder / "open"}},
      [&] {
        return read_all(folder / "open/a.txt") + " " + read_all(folder / "closed/key") + " " +
               read_all(folder / "open/missing") + " " + try_open(folder / "open/a.txt", O_WRONLY) +
               " " + try_open(folder / "open", O_RDONLY | O_DIRECTORY) + " " +
               try_open(folder / "closed", O_RDONLY | O_DIRECTORY);
      },
      &denied);
  EXPECT_EQ(result, "content EACCES ENOENT EACCES ok EACCES");
  EXPECT_THAT(denied, Contains("read " + (folder / "closed/key")));
  EXPECT_THAT(denied, Contains("write " + (folder / "open/a.txt")));
}

TEST(ServeAccess, AnswersAsOpenWould) {
  const Folder folder;
  folder.file("open/a.txt", "content");
  folder.file("closed/key", "secret");
  ASSERT_EQ(::symlink("../closed/key", (folder / "open/link").c_str()), 0);
  std::vector<std::string> denied;
  const std::string result = serve(
      {.read = {folder / "open"}},
      [&] {
        std::string text;
        for (const char* name : {"open/a.txt", "closed/key", "open/link", "closed", "closed/none"})
          for (const int mode : {R_OK, F_OK})
            text += outcome_of(::access((folder / name).c_str(), mode)) + " ";
        text += outcome_of(::faccessat(AT_FDCWD, (folder / "closed/key").c_str(), R_OK, 0)) + " ";
        text += outcome_of(
            ::faccessat(AT_FDCWD, (folder / "open/link").c_str(), R_OK, AT_SYMLINK_NOFOLLOW));
        return text;
      },
      &denied);
  EXPECT_EQ(result, "ok ok EACCES ok EACCES ok EACCES ok ENOENT ENOENT EACCES ok");
  // Who asks whether it may read learns what opening would say, and has tried as much.
  const std::string key = "read " + (folder / "closed/key");
  EXPECT_THAT(denied, ElementsAre(key, key, "read " + (folder / "closed"), key));
}

TEST(ServeOpen, SpellingsLeadToTheSameDecision) {
  const Folder folder;
  folder.file("open/a.txt", "content");
  folder.file("open2/b.txt", "sibling");
  folder.file("closed/key", "secret");
  ASSERT_EQ(::symlink("../closed/key", (folder / "open/link").c_str()), 0);
  ASSERT_EQ(::symlink("../closed", (folder / "open/dir").c_str()), 0);
  ASSERT_EQ(::symlink("open/a.txt", (folder / "allowed").c_str()), 0);
  const std::string result = serve({.read = {folder / "open"}}, [&] {
    ::chdir((folder / "open").c_str());
    std::string text;
    for (const std::string& path :
         {folder / "open/../closed/key", folder / "open/link", folder / "open/dir/key",
          folder / "open2/b.txt", std::string("../closed/key"), std::string("link"),
          "/proc/self/root" + (folder / "closed/key"), std::string("/proc/self/cwd/../closed/key"),
          "/proc/thread-self/root" + (folder / "closed/key")})
      text += read_all(path) + " ";
    for (const std::string& path :
         {folder / "open//./a.txt", folder / "open/../open/a.txt", folder / "allowed",
          std::string("a.txt"), std::string("./a.txt"), std::string("/proc/self/cwd/a.txt"),
          "/proc/self/root" + (folder / "open/a.txt")})
      text += read_all(path) + " ";
    return text;
  });
  EXPECT_EQ(result,
            "EACCES EACCES EACCES EACCES EACCES EACCES EACCES EACCES EACCES "
            "content content content content content content content ");
}

// A block of "**/.env" means the name; where a link of that name leads has another one.
TEST(ServeOpen, ABlockedNameIsRefusedWhereverItLeads) {
  const Folder folder;
  folder.file("conf/env.local", "value");
  folder.file("conf/tool", "#!/bin/sh\n");
  folder.file("dot/tasks.json", "{}");
  folder.folder("sub");
  ASSERT_EQ(::chmod((folder / "conf/tool").c_str(), 0755), 0);
  ASSERT_EQ(::symlink("conf/env.local", (folder / ".env").c_str()), 0);
  ASSERT_EQ(::symlink("../conf/env.local", (folder / "sub/.env").c_str()), 0);
  ASSERT_EQ(::symlink("../conf/new", (folder / "sub/.new").c_str()), 0);
  ASSERT_EQ(::symlink("dot", (folder / ".vscode").c_str()), 0);
  ASSERT_EQ(::symlink("conf/env.local", (folder / "free").c_str()), 0);
  ASSERT_EQ(::symlink("conf/tool", (folder / "runner").c_str()), 0);
  std::vector<std::string> denied;
  const std::string result = serve(
      {.read = {folder.path()},
       .write = {folder.path()},
       .block = {"**/.env", "**/runner"},
       .run = {folder.path()},
       .block_write = {"**/.vscode/tasks.json", "**/.new"}},
      [&] {
        ::chdir((folder / "sub").c_str());
        std::string text;
        for (const std::string& name :
             {folder / ".env", std::string("../.env"), std::string(".env"), folder / "sub//.env",
              folder / "free", folder / ".vscode/tasks.json"})
          text += read_all(name) + " ";
        for (const char* name : {"../.vscode/tasks.json", "../dot/tasks.json", ".new", ".env"})
          text += try_open(name, O_WRONLY | O_CREAT) + " ";
        open_how how{.flags = O_RDONLY, .mode = 0, .resolve = RESOLVE_IN_ROOT};
        const Fd root(::open("..", O_PATH | O_CLOEXEC));
        text += outcome_of(::syscall(SYS_openat2, root.get(), "/.env", &how, sizeof how)) + " ";
        text += outcome_of(::access("../.env", R_OK)) + " ";
        text += outcome_of(::chmod("../.vscode/tasks.json", 0600)) + " ";
        text += outcome_of(::truncate((folder / ".vscode/tasks.json").c_str(), 0)) + " ";
        text += outcome_of(::linkat(AT_FDCWD, ".env", AT_FDCWD, "mine", AT_SYMLINK_FOLLOW)) + " ";
        ::execl((folder / "runner").c_str(), "runner", nullptr);
        return text + outcome_of(-1);
      },
      &denied);
  EXPECT_EQ(result,
            "EACCES EACCES EACCES EACCES value {} EACCES ok EACCES EACCES EACCES EACCES EACCES "
            "EACCES EACCES EACCES");
  EXPECT_THAT(denied, Contains("read " + (folder / ".env")));
  EXPECT_THAT(denied, Contains("write " + (folder / ".vscode/tasks.json")));
  EXPECT_THAT(denied, Contains("run " + (folder / "runner")));
}

TEST(ServeOpen, ErrorsAreTheKernels) {
  const Folder folder;
  folder.file("a", "x");
  folder.folder("d");
  ASSERT_EQ(::symlink("loop", (folder / "loop").c_str()), 0);
  ASSERT_EQ(::symlink("a", (folder / "link").c_str()), 0);
  ASSERT_EQ(::symlink("gone", (folder / "dangling").c_str()), 0);
  const auto code = [&] {
    std::string text;
    const auto add = [&](const std::string& path, int flags, mode_t mode = 0600) {
      text += try_open(path, flags, mode) + " ";
    };
    add(folder / "a/", O_RDONLY);
    add(folder / "a/b", O_RDONLY);
    add(folder / "d", O_WRONLY);
    add(folder / "d", O_RDONLY | O_CREAT);
    add(folder / "new/", O_WRONLY | O_CREAT);
    add(folder / "new/.", O_WRONLY | O_CREAT);
    add(folder / "new", O_RDONLY);
    add(folder / "none/new", O_WRONLY | O_CREAT);
    add(folder / "loop", O_RDONLY);
    add(folder / "link", O_RDONLY | O_NOFOLLOW);
    add(folder / "link", O_WRONLY | O_CREAT | O_EXCL);
    add(folder / "dangling", O_WRONLY | O_CREAT | O_EXCL);
    add(folder / "dangling", O_RDONLY);
    add(folder / "a", O_RDONLY | O_DIRECTORY);
    add(folder / "a", O_WRONLY | O_CREAT | O_EXCL);
    add("", O_RDONLY);
    add(folder / std::string(300, 'n'), O_RDONLY);
    add(folder / std::string(5000, 'n'), O_RDONLY);
    add(folder / "d/t", O_RDWR | O_TMPFILE);
    add(folder / "d", O_RDONLY | O_TMPFILE);
    add(folder / "x", O_RDONLY | O_CREAT | O_DIRECTORY);
    text += outcome_of(syscall(SYS_open, 8, O_RDONLY)) + " ";
    text += outcome_of(syscall(SYS_openat, 77, "a", O_RDONLY)) + " ";
    const Fd file(::open((folder / "a").c_str(), O_RDONLY));
    text += outcome_of(syscall(SYS_openat, file.get(), "a", O_RDONLY)) + " ";
    return text;
  };
  const std::string plain = code();
  EXPECT_EQ(serve({.read = {folder.path()}, .write = {folder.path()}}, code), plain);
}

TEST(ServeOpen, CreatesWithModeAndUmaskWhereGranted) {
  const Folder folder;
  folder.folder("w");
  folder.folder("r");
  ASSERT_EQ(::symlink("../w/through", (folder / "r/dangling").c_str()), 0);
  const std::string result = serve({.read = {folder.path()}, .write = {folder / "w"}}, [&] {
    ::umask(027);
    std::string text = try_open(folder / "w/a", O_WRONLY | O_CREAT, 0666) + " ";
    text += try_open(folder / "w/b", O_WRONLY | O_CREAT | O_EXCL, 0777) + " ";
    text += try_open(folder / "r/c", O_WRONLY | O_CREAT, 0666) + " ";
    text += try_open(folder / "r/dangling", O_WRONLY | O_CREAT, 0666) + " ";
    text += try_open(folder / "w/suid", O_WRONLY | O_CREAT, 04755) + " ";
    return text;
  });
  EXPECT_EQ(result, "ok ok EACCES ok EPERM ");
  struct stat about {};
  ASSERT_EQ(::stat((folder / "w/a").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777, 0640U);
  ASSERT_EQ(::stat((folder / "w/b").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777, 0750U);
  ASSERT_EQ(::stat((folder / "w/through").c_str(), &about), 0);
  EXPECT_NE(::stat((folder / "r/c").c_str(), &about), 0);
}

// As one that somebody outside left there. A write by mapping would leave it what it is.
TEST(ServeOpen, AProgramThatIsOpenedForMappingLosesItsPrivileges) {
  const Folder folder;
  const std::string text(4096, 'x');
  for (const mode_t mode : {06755U, 02644U, 0755U}) {
    const std::string path = folder.file("program", text, 0755);
    const std::array<uint32_t, 5> one = {0x02000001, 0x400, 0, 0, 0};  // CAP_NET_BIND_SERVICE
    const bool capable =
        mode == 0755 && ::setxattr(path.c_str(), "security.capability", one.data(), 20, 0) == 0;
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    const std::string result = serve({.read = {folder.path()}, .write = {folder.path()}}, [&] {
      const Fd read(::open(path.c_str(), O_RDONLY));
      struct stat before {};
      ::fstat(read.get(), &before);
      const Fd fd(::open(path.c_str(), O_RDWR));
      void* mapped = ::mmap(nullptr, 4096, PROT_WRITE, MAP_SHARED, fd.get(), 0);
      if (mapped == MAP_FAILED) return std::string("not mapped");
      std::memset(mapped, 'y', 4096);
      return std::string((before.st_mode & 07777) == mode ? "as it was" : "too early");
    });
    EXPECT_EQ(result, "as it was");
    struct stat about {};
    ASSERT_EQ(::stat(path.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 07777, mode & 0777);
    EXPECT_TRUE(!capable || ::getxattr(path.c_str(), "security.capability", nullptr, 0) < 0);
    EXPECT_EQ(read_all(path)[0], 'y');
    ::unlink(path.c_str());
  }
}

TEST(ServeOpen, FlagsOfTheDescriptorAreTheCallers) {
  const Folder folder;
  folder.file("a", "x");
  const auto code = [&] {
    std::string text;
    for (const int flags : {O_RDONLY, O_WRONLY | O_APPEND, O_RDWR | O_NONBLOCK,
                            O_RDONLY | O_CLOEXEC, O_WRONLY | O_TRUNC, O_RDWR | O_SYNC}) {
      const Fd fd(::open((folder / "a").c_str(), flags));
      text += std::to_string(::fcntl(fd.get(), F_GETFL)) + "/" +
              std::to_string(::fcntl(fd.get(), F_GETFD)) + " ";
    }
    return text;
  };
  const std::string plain = code();
  EXPECT_EQ(serve({.read = {folder.path()}, .write = {folder.path()}}, code), plain);
}

TEST(ServeOpen, HeldDescriptorsOpenAgainWithNoMoreThanTheyHave) {
  const Folder folder;
  const std::string log = folder.file("log", "old");
  const Fd append(::open(log.c_str(), O_WRONLY | O_APPEND));
  const Fd reading(::open(log.c_str(), O_RDONLY));
  const std::string result = serve({}, [&] {
    const std::string own = "/proc/self/fd/";
    std::string text = try_open(own + std::to_string(append.get()), O_WRONLY | O_APPEND) + " ";
    text += try_open(own + std::to_string(append.get()), O_WRONLY) + " ";
    text += try_open(own + std::to_string(append.get()), O_WRONLY | O_APPEND | O_TRUNC) + " ";
    text += try_open(own + std::to_string(append.get()), O_RDONLY) + " ";
    text += read_all("/dev/fd/" + std::to_string(reading.get())) + " ";
    text += try_open(own + std::to_string(reading.get()), O_RDWR) + " ";
    int ends[2];
    ::pipe(ends);
    text += try_open(own + std::to_string(ends[0]), O_RDONLY) + " ";
    text += try_open(own + std::to_string(ends[0]), O_WRONLY) + " ";
    const int memory = ::memfd_create("m", 0);
    text += try_open(own + std::to_string(memory), O_RDWR);
    return text;
  });
  EXPECT_EQ(result, "ok EACCES EACCES EACCES old EACCES ok EACCES ok");
}

TEST(ServeOpen, TmpfilesCanBeGivenAName) {
  const Folder folder;
  const std::string result = serve({.read = {folder.path()}, .write = {folder.path()}}, [&] {
    const Fd fd(::open(folder.path().c_str(), O_TMPFILE | O_RDWR, 0600));
    if (!fd) return outcome_of(-1);
    (void)!::write(fd.get(), "named", 5);
    const std::string link = "/proc/self/fd/" + std::to_string(fd.get());
    std::string text = outcome_of(
        ::linkat(AT_FDCWD, link.c_str(), AT_FDCWD, (folder / "n").c_str(), AT_SYMLINK_FOLLOW));
    return text + " " + read_all(folder / "n");
  });
  EXPECT_EQ(result, "ok named");
}

TEST(ServeOpen, FifosWaitForTheirOtherEnd) {
  const Folder folder;
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  const std::string result = serve({.read = {folder.path()}, .write = {folder.path()}}, [&] {
    std::string text = try_open(folder / "fifo", O_WRONLY | O_NONBLOCK) + " ";
    if (::fork() == 0) {
      const Fd fd(::open((folder / "fifo").c_str(), O_WRONLY));
      (void)!::write(fd.get(), "through", 7);
      ::_exit(0);
    }
    return text + read_all(folder / "fifo");
  });
  EXPECT_EQ(result, "ENXIO through");
}

TEST(ServeOpen, AWaiterThatIsKilledLeavesNothingBehind) {
  const Folder folder;
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  const std::string result = serve({.read = {folder.path()}}, [&] {
    const pid_t child = ::fork();
    if (child == 0) {
      ::open((folder / "fifo").c_str(), O_RDONLY);
      ::_exit(0);
    }
    ::usleep(50'000);
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    return std::to_string(WIFSIGNALED(status));
  });
  EXPECT_EQ(result, "1");  // and serve() returned: the pool's thread was interrupted
}

// The last call is what ends the others' waiting.
TEST(ServeOpen, HoweverManyWaitAnotherIsServed) {
  const Folder folder;
  constexpr int kMany = 200;
  const auto fifo = [&](int i) { return folder / ("fifo" + std::to_string(i)); };
  for (int i = 0; i < kMany; ++i) ASSERT_EQ(::mkfifo(fifo(i).c_str(), 0600), 0);
  const std::string result = serve({.read = {folder.path()}, .write = {folder.path()}}, [&] {
    for (int i = 0; i < kMany; ++i) {
      if (::fork() != 0) continue;
      const Fd fd(::open(fifo(i).c_str(), O_WRONLY));
      ::_exit(::write(fd.get(), "x", 1) == 1 ? 0 : 1);
    }
    ::usleep(200'000);
    std::string read;
    for (int i = kMany - 1; i >= 0; --i) read += read_all(fifo(i));
    while (::wait(nullptr) > 0) {
    }
    return std::to_string(read.size());
  });
  EXPECT_EQ(result, std::to_string(kMany));
}

TEST(ServeOpen, ProcOfTheFirstProcessAndMemoryOfOthers) {
  std::vector<std::string> denied;
  const std::string result = serve(
      {.read = {"/proc"}, .write = {"/proc"}},
      [&] {
        const std::string parent = "/proc/" + std::to_string(::getppid());
        return try_open("/proc/1/environ", O_RDONLY) + " " + try_open("/proc/1/stat", O_RDONLY) +
               " " + try_open("/proc/self/mem", O_RDONLY) + " " +
               try_open(parent + "/mem", O_RDWR) + " " + try_open("/proc/self/status", O_RDONLY) +
               " " + try_open("/proc/self/uid_map", O_WRONLY) + " " +
               try_open("/proc/1/root/etc/passwd", O_RDONLY) + " " +
               try_open("/proc/1/comm", O_RDONLY) + " " + try_open("/proc/1/comm", O_WRONLY) + " " +
               try_open("/proc/1/task/1/comm", O_RDONLY);
      },
      &denied);
  EXPECT_EQ(result, "EACCES EACCES ok EACCES ok EACCES EACCES ok EACCES EACCES");
  EXPECT_THAT(denied, Contains("read /proc/1/environ"));
}

TEST(ServeOpen, ProcSelfIsTheCallers) {
  const std::string result = serve({.read = {"/proc/self"}}, [&] {
    const std::string stat = read_all("/proc/self/stat");
    return std::to_string(std::stoi(stat) == ::getpid()) + " " +
           std::to_string(std::stoi(read_all("/proc/" + std::to_string(::getpid()) + "/stat")) ==
                          ::getpid());
  });
  EXPECT_EQ(result, "1 1");
}

TEST(ServeOpen, Openat2KeepsItsScope) {
  const Folder folder;
  folder.file("base/in", "inside");
  folder.file("out", "outside");
  ASSERT_EQ(::symlink("/in", (folder / "base/absolute").c_str()), 0);
  ASSERT_EQ(::symlink("../out", (folder / "base/up").c_str()), 0);
  const auto code = [&] {
    const Fd base(::open((folder / "base").c_str(), O_RDONLY | O_DIRECTORY));
    std::string text;
    const auto add = [&](const char* path, uint64_t resolve, uint64_t flags = O_RDONLY,
                         uint64_t mode = 0) {
      open_how how{};
      how.flags = flags;
      how.mode = mode;
      how.resolve = resolve;
      const Fd fd(static_cast<int>(syscall(SYS_openat2, base.get(), path, &how, sizeof how)));
      text += outcome_of(fd.get()) + " ";
    };
    add("in", RESOLVE_BENEATH);
    add("../out", RESOLVE_BENEATH);
    add("up", RESOLVE_BENEATH);
    add("absolute", RESOLVE_BENEATH);
    add("absolute", RESOLVE_IN_ROOT);
    add("/in", RESOLVE_IN_ROOT);
    add("up", RESOLVE_NO_SYMLINKS);
    add("in", RESOLVE_NO_SYMLINKS);
    add("made", RESOLVE_BENEATH, O_WRONLY | O_CREAT, 0600);
    add("in", 0);
    add("in", 0, O_RDONLY, 0600);
    add("in", uint64_t{1} << 40);
    return text;
  };
  const std::string plain = code();
  ASSERT_EQ(::unlink((folder / "base/made").c_str()), 0);
  EXPECT_EQ(serve({.read = {folder.path()}, .write = {folder.path()}}, code), plain);
  // The scope bounds, and the policy still decides.
  EXPECT_THAT(serve({.read = {folder / "base"}},
                    [&] {
                      const Fd base(::open((folder / "base").c_str(), O_RDONLY | O_DIRECTORY));
                      open_how how{};
                      how.resolve = RESOLVE_NO_SYMLINKS;
                      const Fd fd(static_cast<int>(
                          syscall(SYS_openat2, base.get(), "../out", &how, sizeof how)));
                      return outcome_of(fd.get());
                    }),
              "EACCES");
}

TEST(ServeOpen, KernelDecidedTreesAreLeftToTheKernelExceptBehindSymlinks) {
  const Folder folder;
  folder.file("tree/a", "content");
  folder.file("elsewhere/b", "served");
  ASSERT_EQ(::symlink("../elsewhere/b", (folder / "tree/link").c_str()), 0);
  // No Landlock here: what is answered CONTINUE succeeds.
  std::vector<std::string> denied;
  const std::string result = serve(
      {.read = {folder / "tree"},
       .kernel_decides = {{.path = folder / "tree", .read = true, .write = false}}},
      [&] {
        std::string text;
        for (int i = 0; i < 3; ++i) text += read_all(folder / "tree/a") + " ";
        return text + read_all(folder / "tree/link") + " " + read_all(folder / "tree/none");
      },
      &denied);
  EXPECT_EQ(result, "content content content EACCES ENOENT");
  EXPECT_THAT(denied, ::testing::ElementsAre("read " + (folder / "elsewhere/b")));
}

// Landlock before ABI 3 asks nothing more of it than of reading, by whatever path the kernel reads.
TEST(ServeOpen, TruncatingWithoutWritingIsNotLeftToTheKernel) {
  const Folder folder;
  const std::string file = folder.file("tree/a", "content");
  const Grants grants{.read = {folder / "tree", "/dev/tty"},
                      .write = {folder / "tree", "/dev/tty"},
                      .kernel_decides = {{.path = folder / "tree", .read = true, .write = true}}};
  const auto answer = [&](const char* path, int flags) {
    return serve_gone(grants, __NR_open,
                      {reinterpret_cast<uint64_t>(path), static_cast<uint64_t>(flags)});
  };
  EXPECT_EQ(answer(file.c_str(), O_RDONLY), "went on");
  EXPECT_EQ(answer(file.c_str(), O_WRONLY | O_TRUNC), "went on");
  EXPECT_EQ(answer(file.c_str(), O_PATH | O_TRUNC),
            "went on");  // which the kernel does not look at
  EXPECT_EQ(answer(file.c_str(), O_RDONLY | O_TRUNC),
            "EINTR");  // served, for a caller that is gone
  EXPECT_EQ(answer("/dev/tty", O_RDWR | O_TRUNC), "went on");
  EXPECT_EQ(answer("/dev/tty", O_RDONLY | O_TRUNC), "EINVAL");
  EXPECT_EQ(serve(grants, [&] { return try_open(file, O_RDONLY | O_TRUNC); }), "ok");
  EXPECT_EQ(read_all(file), "");
}

TEST(ServeOpen, DescriptorTableFull) {
  const Folder folder;
  folder.file("a", "x");
  const std::string result = serve({.read = {folder.path()}}, [&] {
    while (::dup(0) >= 0) {
    }
    return outcome_of(::open((folder / "a").c_str(), O_RDONLY));
  });
  EXPECT_EQ(result, "EMFILE");
}

// Threads flip a name between an allowed and a forbidden file while others open it.
TEST(ServeOpen, ARaceOnTheNameNeverOpensTheForbiddenFile) {
  const Folder folder;
  folder.file("w/allowed", "public");
  folder.file("closed/key", "secret");
  const std::string result = serve({.read = {folder / "w"}, .write = {folder / "w"}}, [&] {
    ::symlink((folder / "closed/key").c_str(), (folder / "w/evil").c_str());
    ::link((folder / "w/allowed").c_str(), (folder / "w/good").c_str());
    std::atomic<bool> stop = false;
    std::thread flipper([&] {
      while (!stop) {
        ::renameat2(AT_FDCWD, (folder / "w/evil").c_str(), AT_FDCWD, (folder / "w/good").c_str(),
                    RENAME_EXCHANGE);
      }
    });
    int secrets = 0;
    int publics = 0;
    for (int i = 0; i < 4000; ++i) {
      const std::string text = read_all(folder / "w/good");
      secrets += text == "secret";
      publics += text == "public";
    }
    stop = true;
    flipper.join();
    return std::to_string(secrets) + (publics > 0 ? " some" : " none");
  });
  EXPECT_EQ(result, "0 some");
}

}  // namespace
}  // namespace bulkhead::testing
