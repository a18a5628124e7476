#include "policy/lifts.h"

#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "policy/test_inputs.h"

namespace bulkhead {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace fs = std::filesystem;

class LiftsTest : public ::testing::Test {
 protected:
  LiftsTest() {
    std::string name = fs::temp_directory_path() / "bulkhead-lifts-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    BlockGroup files, keys;
    files.name = "files";
    files.block_write = testing::entries({"**/.hooks", "${workspace}/ci.yml"});
    keys.name = "keys";
    keys.block = testing::entries({"${home}/.ssh"});
    lists_ = {testing::blocklist(Blocklist::Source::kBuiltin, files),
              testing::blocklist(Blocklist::Source::kBuiltin, keys)};
    BlockGroup own = files;
    own.name = "own";
    lists_.push_back(testing::blocklist(Blocklist::Source::kUser, own));
  }
  ~LiftsTest() override { fs::remove_all(folder_); }

  std::string file() const { return folder_ + "/new/lifts.json"; }
  void write(const std::string& text) {
    fs::create_directories(folder_ + "/new");
    ::chmod((folder_ + "/new").c_str(), 0700);
    std::ofstream(file()) << text;
    ::chmod(file().c_str(), 0600);
  }
  Result<std::vector<std::string>> lifted(std::vector<std::string> workspace) {
    return LiftStore(file()).lifted_in(workspace, lists_);
  }

  std::string folder_;
  std::vector<Blocklist> lists_;
};

TEST_F(LiftsTest, ALiftCountsInItsFolderAndBelow) {
  LiftStore store(file());
  EXPECT_THAT(*lifted({"/ws"}), IsEmpty());
  EXPECT_TRUE(*store.lift("/ws", "files"));
  EXPECT_FALSE(*store.lift("/ws", "files"));
  EXPECT_THAT(*lifted({"/ws"}), ElementsAre("files"));
  EXPECT_THAT(*lifted({"/ws/below"}), ElementsAre("files"));
  EXPECT_THAT(*lifted({"/ws2"}), IsEmpty());
  EXPECT_THAT(*lifted({"/"}), IsEmpty());
  EXPECT_THAT(*lifted({}), IsEmpty());
  struct stat status {};
  ASSERT_EQ(::stat(file().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(LiftsTest, EachFolderOfAWindowNeedsIt) {
  LiftStore store(file());
  EXPECT_TRUE(*store.lift("/a", "files"));
  EXPECT_THAT(*lifted({"/a", "/b"}), IsEmpty());
  EXPECT_TRUE(*store.lift("/b", "files"));
  EXPECT_THAT(*lifted({"/a", "/b"}), ElementsAre("files"));
}

TEST_F(LiftsTest, ItIsTakenBack) {
  LiftStore store(file());
  EXPECT_FALSE(*store.restore("/ws", "files"));
  EXPECT_TRUE(*store.lift("/ws", "files"));
  EXPECT_TRUE(*store.restore("/ws", "files"));
  EXPECT_THAT(*lifted({"/ws"}), IsEmpty());
  EXPECT_TRUE(store.load()->empty());
}

TEST_F(LiftsTest, OnlyGroupsAboutFilesOfAWorkspace) {
  EXPECT_EQ(why_no_lift(lists_[0].groups[0]), "");
  EXPECT_THAT(why_no_lift(lists_[1].groups[0]), HasSubstr("--unblock keys"));
  BlockGroup mixed = lists_[0].groups[0];
  mixed.block_write.push_back(testing::entries({"${home}/.bashrc"})[0]);
  EXPECT_NE(why_no_lift(mixed), "");
  for (auto member : {&BlockGroup::block, &BlockGroup::network, &BlockGroup::run,
                      &BlockGroup::environment, &BlockGroup::vscode}) {
    BlockGroup more = lists_[0].groups[0];
    more.*member = testing::entries({"**/x"});
    EXPECT_NE(why_no_lift(more), "");
  }
  // Written by hand: refused, and only where it would count.
  write(R"({"lifts": 1, "workspaces": {"/ws": ["keys"]}})");
  EXPECT_THAT(lifted({"/ws"}).error().message, HasSubstr("keys"));
  EXPECT_TRUE(lifted({"/other"}).ok());
}

TEST_F(LiftsTest, GroupsOfUsersAndOrganisationsStay) {
  write(R"({"lifts": 1, "workspaces": {"/ws": ["own"]}})");
  EXPECT_THAT(*lifted({"/ws"}), IsEmpty());
}

TEST_F(LiftsTest, ABrokenFileIsAnError) {
  for (const char* text :
       {"", "[]", "{}", R"({"lifts": 2, "workspaces": {}})", R"({"lifts": 1})",
        R"({"lifts": 1, "workspaces": []})", R"({"lifts": 1, "workspaces": {"/ws": "files"}})",
        R"({"lifts": 1, "workspaces": {"/ws": [1]}})",
        R"({"lifts": 1, "workspaces": {"ws": ["files"]}})",
        R"({"lifts": 1, "workspaces": {"/": ["files"]}})",
        R"({"lifts": 1, "workspaces": {"/ws": ["a"], "/ws": ["b"]}})"}) {
    write(text);
    EXPECT_FALSE(lifted({"/ws"}).ok()) << text;
    EXPECT_FALSE(LiftStore(file()).lift("/ws", "files").ok()) << text;
  }
  write(R"({"lifts": 1, "workspaces": {}})");
  ::chmod(file().c_str(), 0666);
  EXPECT_FALSE(lifted({"/ws"}).ok());
}

}  // namespace
}  // namespace bulkhead
