#include "vscode/workspace_folders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace bulkhead {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class WorkspaceFoldersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "folders-XXXXXX").string();
    folder_ = fs::canonical(::mkdtemp(name.data()));
    for (const char* each :
         {"home/project", "home/a//b", "home/with space", "other", "others/you/project"})
      fs::create_directories(folder_ / each);
  }
  void TearDown() override { fs::remove_all(folder_); }

  WholeFolders whole(const std::string& named = "") const {
    return {{at("home"), at("others/you")}, named};
  }
  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  Result<std::vector<std::string>> folders_of(const std::string& text) const {
    std::ofstream(folder_ / "home/w.code-workspace") << text;
    return workspace_folders("", at("home/w.code-workspace"), whole());
  }
  std::vector<std::string> named(const std::string& text) const {
    auto folders = folders_of(text);
    EXPECT_TRUE(folders.ok()) << text;
    return folders.ok() ? *folders : std::vector<std::string>{"error"};
  }

  fs::path folder_;
};

TEST_F(WorkspaceFoldersTest, OneFolderOrNone) {
  EXPECT_THAT(*workspace_folders("", "", whole()), IsEmpty());
  EXPECT_THAT(*workspace_folders(at("home/project/"), "", whole()),
              ElementsAre(at("home/project")));
  EXPECT_THAT(*workspace_folders(at("home/nothing"), "", whole()), IsEmpty());
  std::ofstream(folder_ / "home/file") << "x";
  EXPECT_THAT(*workspace_folders(at("home/file"), "", whole()), IsEmpty());
  fs::create_directory_symlink(folder_ / "other", folder_ / "home/link");
  EXPECT_THAT(*workspace_folders(at("home/link"), "", whole()), ElementsAre(at("other")));
}

TEST_F(WorkspaceFoldersTest, TheHomeFolderIsNotHandedOver) {
  for (const std::string& each :
       {at("home"), at("home/"), at(""), at("others/you"), at("others")}) {
    const auto folders = workspace_folders(each, "", whole());
    ASSERT_FALSE(folders.ok()) << each;
    EXPECT_THAT(folders.error().message, HasSubstr("home folder"));
  }
  EXPECT_THAT(*workspace_folders(at("others/you/project"), "", whole()),
              ElementsAre(at("others/you/project")));
  // By whatever name it goes.
  fs::create_directory_symlink(folder_ / "home", folder_ / "me");
  EXPECT_FALSE(workspace_folders(at("me"), "", whole()).ok());
  EXPECT_FALSE(folders_of(R"({"folders":[{"path":"project"},{"path":"."}]})").ok());
  EXPECT_THAT(named(R"({"folders":[{"path":"../other"}]})"), ElementsAre(at("other")));
}

TEST_F(WorkspaceFoldersTest, NorIsWhatAllOfTheMachineShares) {
  for (const char* each : {"/", "/tmp", "/etc", "/usr"}) {
    const auto folders = workspace_folders(each, "", whole());
    ASSERT_FALSE(folders.ok()) << each;
    EXPECT_THAT(folders.error().message, HasSubstr("shared by all of the machine"));
  }
  const auto folders = folders_of(R"({"folders":[{"path":"project"},{"path":"/tmp"}]})");
  ASSERT_FALSE(folders.ok());
  EXPECT_THAT(folders.error().message, HasSubstr("bulkhead code --workspace /tmp"));
}

TEST_F(WorkspaceFoldersTest, WhoNamesItHasItAndNothingElse) {
  EXPECT_THAT(*workspace_folders(at("home/"), "", whole(at("home"))), ElementsAre(at("home")));
  EXPECT_THAT(*workspace_folders("/tmp", "", whole("/tmp")), ElementsAre("/tmp"));
  EXPECT_FALSE(workspace_folders(at("others/you"), "", whole(at("home"))).ok());
  EXPECT_FALSE(workspace_folders(at(""), "", whole(at("home"))).ok()) << "nor what holds it";
  EXPECT_FALSE(workspace_folders("/", "", whole("/tmp")).ok());
}

TEST_F(WorkspaceFoldersTest, AFileAsPeopleWriteIt) {
  EXPECT_THAT(named(R"(// a comment with "quotes" and , ]
{
  /* another, with } */
  "folders": [
    { "path": "project", "name": "http://not/a/comment", }, // the last, with a comma,
    { "path": "a//b" /* , */ },
    /* { "path": "other" }, */
  ],
  "settings": { "x": "/* , ] */", "y": "\",]", },
})"),
              ElementsAre(at("home/project"), at("home/a/b")));
}

TEST_F(WorkspaceFoldersTest, RelativeAbsoluteAndUriAndEachOnce) {
  const std::string all = R"({"folders":[{"path":"./project/../project"},{"path":")" + at("other") +
                          R"("},{"uri":"vscode-remote://host:1)" + at("home/with%20space") +
                          R"("},{"uri":"file://)" + at("home/%70roject?q#f") +
                          R"("},{"uri":"https://example.com/x"},{"uri":"file://"},{"path":7},3]})";
  EXPECT_THAT(named(all), ElementsAre(at("home/project"), at("other"), at("home/with space")));
  // A percent that escapes nothing stands for itself; a zero byte cuts nothing off.
  EXPECT_THAT(named(R"({"folders":[{"uri":"file://)" + at("home/project%00/x") + R"("}]})"),
              IsEmpty());
  EXPECT_THAT(named(R"({"folders":[{"uri":"file://)" + at("home/project%") + R"("}]})"), IsEmpty());
  EXPECT_THAT(named(R"({"folders":[{"path":"gone"},{"path":"project"}]})"),
              ElementsAre(at("home/project")));
}

TEST_F(WorkspaceFoldersTest, WhatIsNoWorkspaceFileIsAnError) {
  for (const char* text :
       {"", "{", "[]", "{}", R"({"folders":{}})", R"({"folders":[)", "{\"folders", "/*", "\"\\"})
    EXPECT_FALSE(folders_of(text).ok()) << text;
  EXPECT_FALSE(workspace_folders("", at("home/none.code-workspace"), whole()).ok());
}

}  // namespace
}  // namespace bulkhead
