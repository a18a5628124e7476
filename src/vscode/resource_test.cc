#include "vscode/resource.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace bulkhead {
namespace {

namespace fs = std::filesystem;
using ::testing::Optional;

class CanonicalFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "resource-XXXXXX").string();
    top_ = fs::canonical(::mkdtemp(name.data())).string();
    fs::create_directories(top_ + "/real/deep");
    std::ofstream(top_ + "/real/file") << "x";
  }
  void TearDown() override { fs::remove_all(top_); }
  void link(const std::string& target, const std::string& name) const {
    fs::create_symlink(target, top_ + "/" + name);
  }
  std::optional<std::string> of(const std::string& name) const {
    return canonical_file(top_ + "/" + name);
  }
  std::string top_;
};

TEST_F(CanonicalFile, OfWhatIsThereAndOfWhatIsNot) {
  EXPECT_THAT(of("real/file"), Optional(top_ + "/real/file"));
  EXPECT_THAT(of("real/deep"), Optional(top_ + "/real/deep"));
  EXPECT_THAT(of("real/deep/"), Optional(top_ + "/real/deep"));
  EXPECT_THAT(of("real//./file"), Optional(top_ + "/real/file"));
  EXPECT_THAT(of("real/new"), Optional(top_ + "/real/new"));
  EXPECT_THAT(of("none/at/all"), Optional(top_ + "/none/at/all"));
  EXPECT_THAT(of("real/file/below"), Optional(top_ + "/real/file/below"));
  EXPECT_THAT(of("real/" + std::string(300, 'n')),
              Optional(top_ + "/real/" + std::string(300, 'n')));
  EXPECT_THAT(canonical_file("/"), Optional(std::string("/")));
  EXPECT_THAT(canonical_file("/no-such-file"), Optional(std::string("/no-such-file")));
  for (const char* path : {"", "file", "./file"}) EXPECT_EQ(canonical_file(path), std::nullopt);
}

// Who folds it by name would make a file of what the kernel does not take.
TEST_F(CanonicalFile, NoneIsLongerThanTheKernelTakes) {
  std::string path = top_ + "/real/";
  while (path.size() < 4095 - 4) path += "/";
  EXPECT_THAT(canonical_file(path + "file"), Optional(top_ + "/real/file"));
  EXPECT_EQ(canonical_file(path + "//file"), std::nullopt);
  EXPECT_EQ(canonical_file(path + std::string(30000, '/') + "file"), std::nullopt);
  EXPECT_EQ(canonical_file(top_ + std::string(5000, 'n')), std::nullopt);
}

TEST_F(CanonicalFile, LinksAreFollowedInEachPlace) {
  link("real", "folder");
  link("real/file", "relative");
  link(top_ + "/real/file", "absolute");
  link("relative", "twice");
  link("../folder/file", "real/back");
  EXPECT_THAT(of("folder"), Optional(top_ + "/real"));
  EXPECT_THAT(of("folder/"), Optional(top_ + "/real"));
  EXPECT_THAT(of("folder/file"), Optional(top_ + "/real/file"));
  EXPECT_THAT(of("folder/new"), Optional(top_ + "/real/new"));
  for (const char* name : {"relative", "absolute", "twice", "real/back", "folder/back"})
    EXPECT_THAT(of(name), Optional(top_ + "/real/file")) << name;
}

// Where the folder of such a name is a link, the kernel takes another file than who folds it.
TEST_F(CanonicalFile, WhatGoesUpMeansOneFileOrNone) {
  link("real/deep", "folder");
  std::ofstream(top_ + "/file") << "y";
  EXPECT_THAT(of("real/deep/../file"), Optional(top_ + "/real/file"));
  EXPECT_EQ(of("folder/../file"), std::nullopt);
  EXPECT_EQ(of("folder/../new"), std::nullopt);
  EXPECT_EQ(of("none/.."), std::nullopt);
  EXPECT_EQ(of("real/none/.."), std::nullopt);
}

}  // namespace
}  // namespace bulkhead
