#include "policy/git_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/fd.h"

namespace bulkhead {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string kept(std::string_view text) {
  const auto result = harmless_git_settings(text);
  EXPECT_TRUE(result.ok()) << to_string(result.error());
  return result.ok() ? *result : "";
}

TEST(GitSettings, KeepWhoTheUserIs) {
  EXPECT_EQ(kept("[user]\n\tname = A B\n\temail=a@b.example # mine\n"),
            "[user]\n\tname = \"A B\"\n[user]\n\temail = \"a@b.example\"\n");
  EXPECT_EQ(kept("[USER] Name = \"A \\\"x\\\" \\\\ B\" ; c\r\n"),
            "[user]\n\tname = \"A \\\"x\\\" \\\\ B\"\n");
  EXPECT_EQ(kept("\xEF\xBB\xBF[commit]\n  gpgSign\n[pull]rebase=true\n"),
            "[commit]\n\tgpgsign = \"true\"\n[pull]\n\trebase = \"true\"\n");
  EXPECT_EQ(kept("[init]\n\tdefaultBranch = ma\\\nin  \n"), "[init]\n\tdefaultbranch = \"main\"\n");
  EXPECT_EQ(kept(""), "");
}

TEST(GitSettings, DropWhatCarriesTokensProgramsOrFurtherFiles) {
  const std::string text = kept(R"([url "https://me:secret@host.example/"]
	insteadOf = https://host.example/
[credential]
	helper = "!f() { echo password=secret; }; f"
[credential "https://host.example"]
	username = secret
[http]
	extraHeader = "Authorization: Bearer secret"
	proxy = http://me:secret@proxy.example
[http "https://host.example"]
	extraHeader = secret
[include]
	path = ~/secret
[includeIf "gitdir:~/"]
	path = ~/secret
[alias]
	x = !secret
[core]
	sshCommand = secret
	editor = secret
	hooksPath = secret
	fsmonitor = secret
	autocrlf = input
[github]
	token = secret
	user = secret
[sendemail]
	smtpPass = secret
[user "secret"]
	name = secret
[user.secret]
	name = secret
[filter "x"]
	clean = secret
[filter "lfs"]
	clean = "git-lfs clean -- %f; secret"
	smudge = git-lfs smudge -- %f
[branch "secret"]
	remote = https://secret@host.example
)");
  EXPECT_THAT(text, Not(HasSubstr("secret")));
  EXPECT_EQ(text,
            "[core]\n\tautocrlf = \"input\"\n[filter \"lfs\"]\n\tsmudge = \"git-lfs smudge -- "
            "%f\"\n");
}

// What is written anew must not be read as something else.
TEST(GitSettings, ValuesCannotBecomeSettings) {
  EXPECT_EQ(kept("[user]\n\tname = \"a\\n[alias]\\n\\tx = !y\"\n"), "");
  EXPECT_EQ(kept("[user]\n\tname = \"] [alias] #;\"\n"), "[user]\n\tname = \"] [alias] #;\"\n");
  const std::string once = kept("[user]\n\tname = \\\\\\\" x \" ; y \"\n");
  EXPECT_EQ(kept(once), once);
  EXPECT_EQ(kept("[user]\n\tname = " + std::string(2000, 'a') + "\n"), "");
}

TEST(GitSettings, RefuseWhatGitCouldNotRead) {
  for (const std::string text :
       {"name = x", "[user\nname = x", "[user \"x]\n", "[user \"x\\", "[user] = x",
        "[user]\n1a = x", "[user]\nname x", "[user]\nname = \"x\n", "[user]\nname = x\\q\n",
        "[user]\nname = x\\", "[]\n", "[user x]\n"})
    EXPECT_FALSE(harmless_git_settings(text).ok()) << text;
  EXPECT_FALSE(harmless_git_settings(std::string("[user]\nname = \0", 15)).ok());
  EXPECT_FALSE(harmless_git_settings(std::string(1 << 20, '#')).ok());
}

class SharedSettings : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/bulkhead-git-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    top_ = name;
    std::filesystem::create_directories(top_ + "/me/.config/git");
    std::filesystem::create_directories(top_ + "/store");
  }
  void TearDown() override { std::filesystem::remove_all(top_); }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(top_ + "/" + name) << text;
  }
  std::string shared() {
    const Status done = share_git_settings(top_ + "/me", top_ + "/store");
    EXPECT_TRUE(done.ok()) << to_string(done.error());
    return there();
  }
  // Without the comment at its head.
  std::string there() {
    const std::string text = read_file(top_ + "/store/.gitconfig", 1 << 20).value();
    return text.starts_with('#') ? text.substr(text.find('\n') + 1) : text;
  }
  std::string top_;
};

TEST_F(SharedSettings, AreThoseOfBothFiles) {
  write("me/.config/git/config", "[user]\nname = A\n[credential]\nhelper = store\n");
  write("me/.gitconfig", "[user]\nemail = a@b\n");
  EXPECT_EQ(shared(), "[user]\n\tname = \"A\"\n[user]\n\temail = \"a@b\"\n");
  write("me/.gitconfig", "[user\nemail = a@b\n");
  EXPECT_EQ(shared(), "[user]\n\tname = \"A\"\n");
}

TEST_F(SharedSettings, FollowTheUsersUntilAProgramChangesThem) {
  write("me/.gitconfig", "[user]\nname = A\n");
  EXPECT_EQ(shared(), "[user]\n\tname = \"A\"\n");
  write("me/.gitconfig", "[user]\nname = B\n");
  EXPECT_EQ(shared(), "[user]\n\tname = \"B\"\n");
  std::ofstream(top_ + "/store/.gitconfig", std::ios::app) << "[user]\n\temail = own\n";
  const std::string own = there();
  write("me/.gitconfig", "[user]\nname = C\n");
  EXPECT_EQ(shared(), own);
  write("store/.gitconfig", "[user]\n\tname = own\n");
  EXPECT_EQ(shared(), "[user]\n\tname = own\n");
  write("store/.gitconfig", "");
  EXPECT_EQ(shared(), "[user]\n\tname = \"C\"\n");
}

TEST_F(SharedSettings, ReplaceWhatAProgramPutThere) {
  write("me/.gitconfig", "[user]\nname = A\n");
  write("me/victim", "mine");
  const std::string text = "[user]\n\tname = \"A\"\n";
  ASSERT_EQ(::symlink((top_ + "/me/victim").c_str(), (top_ + "/store/.gitconfig").c_str()), 0);
  EXPECT_EQ(shared(), text);
  EXPECT_EQ(read_file(top_ + "/me/victim", 100).value(), "mine");
  ASSERT_EQ(::unlink((top_ + "/store/.gitconfig").c_str()), 0);
  ASSERT_EQ(::mkfifo((top_ + "/store/.gitconfig").c_str(), 0600), 0);
  EXPECT_EQ(shared(), text);
  ASSERT_EQ(::unlink((top_ + "/store/.gitconfig").c_str()), 0);
  ASSERT_EQ(::mkdir((top_ + "/store/.gitconfig").c_str(), 0700), 0);
  EXPECT_TRUE(share_git_settings(top_ + "/me", top_ + "/store").ok());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(top_ + "/store"), {}), 1);
}

}  // namespace
}  // namespace bulkhead
