// What the Walker makes of paths, for a caller that is this very process. How whole calls come out
// is tested in calls/.
#include "sandbox/caller/walker.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sandbox/caller/caller.h"
#include "sandbox/testing/served_child.h"

namespace bulkhead {
namespace {

TEST(ParseProc, OnlyProcessFolders) {
  const auto place = parse_proc("/proc/123/fd/4");
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(place->inner_process, 123);
  EXPECT_EQ(place->rest, "/fd/4");
  EXPECT_EQ(parse_proc("/proc/1")->rest, "");
  EXPECT_FALSE(parse_proc("/proc").has_value());
  EXPECT_FALSE(parse_proc("/proc/").has_value());
  EXPECT_FALSE(parse_proc("/proc/self/fd").has_value());
  EXPECT_FALSE(parse_proc("/proc/12x/fd").has_value());
  EXPECT_FALSE(parse_proc("/proc/-1/fd").has_value());
  EXPECT_FALSE(parse_proc("/procs/1/fd").has_value());
  EXPECT_FALSE(parse_proc("/proc/99999999999999999999/fd").has_value());
}

TEST(ForeignProc, IsFoundInMountinfo) {
  EXPECT_EQ(foreign_proc_mounts("22 1 0:21 / / rw - ext4 /dev/a rw\n"
                                "23 22 0:22 / /proc rw,nosuid - proc proc rw\n"
                                "24 23 0:22 /sys /proc/sys ro - proc proc rw\n"
                                "25 22 0:23 / /srv/ch\\040root/proc rw shared:1 - proc none rw\n"
                                "26 22 0:24 / /srv/proc rw - procfs none rw\n"
                                "broken line\n"),
            std::vector<std::string>{"/srv/ch root/proc"});
}

class WalkerTest : public ::testing::Test {
 protected:
  WalkerTest()
      : root_(::open("/", O_PATH | O_CLOEXEC)),
        processes_(-1),
        walker_(root_.get(), processes_, {"/srv/other/proc"}) {
    Notification notification;
    notification.tid = static_cast<pid_t>(syscall(SYS_gettid));
    caller_.emplace(notification);
    folder_.file("a/b/file", "content");
    EXPECT_EQ(::symlink("a", (folder_ / "to-a").c_str()), 0);
    EXPECT_EQ(::symlink("a/b/file", (folder_ / "to-file").c_str()), 0);
    EXPECT_EQ(::symlink("a/new", (folder_ / "dangling").c_str()), 0);
    EXPECT_EQ(::symlink("loop", (folder_ / "loop").c_str()), 0);
  }

  Spelling spelled(const std::string& path, int folder = AT_FDCWD) {
    Spelling spelling;
    EXPECT_EQ(walker_.spell(*caller_, folder, path, &spelling), 0) << path;
    return spelling;
  }
  // "CANONICAL", "missing CANONICAL" or the errno's name.
  std::string found(const std::string& path, Follow follow = Follow::kYes) {
    Found found;
    const int error = walker_.resolve(*caller_, spelled(path), follow, &found);
    if (error == 0) return found.canonical;
    return Walker::may_be_created(error, found) ? "missing " + found.canonical
                                                : strerrorname_np(error);
  }

