#include "policy/repository_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace bulkhead {
namespace {

using ::testing::HasSubstr;

constexpr const char* kMade =
    "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"
    "\tlogallrefupdates = true\n";
constexpr const char* kCloned =
    "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://example.org/a.git\n"
    "\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n"
    "\tmerge = refs/heads/main\n";

std::string refusal(std::string_view before, std::string_view after) {
  const Status status = judge_repository_config(before, after);
  return status.ok() ? "" : status.error().message;
}

// Not by "+", at which g++ 12 sees what is not there.
std::string with(std::string_view text, std::string_view more) {
  std::string both(text);
  both.append(more);
  return both;
}

TEST(RepositoryConfig, WhatGitWritesByItself) {
  EXPECT_EQ(refusal("", kMade), "");
  EXPECT_EQ(refusal(kMade, kCloned), "");
  EXPECT_EQ(refusal(kCloned, kCloned), "");
  EXPECT_EQ(refusal("", "[user]\n\tname = A\n\temail = a@example.org\n"), "");
  EXPECT_EQ(refusal("", "[submodule \"a/b\"]\n\tactive = true\n\turl = ../b.git\n"), "");
  EXPECT_EQ(refusal(kCloned, with(kCloned,
                                  "[remote \"up\"]\n\turl = git@example.org:b.git\n"
                                  "\tfetch = +refs/heads/*:refs/remotes/up/*\n")),
            "");
  // Without the branch's section, as `git branch -d` leaves it.
  EXPECT_EQ(refusal(kCloned,
                    std::string_view(kCloned).substr(0, std::string_view(kCloned).find("[branch"))),
            "");
}

TEST(RepositoryConfig, NothingNewThatRuns) {
  for (const char* text : {"[core]\n\tfsmonitor = x",
                           "[core]\n\thookspath = x",
                           "[core]\n\tsshcommand = x",
                           "[core]\n\tworktree = /home/me",
                           "[core]\n\teditor = x",
                           "[core]\n\tpager = x",
                           "[core]\n\tgitproxy = x",
                           "[core]\n\taskpass = x",
                           "[core] alternaterefscommand = x",
                           "[alias]\n\tst = !x",
                           "[include]\n\tpath = x",
                           "[includeif \"gitdir:/\"]\n\tpath = x",
                           "[filter \"a\"]\n\tclean = x",
                           "[filter \"lfs\"]\n\tclean = x",
                           "[diff]\n\texternal = x",
                           "[diff \"a\"]\n\ttextconv = x",
                           "[diff \"a\"]\n\tcommand = x",
                           "[merge \"a\"]\n\tdriver = x",
                           "[mergetool \"a\"]\n\tcmd = x",
                           "[credential]\n\thelper = !x",
                           "[credential \"https://a\"]\n\thelper = !x",
                           "[gpg]\n\tprogram = x",
                           "[gpg \"ssh\"]\n\tprogram = x",
                           "[sequence]\n\teditor = x",
                           "[pager]\n\tlog = x",
                           "[interactive]\n\tdifffilter = x",
                           "[browser \"a\"]\n\tcmd = x",
                           "[remote \"a\"]\n\turl = ext::sh -c x",
                           "[remote \"a\"]\n\turl = -x",
                           "[remote \"a\"]\n\turl = ssh://-oProxyCommand=x/y",
                           "[remote \"a\"]\n\tuploadpack = x",
                           "[remote \"a\"]\n\treceivepack = x",
                           "[remote \"a\"]\n\tvcs = x",
                           "[remote \"a\"]\n\tpushurl = https://b",
                           "[remote \"a\"]\n\tproxy = x",
                           "[remote \"a\"]\n\tpromisor = true",
                           "[remote \"a\"]\n\tfetch = +refs/heads/*:refs/heads/*",
                           "[remote]\n\tpushdefault = a",
                           "[branch \"a\"]\n\tremote = ext::sh",
                           "[branch \"a\"]\n\tpushremote = b",
                           "[url \"a\"]\n\tinsteadof = https://",
                           "[submodule \"a\"]\n\tupdate = !x",
                           "[protocol]\n\tallow = always",
                           "[protocol \"ext\"]\n\tallow = always",
                           "[extensions]\n\tworktreeconfig = true",
                           "[uploadpack]\n\tpackobjectshook = x",
                           "[receive]\n\tprocreceiverefs = x",
                           "[http]\n\tproxy = x",
                           "[http]\n\tsslverify = false",
                           "[sendemail]\n\tsendmailcmd = x",
                           "[web]\n\tbrowser = x",
                           "[man \"a\"]\n\tcmd = x",
                           "[trailer \"a\"]\n\tcmd = x",
                           "[commit]\n\tgpgsign = false",
                           "[instaweb]\n\thttpd = x",
                           "[tar \"a\"]\n\tcommand = x",
                           "[guitool \"a\"]\n\tcmd = x",
                           "[imap]\n\ttunnel = x",
                           "[core.fsmonitor]\n\tx = y",
                           "[filter.a]\n\tclean = x"}) {
    EXPECT_THAT(refusal("", text), HasSubstr("changes")) << text;
    EXPECT_THAT(refusal(kCloned, with(kCloned, text)), HasSubstr("changes")) << text;
  }
}

TEST(RepositoryConfig, WhatThePersonHasSetStays) {
  const std::string theirs = with(kCloned, "[core]\n\thooksPath = a\n[alias]\n\tst = !x\n");
  EXPECT_EQ(refusal(theirs, with(theirs, "[user]\n\tname = B\n")), "");
  EXPECT_EQ(refusal(theirs, kCloned), "it changes core.hookspath");
  EXPECT_EQ(refusal(theirs, with(kCloned, "[alias]\n\tst = !x\n[core]\n\thooksPath = a\n")),
            "it changes alias.st");
  EXPECT_EQ(refusal(theirs, with(theirs, "[core]\n\thooksPath = b\n")),
            "it changes core.hookspath");
}

TEST(RepositoryConfig, ARemoteStaysWhereItIs) {
  std::string moved = kCloned;
  moved.replace(moved.find("example.org"), 11, "example.net");
  EXPECT_EQ(refusal(kCloned, moved), "it changes remote.origin.url");
  EXPECT_EQ(refusal(kCloned, with(kCloned, "[remote \"origin\"]\n\turl = https://b\n")),
            "it changes remote.origin.url");
  EXPECT_EQ(refusal(kCloned, kMade), "it changes remote.origin.url");
}

TEST(RepositoryConfig, NoDoubtAboutHowItIsRead) {
  for (const char* text :
       {"[core]\n\tbare = a\\\nb", "[core]\r\n\tbare = false", "\xEF\xBB\xBF[core]\n\tbare = false",
        "[core]\n\tbare = \x0b"
        "1",
        "[core]\n\tbare = \"a", "x = y", "[core\n", "[core]\n\tbare = a\\"})
    EXPECT_NE(refusal("", text), "") << text;
  EXPECT_NE(refusal("", std::string_view("[core]\n\tbare = false\n\0", 22)), "");
  EXPECT_NE(refusal("[core", kMade), "") << "what was there cannot be read";
}

}  // namespace
}  // namespace bulkhead
