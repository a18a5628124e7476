#include "sandbox/home/private_home.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sandbox/home/home_size.h"
#include "sandbox/home/home_store.h"
#include "sandbox/home/kept_content.h"

namespace bulkhead {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

namespace fs = std::filesystem;

Entry entry(std::string text) { return {std::move(text), {}}; }

TEST(PrivateHome, TellsTheProgramsOwnFromTheMachines) {
  const PrivateHome home("/users/me", "/store",
                         {"/users/me/src/a/b", "/users/me/src/a", "/users/me/.x"});
  EXPECT_THAT(home.real(), ElementsAre("/users/me/.x", "/users/me/src/a"))
      << "one in another is one";
  for (const char* own : {"/users/me", "/users/me/.ssh/id_rsa", "/users/me/src", "/users/me/src/ab",
                          "/users/me/.xy", "/users/me/src/a.b"})
    EXPECT_TRUE(home.holds(own)) << own;
  for (const char* real : {"/users", "/users/men", "/", "/users/me/src/a", "/users/me/src/a/b/c",
                           "/users/me/.x", "/store", "/store/x"})
    EXPECT_FALSE(home.holds(real)) << real;
  for (const char* way :
       {"/users/me", "/users/me/src", "/users/me/src/a", "/users/me/src/a/b", "/"})
    EXPECT_TRUE(home.leads_to_real(way)) << way;
  for (const char* no : {"/users/me/.ssh", "/users/me/src/b", "/users/me/srca"})
    EXPECT_FALSE(home.leads_to_real(no)) << no;
}

class HomeTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/var/tmp/bulkhead-home-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    folder_ = name;
    home_ = folder_ + "/home";
    store_ = folder_ + "/store";
    fs::create_directories(home_ + "/src/project");
    inputs_.variables.home = home_;
    inputs_.manifest.files.private_home = true;
  }
  void TearDown() override {
    std::error_code ignored;
    if (!folder_.empty()) fs::remove_all(folder_, ignored);
  }
  std::string file(const std::string& name) const {
    const std::string path = folder_ + "/" + name;
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path) << "x";
    return path;
  }
  Result<PrivateHome> plan(const std::string& start = "/") {
    auto policy = Policy::compile(inputs_);
    if (!policy.ok()) return policy.error();
    return plan_home(**policy, store_, start);
  }

  PolicyInputs inputs_;
  std::string folder_, home_, store_;
  int made_ = 0;
};

TEST_F(HomeTest, WhatIsGrantedStays) {
  file("home/.nvm/versions/node");
  file("home/.local/lib/python3.11/x");
  file("home/.local/lib/other/x");
  file("home/.prettierrc");
  file("home/.prettierrc.json");
  file("home/.ssh/id_rsa");
  fs::create_directories(home_ + "/.prettierrc.d");
  inputs_.manifest.files.read = {entry("${home}/.nvm/versions"),
                                 entry("${home}/.local/lib/python3*"), entry("**/.prettierrc*"),
                                 entry("${home}/.missing")};
  inputs_.variables.workspace = {home_ + "/src/project"};
  const auto home = plan();
  ASSERT_TRUE(home.ok()) << to_string(home.error());
  EXPECT_THAT(home->real(),
              ElementsAre(home_ + "/.local/lib/python3.11", home_ + "/.nvm/versions",
                          home_ + "/.prettierrc", home_ + "/.prettierrc.json", home_ + "/src"));
}

TEST_F(HomeTest, AProjectInAFolderOfPrograms) {
  fs::create_directories(home_ + "/.config/nvim");
  inputs_.variables.workspace = {home_ + "/.config/nvim"};
  EXPECT_THAT(plan()->real(), ElementsAre(home_ + "/.config/nvim"));
}

TEST_F(HomeTest, NoneWhereTheHomeIsGranted) {
  for (const std::string& granted : {home_, folder_, std::string("/")}) {
    inputs_.manifest.files.read = {entry(granted)};
    EXPECT_THAT(to_string(plan().error()), HasSubstr("cannot be private")) << granted;
  }
  inputs_.manifest.files.read.clear();
  EXPECT_THAT(to_string(plan(home_ + "/src/project").error()), HasSubstr("working folder"));
  EXPECT_TRUE(plan(home_).ok());
  inputs_.variables.home = folder_ + "/nothing";
  EXPECT_FALSE(plan().ok());
  inputs_.variables.home = "/";
  EXPECT_FALSE(plan().ok());
}