  testing::Folder folder_;
  Fd root_;
  Processes processes_;
  Walker walker_;
  std::optional<Caller> caller_;
};

TEST_F(WalkerTest, Spells) {
  EXPECT_EQ(spelled("/a//b/./c").text, "/a/b/c");
  EXPECT_EQ(spelled("/a//b/./c").tail, Tail::kName);
  EXPECT_EQ(spelled("/a/b/").tail, Tail::kSlash);
  EXPECT_EQ(spelled("/a/b/.").tail, Tail::kDot);
  EXPECT_EQ(spelled("/a/b/./").tail, Tail::kDot);
  EXPECT_EQ(spelled("/a/b/..").tail, Tail::kDotDot);
  EXPECT_EQ(spelled("/a/../b").text, "/a/../b");
  EXPECT_TRUE(spelled("/a/../b").parents);
  EXPECT_FALSE(spelled("/a/..b").parents);
  EXPECT_EQ(spelled("/").text, "/");
  EXPECT_EQ(spelled("//").tail, Tail::kDot);
  const std::string own = "/proc/" + std::to_string(::getpid());
  EXPECT_EQ(spelled("/proc/self/fd/0").text, own + "/fd/0");
  EXPECT_EQ(spelled("/proc/./self//fd").text, own + "/fd");
  EXPECT_EQ(spelled("/proc/selfish").text, "/proc/selfish");
  EXPECT_EQ(spelled("/proc/self").text, "/proc/self");
}

TEST_F(WalkerTest, SpellsRelativeToFolders) {
  const Fd folder(::open((folder_ / "a").c_str(), O_RDONLY | O_DIRECTORY));
  EXPECT_EQ(spelled("b/file", folder.get()).text, folder_ / "a/b/file");
  EXPECT_EQ(spelled(".", folder.get()).text, folder_ / "a");
  Spelling ignored;
  EXPECT_EQ(walker_.spell(*caller_, 1234, "x", &ignored), EBADF);
  EXPECT_EQ(walker_.spell(*caller_, -5, "x", &ignored), EBADF);
  EXPECT_EQ(walker_.spell(*caller_, AT_FDCWD, "", &ignored), ENOENT);
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  EXPECT_EQ(walker_.spell(*caller_, ends[0], "x", &ignored), ENOTDIR);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(WalkerTest, ARemovedFolderHasNoNames) {
  const std::string gone = folder_.folder("gone");
  const Fd folder(::open(gone.c_str(), O_RDONLY | O_DIRECTORY));
  ASSERT_EQ(::rmdir(gone.c_str()), 0);
  Spelling spelling;
  EXPECT_EQ(walker_.spell(*caller_, folder.get(), "x", &spelling), ENOENT);
  // One that is really named so.
  const std::string named = folder_.folder("kept (deleted)");
  const Fd kept(::open(named.c_str(), O_RDONLY | O_DIRECTORY));
  EXPECT_EQ(walker_.spell(*caller_, kept.get(), "x", &spelling), 0);
  EXPECT_EQ(spelling.text, named + "/x");
}

TEST_F(WalkerTest, FindsCanonicalPaths) {
  EXPECT_EQ(found(folder_ / "a/b/file"), folder_ / "a/b/file");
  EXPECT_EQ(found(folder_ / "to-a/b/file"), folder_ / "a/b/file");
  EXPECT_EQ(found(folder_ / "a/b/../../to-file"), folder_ / "a/b/file");
  EXPECT_EQ(found(folder_ / "to-file", Follow::kNo), folder_ / "to-file");
  EXPECT_EQ(found(folder_ / "to-a/", Follow::kNo), folder_ / "a");
  EXPECT_EQ(found(folder_ / "a/none"), "missing " + folder_ / "a/none");
  EXPECT_EQ(found(folder_ / "none/none"), "ENOENT");
  EXPECT_EQ(found(folder_ / "dangling"), "missing " + folder_ / "a/new");
  EXPECT_EQ(found(folder_ / "dangling", Follow::kNo), folder_ / "dangling");
  EXPECT_EQ(found(folder_ / "loop"), "ELOOP");
  EXPECT_EQ(found(folder_ / "a/b/file/"), "ENOTDIR");
  EXPECT_EQ(found("/proc/self/cwd"), std::filesystem::current_path());
  EXPECT_EQ(found("/proc/self/root" + folder_ / "to-file"), folder_ / "a/b/file");
  EXPECT_EQ(found("/proc/1/root/etc"), "EACCES");
}

TEST_F(WalkerTest, DescriptorsAreFoundAgainByNameOrAreNoPath) {
  const Fd file(::open((folder_ / "a/b/file").c_str(), O_RDWR | O_APPEND));
  Found found;
  const std::string link = "/proc/self/fd/" + std::to_string(file.get());
  ASSERT_EQ(walker_.resolve(*caller_, spelled(link), Follow::kYes, &found), 0);
  EXPECT_TRUE(found.is_path);
  EXPECT_EQ(found.canonical, folder_ / "a/b/file");
  ASSERT_TRUE(found.held.has_value());
  EXPECT_EQ(*found.held & (O_ACCMODE | O_APPEND), O_RDWR | O_APPEND);

  // Another file has the name now: what the descriptor is cannot be judged by it.
  ASSERT_EQ(::rename((folder_ / "a/b/file").c_str(), (folder_ / "a/b/moved").c_str()), 0);
  ASSERT_EQ(walker_.resolve(*caller_, spelled(link), Follow::kYes, &found), 0);
  EXPECT_EQ(found.canonical, folder_ / "a/b/moved");
  ASSERT_EQ(::unlink((folder_ / "a/b/moved").c_str()), 0);
  folder_.file("a/b/moved (deleted)", "an impostor");
  ASSERT_EQ(walker_.resolve(*caller_, spelled(link), Follow::kYes, &found), 0);
  EXPECT_FALSE(found.is_path);
  EXPECT_TRUE(found.held.has_value());

  const Fd memory(::memfd_create("m", MFD_CLOEXEC));
  ASSERT_EQ(walker_.resolve_descriptor(*caller_, memory.get(), &found), 0);
  EXPECT_FALSE(found.is_path);
  EXPECT_EQ(walker_.resolve_descriptor(*caller_, 4321, &found), EBADF);
}

TEST_F(WalkerTest, EntriesAreAFolderAndAName) {
  FoundEntry entry;
  ASSERT_EQ(walker_.resolve_entry(*caller_, spelled(folder_ / "to-a/new/"), &entry), 0);
  EXPECT_EQ(entry.canonical, folder_ / "a/new");
  EXPECT_EQ(entry.name, "new/");
  ASSERT_EQ(walker_.resolve_entry(*caller_, spelled(folder_ / "to-file"), &entry), 0);
  EXPECT_EQ(entry.canonical, folder_ / "to-file");
  ASSERT_EQ(walker_.resolve_entry(*caller_, spelled(folder_ / "a/."), &entry), 0);
  EXPECT_EQ(entry.tail, Tail::kDot);
  ASSERT_EQ(walker_.resolve_entry(*caller_, spelled("/top"), &entry), 0);
  EXPECT_EQ(entry.canonical, "/top");
  EXPECT_EQ(walker_.resolve_entry(*caller_, spelled(folder_ / "none/x"), &entry), ENOENT);
  EXPECT_EQ(walker_.resolve_entry(*caller_, spelled(folder_ / "to-file/x"), &entry), ENOTDIR);
}

TEST_F(WalkerTest, TheWorkingFolderIsTheOneOfNow) {
  const std::filesystem::path before = std::filesystem::current_path();
  for (const char* name : {"a", "a/b", "a", "a", "a/b"}) {
    std::filesystem::current_path(std::string(folder_ / name));
    Spelling spelling;
    EXPECT_EQ(walker_.spell(*caller_, AT_FDCWD, "x", &spelling), 0);
    EXPECT_EQ(spelling.text, (folder_ / name) + "/x");
  }
  std::filesystem::current_path(before);
}

TEST_F(WalkerTest, TheWayIsForgottenWhenANameChanges) {
  const Spelling spelling = spelled(folder_ / "a/b/file");
  EXPECT_EQ(walker_.way_to(spelling, Follow::kYes), Walker::Way::kClear);
  ASSERT_EQ(::rename((folder_ / "a").c_str(), (folder_ / "c").c_str()), 0);
  ASSERT_EQ(::symlink("c", (folder_ / "a").c_str()), 0);
  walker_.note_change();
  EXPECT_EQ(walker_.way_to(spelling, Follow::kYes), Walker::Way::kSymlink);
  EXPECT_EQ(walker_.way_to(spelled(folder_ / "c/none"), Follow::kYes), Walker::Way::kMissing);
}

TEST_F(WalkerTest, WhatAFolderWasMovedWithIsNotWhatWasNamed) {
  const uint64_t before = walker_.changes();
  Fd fd;
  ASSERT_EQ(walker_.open_exact(folder_ / "a/b/file", O_PATH, 0, &fd), 0);
  EXPECT_TRUE(walker_.is_named(fd.get(), folder_ / "a/b/file", before));
  walker_.note_change();
  EXPECT_TRUE(walker_.is_named(fd.get(), folder_ / "a/b/file", before));
  ASSERT_EQ(::rename((folder_ / "a").c_str(), (folder_ / "c").c_str()), 0);
  walker_.note_change();
  EXPECT_FALSE(walker_.is_named(fd.get(), folder_ / "a/b/file", before));
  EXPECT_TRUE(walker_.is_named(fd.get(), folder_ / "c/b/file", before));
}

// The text is walked once for each of the links; by the root each time that took minutes.
TEST_F(WalkerTest, NamesThatLeadAroundForTooLongAreNotFollowed) {
  std::string deep;
  for (int i = 0; i < 900; ++i) deep += "/a";
  testing::Folder tree;
  ASSERT_EQ(::symlink(".", (tree / "a").c_str()), 0);
  EXPECT_EQ(found(tree.path() + deep), "ELOOP");
  EXPECT_FALSE(caller_->is_spent());
  while (!caller_->is_spent()) EXPECT_EQ(found(tree.path() + deep), "ELOOP");
  EXPECT_EQ(found(folder_ / "to-file"), "ELOOP");
  EXPECT_EQ(found(folder_ / "a/b/file"), folder_ / "a/b/file");
  caller_->restore_steps();
  EXPECT_EQ(found(folder_ / "to-file"), folder_ / "a/b/file");
}

TEST_F(WalkerTest, BelowAClearFolderTheLastNameIsLookedAt) {
  ASSERT_EQ(walker_.way_to(spelled(folder_ / "a/b/file"), Follow::kYes), Walker::Way::kClear);
  ASSERT_EQ(::symlink("file", (folder_ / "a/b/link").c_str()), 0);
  ASSERT_EQ(::symlink("../b", (folder_ / "a/b/up").c_str()), 0);
  EXPECT_EQ(walker_.way_to(spelled(folder_ / "a/b/link"), Follow::kYes), Walker::Way::kSymlink);
  EXPECT_EQ(walker_.way_to(spelled(folder_ / "a/b/up/file"), Follow::kYes), Walker::Way::kSymlink);
  EXPECT_EQ(walker_.way_to(spelled(folder_ / "a/b/none"), Follow::kYes), Walker::Way::kMissing);
  Spelling slash = spelled(folder_ / "a/b/up");
  slash.tail = Tail::kSlash;
  EXPECT_EQ(walker_.way_to(slash, Follow::kNo), Walker::Way::kSymlink);
  std::ofstream(folder_ / "a/b/other") << "x";
  slash = spelled(folder_ / "a/b/other");
  slash.tail = Tail::kSlash;
  EXPECT_EQ(walker_.way_to(slash, Follow::kYes), Walker::Way::kBarred) << "no folder";
  EXPECT_EQ(walker_.way_to(spelled(folder_ / "a/b/file"), Follow::kYes), Walker::Way::kClear);
}

TEST_F(WalkerTest, ForeignProcByComponents) {
  EXPECT_TRUE(walker_.is_foreign_proc("/srv/other/proc/1/environ"));
  EXPECT_TRUE(walker_.is_foreign_proc("/srv/other/proc"));
  EXPECT_FALSE(walker_.is_foreign_proc("/srv/other/process"));
}

}  // namespace
}  // namespace bulkhead
