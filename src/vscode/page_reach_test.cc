#include "vscode/page_reach.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/fd.h"
#include "base/nlohmann.h"
#include "policy/test_inputs.h"

namespace bulkhead {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

PageReach reach_of(std::initializer_list<const char*> granted,
                   std::initializer_list<const char*> blocked = {},
                   std::initializer_list<const char*> permissions = {}) {
  PolicyInputs inputs = testing::inputs();
  inputs.manifest.network = testing::entries(granted);
  inputs.manifest.vscode = testing::entries(permissions);
  BlockGroup group;
  group.name = "hosts";
  group.network = testing::entries(blocked);
  inputs.blocklists = {testing::blocklist(Blocklist::Source::kUser, group)};
  return PageReach::of(*testing::compiled(inputs));
}

TEST(PageReach, HoldsTheHostsThatAreGrantedByName) {
  EXPECT_THAT(reach_of({}).hosts, IsEmpty());
  EXPECT_THAT(
      reach_of({"Api.Example.com:443", "*.example.org:*", "localhost:3000", "api.example.com:443"})
          .hosts,
      ElementsAre("*.example.org:*", "api.example.com:443", "localhost:3000"));
}

TEST(PageReach, HoldsNothingThatABrowserCannotBeToldExactly) {
  EXPECT_THAT(
      reach_of({"*:443", "10.0.0.5:443", "10.0.0.0/8:*", "[fd00::1]:443", "example.com:8000-8100"})
          .hosts,
      IsEmpty());
}

TEST(PageReach, HoldsNoHostOfWhichABlockMaySpeak) {
  EXPECT_THAT(reach_of({"a.example.com:443", "b.example.com:443"}, {"a.example.com:*"}).hosts,
              ElementsAre("b.example.com:443"));
  for (const char* block : {"a.example.com:443", "x.a.example.com:443", "*.example.com:443",
                            "*.x.example.com:443", "*:25"})
    EXPECT_THAT(reach_of({"*.example.com:443"}, {block}).hosts, IsEmpty()) << block;
  EXPECT_THAT(reach_of({"x.example.com:443"}, {"*.example.com:443"}).hosts, IsEmpty());
  EXPECT_THAT(reach_of({"localhost:80"}, {"127.0.0.0/8:*"}).hosts, IsEmpty());
  EXPECT_THAT(reach_of({"localhost:80"}, {"localhost:*"}).hosts, IsEmpty());
  EXPECT_THAT(
      reach_of({"*.example.com:443", "localhost:80"}, {"example.net:*", "10.0.0.0/8:*"}).hosts,
      ElementsAre("*.example.com:443", "localhost:80"));
}

TEST(PageReach, IsOpenWherePagesMayReachWhatTheyLike) {
  EXPECT_FALSE(reach_of({}, {}, {"webview", "@editor"}).open);
  EXPECT_TRUE(reach_of({}, {}, {"webview-network"}).open);
}

TEST(PageReach, IsWrittenForEachExtension) {
  const std::string folder = ::testing::TempDir() + "/pages-" + std::to_string(::getpid());
  ASSERT_TRUE(
      write_page_reach(folder, {"me.one", "me.two"}, {{"api.example.com:443"}, false}).ok());
  // printf me.one | sha256sum
  EXPECT_EQ(page_label("me.one"), "b441b06144041e22b3628247ff53c5e1ad772b0240a8c317b7e0");
  for (const char* extension : {"me.one", "me.two"}) {
    const auto text = read_file(folder + "/" + page_label(extension), 1000);
    ASSERT_TRUE(text.ok()) << extension;
    EXPECT_EQ(nlohmann::json::parse(*text),
              (nlohmann::json{{"hosts", {"api.example.com:443"}}, {"open", false}}));
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace bulkhead
