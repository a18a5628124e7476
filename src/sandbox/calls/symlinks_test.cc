#include "sandbox/calls/symlinks.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <map>

#include "sandbox/testing/served_child.h"

namespace bulkhead {
namespace {

TEST(Symlinks, ClimbFromANameOrNot) {
  for (const char* target : {"a/..", "../a/../b", "/a/..", "a/./..", "./a//../", "a/b/../c"})
    EXPECT_TRUE(climbs_from_a_name(target)) << target;
  for (const char* target : {"..", "../..", "./../a", "a", "/a/b", "", "/..", "a..", "..a/b"})
    EXPECT_FALSE(climbs_from_a_name(target)) << target;
}

TEST(Symlinks, StayInTheTreeOrNot) {
  EXPECT_TRUE(stays_in_tree("a/b", 0));
  EXPECT_TRUE(stays_in_tree("../a", 1));
  EXPECT_TRUE(stays_in_tree(".././a", 1));
  EXPECT_FALSE(stays_in_tree("..", 0));
  EXPECT_FALSE(stays_in_tree("../../a", 1));
  EXPECT_FALSE(stays_in_tree("/a", 9));
  EXPECT_FALSE(stays_in_tree("a/../b", 9));
}

TEST(Symlinks, EachIsFoundAndNoneFollowed) {
  const testing::Folder folder;
  folder.file("top/a/b/file", "x");
  ASSERT_EQ(::symlink("b", (folder / "top/a/link").c_str()), 0);
  ASSERT_EQ(::symlink("/", (folder / "top/root").c_str()), 0);
  std::map<std::string, std::string> found;
  const auto note = [&](const std::string& path, const std::string& target) {
    found[path] = target;
    return true;
  };
  EXPECT_EQ(for_each_symlink(AT_FDCWD, (folder / "top").c_str(), note), 0);
  EXPECT_EQ(found, (std::map<std::string, std::string>{{"a/link", "b"}, {"root", "/"}}));
  found.clear();
  EXPECT_EQ(for_each_symlink(AT_FDCWD, (folder / "top/root").c_str(), note), 0);
  EXPECT_EQ(found, (std::map<std::string, std::string>{{"", "/"}}));
  found.clear();
  EXPECT_EQ(for_each_symlink(AT_FDCWD, (folder / "top/a/b/file").c_str(), note), 0);
  EXPECT_TRUE(found.empty());
  EXPECT_EQ(for_each_symlink(AT_FDCWD, (folder / "none").c_str(), note), ENOENT);
  int visits = 0;
  EXPECT_EQ(for_each_symlink(AT_FDCWD, (folder / "top").c_str(),
                             [&](const std::string&, const std::string&) {
                               ++visits;
                               return false;
                             }),
            0);
  EXPECT_EQ(visits, 1);
}

TEST(Symlinks, ATreeTooDeepIsNotLookedAt) {
  const testing::Folder folder;
  std::string path = folder / "d";
  for (int i = 0; i < 210; ++i) {
    ASSERT_EQ(::mkdir(path.c_str(), 0755), 0);
    path += "/d";
  }
  EXPECT_EQ(for_each_symlink(AT_FDCWD, (folder / "d").c_str(),
                             [](const std::string&, const std::string&) { return true; }),
            EXDEV);
}

}  // namespace
}  // namespace bulkhead
