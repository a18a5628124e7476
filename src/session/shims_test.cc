#include "session/shims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/fd.h"

namespace bulkhead {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ShimsTest : public ::testing::Test {
 protected:
  ShimsTest() {
    EXPECT_TRUE(make_directories(bin_, 0700).ok());
    for (const char* name : {"npm", "make", "bulkhead"})
      EXPECT_TRUE(write_file_atomically(bin_ + "/" + name, "#!/bin/sh\n", 0755).ok());
  }
  ~ShimsTest() override { std::filesystem::remove_all(root_); }

  Result<bool> add(const std::string& name) const { return shims_.add(name, {bin_}); }
  std::string refused(const std::string& name) const {
    const auto done = add(name);
    return done.ok() ? "" : done.error().message;
  }

  static std::string new_folder() {
    std::string text = (std::filesystem::temp_directory_path() / "shims.XXXXXX").string();
    return mkdtemp(text.data());
  }

  const std::string root_ = new_folder();
  const std::string bin_ = root_ + "/bin", folder_ = root_ + "/shims";
  const Shims shims_{folder_, "/opt/it's here/bulkhead"};
};

TEST_F(ShimsTest, AreMadeOnceAndRemoved) {
  EXPECT_TRUE(*add("npm"));
  EXPECT_FALSE(*add("npm"));
  EXPECT_TRUE(*add("make"));
  EXPECT_THAT(*shims_.list(), ElementsAre("make", "npm"));
  const auto text = read_file(folder_ + "/npm", 4096);
  ASSERT_TRUE(text.ok());
  EXPECT_THAT(*text, HasSubstr("exec '/opt/it'\\''s here/bulkhead' run -- npm \"$@\"\n"));
  EXPECT_EQ(access((folder_ + "/npm").c_str(), X_OK), 0);
  // Of an older bulkhead elsewhere.
  EXPECT_TRUE(*Shims(folder_, "/usr/bin/bulkhead").add("npm", {bin_}));
  EXPECT_TRUE(shims_.remove("npm").ok());
  EXPECT_FALSE(shims_.remove("npm").ok());
  EXPECT_THAT(*shims_.list(), ElementsAre("make"));
}

TEST_F(ShimsTest, AreOfProgramsAlone) {
  for (const char* name : {"", "yarn", "../bin/npm", "/bin/sh", "npm;x", "-c", ".", "a b", "$(x)"})
    EXPECT_NE(refused(name), "") << name;
  EXPECT_THAT(refused("bulkhead"), HasSubstr("bulkhead itself"));
  EXPECT_THAT(refused("yarn"), HasSubstr("no program yarn in PATH"));
  EXPECT_THAT(*shims_.list(), IsEmpty());
}

TEST_F(ShimsTest, TakeNobodyElsesPlace) {
  ASSERT_TRUE(make_directories(folder_, 0700).ok());
  ASSERT_TRUE(write_file_atomically(folder_ + "/npm", "#!/bin/sh\necho mine\n", 0755).ok());
  ASSERT_EQ(symlink((bin_ + "/make").c_str(), (folder_ + "/make").c_str()), 0);
  for (const char* name : {"npm", "make"}) {
    EXPECT_THAT(refused(name), HasSubstr("not made by bulkhead shim")) << name;
    EXPECT_FALSE(shims_.remove(name).ok());
  }
  EXPECT_EQ(*read_file(folder_ + "/npm", 4096), "#!/bin/sh\necho mine\n");
  EXPECT_EQ(*read_file(bin_ + "/make", 4096), "#!/bin/sh\n");
  EXPECT_THAT(*shims_.list(), IsEmpty());
}

TEST_F(ShimsTest, StandWhereNobodyElseWrites) {
  ASSERT_TRUE(make_directories(folder_, 0700).ok());
  ASSERT_EQ(chmod(folder_.c_str(), 0777), 0);
  EXPECT_THAT(refused("npm"), HasSubstr("chmod 700"));
  ASSERT_EQ(rmdir(folder_.c_str()), 0);
  ASSERT_EQ(symlink(bin_.c_str(), folder_.c_str()), 0);
  EXPECT_THAT(refused("npm"), HasSubstr("no folder"));
  EXPECT_EQ(*read_file(bin_ + "/npm", 4096), "#!/bin/sh\n");
}

TEST_F(ShimsTest, LeaveThePathByAnyNameOfTheirs) {
  const std::string path = "/usr/bin:" + folder_ + ":/bin";
  EXPECT_EQ(path_without_shims(path, folder_), path) << "there is none yet";
  ASSERT_TRUE(*add("npm"));
  EXPECT_EQ(path_without_shims(path, folder_), "/usr/bin:/bin");
  ASSERT_EQ(symlink(folder_.c_str(), (root_ + "/link").c_str()), 0);
  EXPECT_EQ(path_without_shims(root_ + "/link/:/bin:" + folder_ + "/../shims", folder_), "/bin");
  EXPECT_EQ(path_without_shims("/bin::" + folder_, folder_), "/bin:");
  EXPECT_EQ(path_without_shims(folder_, folder_), "");
  EXPECT_EQ(path_without_shims("", folder_), "");
}

}  // namespace
}  // namespace bulkhead