TEST_F(HomeTest, PlacesAreMadeInTheStoreAlone) {
  file("home/.gitconfig");
  const PrivateHome home(home_, store_, {home_ + "/src/project", home_ + "/.gitconfig"});
  ASSERT_TRUE(make_store(store_).ok());
  // The program's links lead nowhere.
  fs::create_directories(folder_ + "/outside");
  fs::create_symlink(folder_ + "/outside", store_ + "/src");
  fs::create_directories(store_ + "/.gitconfig");
  ASSERT_TRUE(make_places(home).ok());
  EXPECT_TRUE(fs::is_empty(folder_ + "/outside"));
  EXPECT_TRUE(fs::is_directory(fs::symlink_status(store_ + "/src/project")));
  EXPECT_TRUE(fs::is_regular_file(store_ + "/.gitconfig"));
  EXPECT_TRUE(fs::is_directory(store_ + "/.gitconfig.own"));
  fs::create_directories(store_ + "/.tool/bin");
  EXPECT_THAT(own_folders(home),
              UnorderedElementsAre(home_ + "/.cache", home_ + "/.config", home_ + "/.local",
                                   home_ + "/.tool", home_ + "/.gitconfig.own"));
  // An empty file would be a setting that says nothing.
  ASSERT_TRUE(make_places(PrivateHome(home_, store_, {})).ok());
  EXPECT_FALSE(fs::exists(store_ + "/.gitconfig"));
}

TEST_F(HomeTest, StoresGoWithTheirExtensions) {
  const std::string extensions = folder_ + "/extensions/";
  fs::create_directories(extensions + "a.stays-2.0.0-linux-x64");
  ASSERT_TRUE(make_store_of(folder_, "a.stays", {extensions + "a.stays-1.0.0"}).ok());
  ASSERT_TRUE(make_store_of(folder_, "a.goes", {extensions + "a.goes-1.0.0"}).ok());
  ASSERT_TRUE(make_store_of(folder_, "a.away", {folder_ + "/unmounted/a.away-1.0.0"}).ok());
  ASSERT_TRUE(make_store_of(folder_, "vscode.git", {extensions + "git"}).ok());
  ASSERT_TRUE(make_store_of(folder_, "/usr/bin/tool").ok());
  file("home/keep");
  fs::create_symlink(home_, store_of(folder_, "a.goes") + "/link");
  remove_orphaned_stores(folder_);
  for (const char* stays : {"a.stays", "a.away", "vscode.git", "/usr/bin/tool"})
    EXPECT_TRUE(fs::exists(store_of(folder_, stays))) << stays;
  EXPECT_FALSE(fs::exists(store_of(folder_, "a.goes")));
  EXPECT_TRUE(fs::exists(home_ + "/keep"));
}

TEST_F(HomeTest, APassingStoreIsEmptyForTheNextRun) {
  std::string first;
  {
    const auto store = PassingStore::make(folder_);
    ASSERT_TRUE(store.ok()) << to_string(store.error());
    first = store->path();
    const auto other = PassingStore::make(folder_);
    ASSERT_TRUE(other.ok());
    EXPECT_NE(other->path(), first) << "that one is in use";
    file("homes/" + fs::path(first).filename().string() + "/.cache/x/y");
    file("homes/" + fs::path(first).filename().string() + "/.local/z");
    fs::permissions(first + "/.cache/x", fs::perms::none);
    fs::create_symlink(home_, first + "/.link");
    fs::remove(first + "/.config");
    fs::create_symlink(home_, first + "/.config");
    fs::remove_all(other->path());
  }
  file("home/stays");
  const auto next = PassingStore::make(folder_);
  ASSERT_TRUE(next.ok());
  EXPECT_EQ(next->path(), first);
  EXPECT_FALSE(fs::exists(first + "/.cache/x"));
  EXPECT_FALSE(fs::exists(first + "/.local/z"));
  EXPECT_TRUE(fs::is_directory(fs::symlink_status(first + "/.config")));
  EXPECT_TRUE(fs::exists(home_ + "/stays"));
}

TEST_F(HomeTest, SizeIsThatOfTheFiles) {
  ASSERT_TRUE(make_store(store_).ok());
  std::ofstream(store_ + "/.cache/big") << std::string(1U << 20U, 'x');
  const auto size = size_of_content(store_, 100);
  ASSERT_TRUE(size);
  EXPECT_GE(size->bytes, 1U << 20U);
  EXPECT_GT(size->files, 2U);
  EXPECT_EQ(size_of_content(store_, 2)->files, 3U);
}

// A cache of many small files gets a full disk, which its program can mend, before it is ended.
TEST_F(HomeTest, ManyFilesFillItBeforeTheyEndIt) {
  ASSERT_TRUE(make_store(store_).ok());
  const uint64_t before = size_of_content(store_, 100)->files;
  HomeSize size(store_, 1U << 30U, nullptr, before + 3);
  const auto make = [&](uint64_t count) {
    for (uint64_t i = 0; i < count; ++i)
      std::ofstream(store_ + "/.cache/" + std::to_string(made_++)).put('x');
  };
  make(3);
  EXPECT_FALSE(size.measure());
  EXPECT_FALSE(size.full());
  make(1);
  EXPECT_FALSE(size.measure());
  EXPECT_TRUE(size.full());
  fs::remove(store_ + "/.cache/0");
  EXPECT_FALSE(size.measure());
  EXPECT_FALSE(size.full());
  make(kHomeFilesAbove + 1);
  EXPECT_TRUE(size.measure());
}

}  // namespace
}  // namespace bulkhead
