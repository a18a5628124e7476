#include "policy/git_named.h"

#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace bulkhead {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class GitNamedTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "git-named-XXXXXX").string();
    folder_ = fs::canonical(::mkdtemp(name.data()));
    fs::create_directories(folder_ / "home");
    fs::create_directories(folder_ / "work/.git");
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }

  // Relative to the folder of this test.
  std::vector<std::string> named(std::vector<std::string> workspace = {"work"}) const {
    for (std::string& each : workspace) each = (folder_ / each).string();
    std::vector<std::string> paths;
    const Blocklist list = git_named(workspace, (folder_ / "home").string());
    for (const BlockGroup& group : list.groups) {
      EXPECT_EQ(group.name, "git-hooks");
      for (const Entry& each : group.block_write)
        paths.push_back(fs::path(each.text).lexically_relative(folder_).string());
    }
    return paths;
  }

  fs::path folder_;
};

TEST_F(GitNamedTest, HooksProgramsAndIncludedFiles) {
  write("work/clean.py", "");
  write("work/.git/config", R"([core]
	hooksPath = ci/hooks
	fsmonitor = ./tools/monitor --fast
	pager = less
[filter "x"]
	clean = python3 clean.py %f
	smudge = "sh -c 'tools/smudge %f'"
[diff "y"]
	textconv = "tools/text conv"
[merge "z"]
	driver = env A=tools/driver %A
[credential "https://example.com"]
	helper = !tools/helper
[alias]
	up = !tools/up
[include]
	path = ../more.inc
[includeIf "gitdir:~/x/"]
	path = ../other.inc
)");
  write("work/more.inc", "[core]\n\tsshCommand = tools/ssh\n");
  EXPECT_THAT(named(),
              UnorderedElementsAre("work/ci/hooks", "work/tools/monitor", "work/clean.py",
                                   "work/tools/smudge", "work/tools/text", "work/tools/driver",
                                   "work/tools/helper", "work/tools/up", "work/more.inc",
                                   "work/other.inc", "work/tools/ssh"));
}

TEST_F(GitNamedTest, TheUsersOwnConfigurationAndThatOfAWorktree) {
  write("home/.gitconfig", "[core]\n\thooksPath = shared-hooks\n[filter \"a\"]\n\tclean = a/b\n");
  write("work/.git/worktrees/w/commondir", "../..\n");
  write("work/.git/worktrees/w/config.worktree", "[core]\n\tfsmonitor = w/monitor\n");
  write("work/.git/config", "[core]\n\tpager = p/pager\n");
  write("tree/.git", "gitdir: " + (folder_ / "work/.git/worktrees/w").string() + "\n");
  EXPECT_THAT(named({"tree"}), UnorderedElementsAre("tree/shared-hooks", "tree/a/b",
                                                    "tree/w/monitor", "tree/p/pager"));
  // A workspace inside of a repository: git runs these at the top.
  fs::create_directories(folder_ / "work/p");
  EXPECT_THAT(named({"work/p"}), ElementsAre("work/p/pager"));
}

TEST_F(GitNamedTest, NothingThatIsElsewhereOrTheWorkspaceItself) {
  write("work/.git/config", R"([core]
	hooksPath = .
	fsmonitor = true
	editor = vim
	worktree = ../work/deep
[include]
	path = ~/.work.inc
	path = /
[filter "x"]
	clean = /usr/bin/clean ../outside
[remote "origin"]
	url = ./mirror
)");
  EXPECT_THAT(named(), IsEmpty());
  write("work/.git/config", "[core\n\thooksPath = ci\n");
  EXPECT_THAT(named(), IsEmpty()) << "git does not read it either";
  fs::remove_all(folder_ / "work/.git");
  EXPECT_THAT(named(), IsEmpty());
}

// Included by itself, a pipe, and more than anybody writes.
TEST_F(GitNamedTest, ReadsNoMoreThanItCan) {
  write("work/.git/config", "[include]\n\tpath = ../a\n");
  write("work/a", "[include]\n\tpath = a\n\tpath = pipe\n\tpath = large\n[core]\n\tpager = x/y\n");
  ASSERT_EQ(::mkfifo((folder_ / "work/pipe").c_str(), 0600), 0);
  std::string large = "[core]\n\tpager = never/here\n";
  large.resize(300 << 10, '#');
  write("work/large", large);
  EXPECT_THAT(named(), UnorderedElementsAre("work/a", "work/pipe", "work/large", "work/x/y"));
}

}  // namespace
}  // namespace bulkhead
