#include "base/fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <type_traits>

namespace bulkhead {
namespace {

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

class Files : public ::testing::Test {
 protected:
  Files() {
    std::string name = ::testing::TempDir() + "/fd_test.XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~Files() override { std::filesystem::remove_all(folder_); }
  std::string folder_;
};

TEST(Fd, ClosesOnceAndMoves) {
  static_assert(!std::is_copy_constructible_v<Fd>);
  int number = -1;
  {
    Fd fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    ASSERT_TRUE(fd.valid());
    number = fd.get();
    Fd other(std::move(fd));
    // NOLINTNEXTLINE(bugprone-use-after-move,clang-analyzer-cplusplus.Move): that is the point
    EXPECT_FALSE(fd.valid());
    EXPECT_EQ(other.get(), number);
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(Fd, ReleaseGivesUpOwnership) {
  Fd fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int number = fd.release();
  fd.reset();
  EXPECT_TRUE(is_open(number));
  ::close(number);
}

// As in a host that has closed its standard input.
TEST(Fd, OneThatWasOpenedAsStandardInputIsLifted) {
  const Fd usual(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  ::close(STDIN_FILENO);
  const int low = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  Fd lifted(low);
  EXPECT_FALSE(is_open(STDIN_FILENO));
  Fd other;
  other.reset(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_FALSE(is_open(STDIN_FILENO));
  if (usual) ::dup2(usual.get(), STDIN_FILENO);
  EXPECT_EQ(low, STDIN_FILENO);
  for (const Fd* const fd : {&lifted, &other}) {
    EXPECT_GT(fd->get(), STDERR_FILENO);
    EXPECT_EQ(::fcntl(fd->get(), F_GETFD), FD_CLOEXEC);
  }
}

TEST(Fd, OneThatCannotBeLiftedIsClosed) {
  const Fd usual(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  ::close(STDIN_FILENO);
  const rlimit four{4, before.rlim_max};  // 3 is open, too
  ::setrlimit(RLIMIT_NOFILE, &four);
  const Fd none(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int why = errno;
  ::setrlimit(RLIMIT_NOFILE, &before);
  const bool stays = is_open(STDIN_FILENO);
  if (usual) ::dup2(usual.get(), STDIN_FILENO);
  EXPECT_FALSE(none);
  EXPECT_EQ(why, EMFILE);
  EXPECT_FALSE(stays);
}

TEST(Fd, AssignmentClosesTheOldOne) {
  Fd a(::open("/dev/null", O_RDONLY | O_CLOEXEC)), b(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int old = a.get(), kept = b.get();
  a = std::move(b);
  EXPECT_FALSE(is_open(old));
  EXPECT_EQ(a.get(), kept);
  Fd& self = a;
  a = std::move(self);
  EXPECT_EQ(a.get(), kept);
}

TEST_F(Files, ReadFileHonoursItsLimit) {
  const std::string path = folder_ + "/f";
  ASSERT_TRUE(write_file_atomically(path, "12345", 0600).ok());
  EXPECT_EQ(read_file(path, 5).value(), "12345");
  const auto refused = read_file(path, 4);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().errno_value, EFBIG);
  EXPECT_EQ(read_file(folder_ + "/none", 5).error().errno_value, ENOENT);
  EXPECT_EQ(read_file(folder_, 5).error().errno_value, EISDIR);
}

TEST_F(Files, ReadFileDoesNotWaitForAFifo) {
  const std::string path = folder_ + "/fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const auto refused = read_file(path, 5);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "cannot read " + path + ": not a regular file");
}

TEST_F(Files, WritesWholeFilesWithTheModeGiven) {
  const std::string path = folder_ + "/f";
  const mode_t before = ::umask(0777);
  const Status first = write_file_atomically(path, "old", 0640);
  ::umask(before);
  ASSERT_TRUE(first.ok());
  ASSERT_TRUE(write_file_atomically(path, "new", 0640).ok());
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0640U);
  EXPECT_EQ(read_file(path, 100).value(), "new");
  // Nothing is left beside it.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(Files, AFailedWriteLeavesNothingBehind) {
  const std::string path = folder_ + "/taken";
  ASSERT_TRUE(make_directories(path + "/full", 0700).ok());
  EXPECT_FALSE(write_file_atomically(path, "x", 0600).ok());  // a folder stands there
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(Files, MakeDirectories) {
  EXPECT_TRUE(make_directories(folder_ + "/a/b/c", 0700).ok());
  EXPECT_TRUE(make_directories(folder_ + "/a/b/c", 0700).ok());
  ASSERT_TRUE(write_file_atomically(folder_ + "/f", "", 0600).ok());
  EXPECT_EQ(make_directories(folder_ + "/f", 0700).error().errno_value, ENOTDIR);
  EXPECT_FALSE(make_directories(folder_ + "/f/g", 0700).ok());
}

}  // namespace
}  // namespace bulkhead
