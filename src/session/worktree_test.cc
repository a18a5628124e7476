#include "session/worktree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace bulkhead {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Worktree : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string text = (fs::temp_directory_path() / "bulkhead-XXXXXX").string();
    ASSERT_NE(mkdtemp(text.data()), nullptr);
    root_ = fs::canonical(text).string();
    file("main/.git/HEAD", "ref: refs/heads/main\n");
    file("main/.git/worktrees/tree/HEAD", "ref: refs/heads/tree\n");
    file("main/.git/worktrees/tree/gitdir", root_ + "/tree/.git\n");
    file("main/.git/worktrees/tree/commondir", "../..\n");
    file("tree/.git", "gitdir: " + root_ + "/main/.git/worktrees/tree\n");
    file("main/.git/modules/a/b/HEAD", "ref: refs/heads/main\n");
    file("main/.git/modules/a/b/config", "[core]\n\tworktree = ../../../../sub\n");
    file("main/sub/.git", "gitdir: ../.git/modules/a/b\n");
  }
  ~Worktree() override { fs::remove_all(root_); }
  void file(const std::string& name, const std::string& text) {
    fs::create_directories(fs::path(root_ + "/" + name).parent_path());
    std::ofstream(root_ + "/" + name, std::ios::trunc) << text;
  }
  std::string of(const std::string& name) { return repository_of(root_ + "/" + name); }

  std::string root_;
};

TEST_F(Worktree, IsFoundWhereBothNameEachOther) {
  EXPECT_EQ(of("tree"), root_ + "/main/.git");
  EXPECT_EQ(of("main/sub"), root_ + "/main/.git/modules/a/b");
  EXPECT_EQ(of("main"), "") << "a folder";
  EXPECT_EQ(of("none"), "");
  file("main/.git/worktrees/tree/gitdir", "../../../../tree/.git\n");
  EXPECT_EQ(of("tree"), root_ + "/main/.git") << "relative";
}

TEST_F(Worktree, NobodyElsesWord) {
  file("thief/.git", "gitdir: " + root_ + "/main/.git/worktrees/tree\n");
  EXPECT_EQ(of("thief"), "") << "the repository knows another tree";
  file("thief/.git", "gitdir: ../main/.git\n");
  EXPECT_EQ(of("thief"), "") << "the repository itself";
  file("thief/.git", "gitdir: ../main/.git/modules/a/b\n");
  EXPECT_EQ(of("thief"), "") << "of another submodule";
  file("keys/HEAD", "");
  file("thief/.git", "gitdir: ../keys\n");
  EXPECT_EQ(of("thief"), "");
  // A folder of the project's own making that names everything.
  file("thief/fake/worktrees/x/HEAD", "");
  file("thief/fake/worktrees/x/gitdir", root_ + "/thief/.git\n");
  file("thief/fake/worktrees/x/commondir", root_ + "/main/.git\n");
  file("thief/.git", "gitdir: fake/worktrees/x\n");
  EXPECT_EQ(of("thief"), "") << "the common folder is elsewhere";
  fs::remove(root_ + "/thief/.git");
  fs::create_symlink(root_ + "/tree/.git", root_ + "/thief/.git");
  EXPECT_EQ(of("thief"), "") << "a link";
}

TEST_F(Worktree, OddFilesAreNone) {
  for (const std::string& text : {std::string(), std::string("gitdir:"), std::string("gitdir: "),
                                  std::string("/a"), "gitdir: " + root_ + "/main/.git\nmore\n",
                                  std::string("gitdir: a\0b", 11), std::string(100'000, 'x')}) {
    file("tree/.git", text);
    EXPECT_EQ(of("tree"), "") << text.substr(0, 80);
  }
}

TEST_F(Worktree, IsGrantedAsTheWorkspaceIs) {
  EXPECT_THAT(repository_grants({root_ + "/tree"}, true, true), SizeIs(2));
  EXPECT_THAT(repository_grants({root_ + "/tree"}, true, false), SizeIs(1));
  EXPECT_THAT(repository_grants({root_ + "/tree", root_ + "/main"}, true, true), IsEmpty());
  fs::rename(root_ + "/main/.git", root_ + "/store");
  file("tree/.git", "gitdir: ../store/worktrees/tree\n");
  const auto grants = repository_grants({root_ + "/tree"}, true, true);
  EXPECT_THAT(grants, SizeIs(11)) << "and its hooks and settings are blocked";
  for (size_t i = 2; i < grants.size(); ++i) EXPECT_EQ(grants[i].verdict, Verdict::kDeny);
}

}  // namespace
}  // namespace bulkhead
