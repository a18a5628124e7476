#include "policy/homes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace bulkhead {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class HomesTest : public testing::Test {
 protected:
  HomesTest() {
    std::string text = (fs::temp_directory_path() / "bulkhead-XXXXXX").string();
    if (mkdtemp(text.data()) != nullptr) root_ = fs::canonical(text).string();
  }
  ~HomesTest() override { fs::remove_all(root_); }
  void SetUp() override { ASSERT_FALSE(root_.empty()); }

  std::string folder(const std::string& name) {
    fs::create_directories(root_ + "/" + name);
    return root_ + "/" + name;
  }
  std::vector<std::string> find(const std::string& passwd) {
    std::ofstream(root_ + "/passwd") << passwd;
    return find_homes({root_ + "/passwd", root_ + "/home", ""});
  }

  std::string root_;
};

TEST_F(HomesTest, OfRootOfPeopleAndOfWhoseTheyAre) {
  const std::string own = std::to_string(getuid());
  const std::string root = folder("root"), me = folder("me"), base = folder("base");
  const std::string programs = folder("programs");
  const std::string stranger = getuid() == 12 ? "13" : "12";
  EXPECT_THAT(find("root:x:0:0:root:" + root + ":/bin/sh\n" +                 //
                   "me:x:1000:1000:Me,,,:" + root_ + "//me/:/bin/sh\n" +      //
                   "base:x:" + own + ":12::" + base + ":/bin/sh\n" +          //
                   "bin:x:" + stranger + ":12::" + programs + ":/bin/sh\n" +  //
                   "gone:x:1001:1001::" + root_ + "/none:/bin/sh\n" +         //
                   "none:x:1002:1002::/:/bin/sh\n" + "odd:x:1003:1003::rel:/bin/sh\nbroken\n"),
              ElementsAre(base, me, root));
}

TEST_F(HomesTest, EachFolderOfHome) {
  const std::string me = folder("home/me"), away = folder("away/you");
  fs::create_symlink(away, root_ + "/home/you");
  std::ofstream(folder("home") + "/file") << "no folder";
  EXPECT_THAT(find("me:x:1000:1000::" + me + ":/bin/sh\n"), ElementsAre(away, me));
}

TEST_F(HomesTest, NothingThere) {
  EXPECT_THAT(find_homes({root_ + "/none", root_ + "/none", "no such user"}), ElementsAre());
}

TEST(NoProject, HomesWhatHoldsThemAndWhatAllShare) {
  const std::vector<std::string> homes = {"/data/home/me", "/root"};
  EXPECT_EQ(why_no_project("/data/home/me", homes), "is a home folder");
  EXPECT_THAT(why_no_project("/data/home", homes), HasSubstr("/data/home/me"));
  EXPECT_THAT(why_no_project("/data", homes), HasSubstr("/data/home/me"));
  EXPECT_EQ(why_no_project("/data/home/me/project", homes), "");
  EXPECT_EQ(why_no_project("/data/home/me2", homes), "");
  for (const char* shared : {"/", "/tmp", "/var/tmp", "/etc", "/usr", "/var", "/home"})
    EXPECT_THAT(why_no_project(shared, homes), HasSubstr("shared")) << shared;
  EXPECT_EQ(why_no_project("/tmp/project", homes), "");
  EXPECT_EQ(why_no_project("/srv", homes), "");
}

}  // namespace
}  // namespace bulkhead
