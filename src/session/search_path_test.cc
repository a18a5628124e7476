#include "session/search_path.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/path.h"
#include "session/program.h"

namespace bulkhead {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ToolchainsInPath : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = canonical_or_same(::testing::TempDir()) + "/toolchains-in-path";
    fs::remove_all(root_);
    for (const char* each : {"person/work/project/bin", "person/node/bin", "person/node/lib",
                             "person/scripts", "person/bin", "person/lib", "opt/tool/bin"})
      fs::create_directories(root_ + "/" + each);
    variables_.home = root_ + "/person";
    variables_.workspace = {root_ + "/person/work/project"};
  }
  void TearDown() override { fs::remove_all(root_); }
  std::vector<std::string> found(const std::string& folder) {
    return toolchains_in({root_ + "/" + folder}, variables_);
  }

  std::string root_;
  Variables variables_;
};

TEST_F(ToolchainsInPath, AreItsFoldersAndWhatTheyLoad) {
  EXPECT_THAT(found("person/node/bin"), ElementsAre(root_ + "/person/node"));
  EXPECT_THAT(found("person/scripts"), ElementsAre(root_ + "/person/scripts"));
  EXPECT_THAT(found("opt/tool/bin"), ElementsAre(root_ + "/opt/tool/bin")) << "no lib beside it";
  EXPECT_THAT(found("person/scripts/../node/bin"), ElementsAre(root_ + "/person/node"));
  EXPECT_THAT(toolchains_in({"/usr/bin", "/bin", "/usr/local/bin"}, variables_), IsEmpty());
}

TEST_F(ToolchainsInPath, AreNoHomesAndNothingThatHoldsOne) {
  EXPECT_THAT(found("person"), IsEmpty());
  EXPECT_THAT(found("person/bin"), ElementsAre(root_ + "/person/bin"))
      << "~/lib does not make ~ a tool";
  EXPECT_THAT(found(""), IsEmpty());
  EXPECT_THAT(found("person/work"), IsEmpty()) << "it holds the workspace";
  EXPECT_THAT(toolchains_in({"/", "/tmp", "/etc"}, variables_), IsEmpty());
}

TEST_F(ToolchainsInPath, AreNotWhereOthersMayWrite) {
  ASSERT_EQ(::chmod((root_ + "/person/scripts").c_str(), 0777), 0);
  EXPECT_THAT(found("person/scripts"), IsEmpty());
  EXPECT_THAT(found("person/missing"), IsEmpty());
}

}  // namespace
}  // namespace bulkhead
