#include "policy/npm_settings.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "base/fd.h"

namespace bulkhead {
namespace {

namespace fs = std::filesystem;

TEST(NpmSettings, KeepWhereAndHowNpmInstalls) {
  EXPECT_EQ(
      harmless_npm_settings("registry = https://npm.example/\r\n; a comment\n# another\n\n"
                            "@team:registry=https://npm.example/team/\nfund=false\nsave-exact\n"
                            "omit[]=dev\n"),
      "registry=https://npm.example/\n@team:registry=https://npm.example/team/\nfund=false\n"
      "save-exact=true\nomit[]=dev\n");
  EXPECT_EQ(harmless_npm_settings(""), "");
}

TEST(NpmSettings, DropTokensProgramsAndWhatIsNotKnown) {
  for (const char* line : {"//npm.example/:_authToken=secret",
                           "_auth=c2VjcmV0",
                           "_password=secret",
                           "username=me",
                           "registry=https://me:secret@npm.example/",
                           "registry=https://npm.example/?token=secret",
                           "@team:registry=https://secret@npm.example/",
                           "@a/b:registry=x",
                           "proxy=http://npm.example",
                           "registry=${REGISTRY}",
                           "script-shell=/tmp/x",
                           "git=/tmp/x",
                           "editor=vi",
                           "key=secret",
                           "cert=secret",
                           "certfile=/x",
                           "keyfile=/x",
                           "node-options=--require=x",
                           "prefix=/x",
                           "onload-script=/x",
                           "init-module=/x",
                           "viewer=x",
                           "browser=x",
                           "userconfig=/x",
                           "[section]\nregistry=https://npm.example/",
                           "fund=\x01",
                           "otp=123456"})
    EXPECT_EQ(harmless_npm_settings(line), "") << line;
  std::string long_value = "registry=";
  long_value.append(2000, 'x');
  EXPECT_EQ(harmless_npm_settings(long_value), "");
  std::string large(300 << 10, 'x');
  large.append("\nfund=false\n");
  EXPECT_EQ(harmless_npm_settings(large), "");
}

TEST(NpmSettings, AreSharedUntilAProgramHasItsOwn) {
  const std::string root = ::testing::TempDir() + "npm-settings";
  fs::remove_all(root);
  fs::create_directories(root + "/home");
  fs::create_directories(root + "/store");
  const auto write = [&root](const std::string& name, const std::string& text) {
    std::ofstream(root + "/" + name) << text;
  };
  const auto there = [&root] { return read_file(root + "/store/.npmrc", 4096).value(); };
  write("home/.npmrc", "fund=false\n//npm.example/:_authToken=secret\n");
  ASSERT_TRUE(share_npm_settings(root + "/home", root + "/store").ok());
  EXPECT_TRUE(there().ends_with("\nfund=false\n"));
  EXPECT_EQ(there().find("secret"), std::string::npos);
  write("home/.npmrc", "fund=true\n");
  ASSERT_TRUE(share_npm_settings(root + "/home", root + "/store").ok());
  EXPECT_TRUE(there().ends_with("\nfund=true\n"));
  write("store/.npmrc", "audit=false\n");
  ASSERT_TRUE(share_npm_settings(root + "/home", root + "/store").ok());
  EXPECT_EQ(there(), "audit=false\n");
  fs::remove_all(root);
}

}  // namespace
}  // namespace bulkhead
