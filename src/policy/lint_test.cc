#include "policy/lint.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

namespace bulkhead {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Severity = Diagnostic::Severity;

PolicyInputs inputs(const std::string& text) {
  PolicyInputs result;
  auto parsed = parse_manifest(ManifestBytes::of("m.json", text));
  EXPECT_TRUE(parsed.ok()) << to_string(parsed.error());
  result.manifest = std::move(parsed).value();
  auto blocked = parse_blocklist(ManifestBytes::of("blocklist.json",
                                                   R"({"blocklist":1,"groups":[
                          {"name":"ssh-keys","block":["${home}/.ssh"]},
                          {"name":"rc","block-write":["${home}/.bashrc"]},
                          {"name":"hooks","block-write":["**/.git/hooks","${workspace}/auto.toml"]},
                          {"name":"metadata","network":["169.254.169.254:*"]},
                          {"name":"tokens","environment":["AWS_*"]}]})"),
                                 Blocklist::Source::kBuiltin);
  EXPECT_TRUE(blocked.ok()) << to_string(blocked.error());
  result.blocklists = {std::move(blocked).value()};
  result.sets["tools"].read = {Entry{"/tools/a", {}}};
  result.variables.workspace = {"/home/me/project"};
  result.variables.home = "/home/me";
  result.search_path = {"/usr/bin", "/bin"};
  return result;
}

std::vector<std::string> lint_of(const std::string& text) {
  const PolicyInputs in = inputs(text);
  auto policy = Policy::compile(in);
  EXPECT_TRUE(policy.ok()) << to_string(policy.error());
  std::vector<std::string> result;
  if (policy.ok())
    for (const Diagnostic& each : lint(in, **policy)) result.push_back(to_string(each));
  return result;
}

std::string files(const std::string& lists) {
  return "{\"manifest\":1,\n\"files\":{\n" + lists + "}}";
}

TEST(Lint, ASoundManifestHasNoFindings) {
  EXPECT_THAT(lint_of(R"({"manifest":1,
      "files":{"read":["${workspace}","@tools","**/.rc"],"write":["${workspace}/out"],
               "block":["${workspace}/.env"]},
      "network":["api.example.com:443","*.cdn.example.com:443"],
      "environment":["PATH","LC_*"],"vscode":["@commands","terminal"]})"),
              IsEmpty());
}

TEST(Lint, TreesInWhichNoProgramStarts) {
  EXPECT_THAT(lint_of(R"({"manifest":1,
      "files":{"read":["/usr","/srv/a"],"block":["/srv/a/*/x","/usr/lib/secret"]},"run":["/usr/lib"]})"),
              ElementsAre(AllOf(HasSubstr("programs in \"/usr/lib\" cannot start: the manifest "
                                          "blocks \"/usr/lib/secret\" in it"),
                                HasSubstr("name the programs"))));
  EXPECT_THAT(lint_of(R"({"manifest":1,"files":{"read":["/usr"],
                            "block":["/usr/*.old/x","/usr/l*b/secret"]},"run":["/usr/lib"]})"),
              ElementsAre(HasSubstr("blocks \"/usr/l*b/secret\" in it")));
  EXPECT_THAT(lint_of(R"({"manifest":1,"run":["/usr/lib"]})"),
              ElementsAre(HasSubstr("it may be run and not read")));
  EXPECT_THAT(lint_of(R"({"manifest":1,"files":{"read":["/usr"],"block":["/usr/share/secret"]},
                          "run":["/usr/lib"]})"),
              IsEmpty());
}

TEST(Lint, ManifestsThatAProgramWroteAreLookedThroughToo) {
  std::string reads, blocks, hosts;
  for (int i = 0; i < 12000; ++i) reads += fmt::format(R"("/srv/{}/x{}",)", i % 100, i);
  for (int i = 0; i < 5000; ++i) blocks += fmt::format(R"("/srv/blocked/{}",)", i);
  for (int i = 0; i < 12000; ++i) hosts += fmt::format(R"("h{}.example.com:443",)", i);
  const auto found =
      lint_of(fmt::format(R"({{"manifest":1,"files":{{"read":[{}"/usr"],"block":[{}"/usr/x"]}},
                              "network":[{}"*:80"]}})",
                          reads, blocks, hosts));
  EXPECT_THAT(found, Contains(HasSubstr("12001 entries: whether some of them say the same")));
  EXPECT_THAT(found, Contains(HasSubstr("\"/srv/blocked/7\" blocks nothing")));
  EXPECT_THAT(found, Contains(HasSubstr("grants every host")));
}

TEST(Lint, EntriesThatStandTwice) {
  EXPECT_THAT(lint_of(files(R"("read":["/a",
                                        "/a"])")),
              ElementsAre(HasSubstr("m.json:4:41: warning: files.read[1]: \"/a\" stands in this "
                                    "list twice, first in line 3")));
}

TEST(Lint, EntriesThatAnotherCovers) {
  EXPECT_THAT(lint_of(files(R"("read":["/a/b",
    "/a"])")),
              ElementsAre(HasSubstr("\"/a/b\" grants nothing more: \"/a\" in line 4 covers it")));
  EXPECT_THAT(lint_of(files(R"("read":["/x/.rc",
    "**/.rc"])")),
              ElementsAre(HasSubstr("\"**/.rc\" in line 4 covers it")));
  EXPECT_THAT(lint_of(files(R"("read":["@tools",
    "/tools/a/x"])")),
              ElementsAre(HasSubstr("\"@tools\" in line 3 covers it")));
  EXPECT_THAT(lint_of(files(R"("read":["/home/me/project",
    "${workspace}"])")),
              IsEmpty())
      << "equal on this machine only";
  EXPECT_THAT(lint_of(files(R"("read":["${workspace}/src",
    "${workspace}"])")),
              ElementsAre(HasSubstr("\"${workspace}/src\" grants nothing more")));
  EXPECT_THAT(lint_of(files(R"("read":["/a/b", "/a/bc"])")), IsEmpty()) << "components, not bytes";
}

TEST(Lint, NetworkEntriesThatAnotherCovers) {
  EXPECT_THAT(lint_of(R"({"manifest":1,"network":["a.example.com:443","*.example.com:400-500"]})"),
              ElementsAre(HasSubstr("\"a.example.com:443\" grants nothing more")));
  EXPECT_THAT(lint_of(R"({"manifest":1,"network":["10.0.0.5:443","10.0.0.0/8:443"]})"),
              ElementsAre(HasSubstr("\"10.0.0.5:443\" grants nothing more")));
  EXPECT_THAT(lint_of(R"({"manifest":1,"network":["example.com:443","*.example.com:443"]})"),
              IsEmpty())
      << "a wildcard means names below only";
}

TEST(Lint, NamesThatAnotherCovers) {
  EXPECT_THAT(lint_of(R"({"manifest":1,"environment":["LC_ALL","LC_*"]})"),
              ElementsAre(HasSubstr("\"LC_ALL\" grants nothing more")));
  EXPECT_THAT(lint_of(R"({"manifest":1,"vscode":["commands","@commands"]})"),
              ElementsAre(HasSubstr("\"commands\" grants nothing more")));
}

TEST(Lint, GrantsThatABlockTakesBack) {
  EXPECT_THAT(
      lint_of(files(R"("read":["${home}/.ssh/config"])")),
      ElementsAre(HasSubstr("\"${home}/.ssh/config\" grants nothing: the built-in blocklist "
                            "(ssh-keys) blocks \"${home}/.ssh\"")));
  EXPECT_THAT(lint_of(R"({"manifest":1,"environment":["AWS_REGION"]})"),
              ElementsAre(HasSubstr("--unblock tokens")));
  EXPECT_THAT(lint_of(R"({"manifest":1,"network":["169.254.169.254:80"]})"),
              ElementsAre(HasSubstr("metadata")));
  EXPECT_THAT(lint_of(files(R"("read":["/a/b"],"block":["/a"])")),
              ElementsAre(HasSubstr("remove one of the two")));
}

TEST(Lint, GrantsThatABlockTakesBackInPart) {
  EXPECT_THAT(
      lint_of(files(R"("read":["/home/me"])")),
      ElementsAre(HasSubstr("grants the whole home folder"),
                  HasSubstr("note: files.read[0]: \"/home/me\" does not grant all in it for "
                            "reading: blocked are \"${home}/.ssh\" (ssh-keys)")));
  EXPECT_THAT(lint_of(files(R"("read":["${workspace}"],"write":["${workspace}"])")), IsEmpty());
}

TEST(Lint, BlocksOfWhatNothingGrants) {
  EXPECT_THAT(lint_of(files(R"("read":["/a"],"block":["/b"])")),
              ElementsAre(HasSubstr("\"/b\" blocks nothing")));
  EXPECT_THAT(lint_of(files(R"("read":["/a"],"block":["/a/b"])")), IsEmpty());
  EXPECT_THAT(lint_of(files(R"("read":["**/.rc"],"block":["/b"])")), IsEmpty());
}

TEST(Lint, TooWideGrants) {
  EXPECT_THAT(lint_of(files(R"("read":["/etc"])")),
              ElementsAre(HasSubstr("warning: files.read[0]: \"/etc\" grants all of /etc")));
  EXPECT_THAT(lint_of(R"({"manifest":1,"network":["*:*"]})"),
              ElementsAre(HasSubstr("grants every host")));
  EXPECT_THAT(lint_of(R"({"manifest":1,"network":["0.0.0.0/0:443"]})"),
              ElementsAre(HasSubstr("grants every host")));
  EXPECT_THAT(lint_of(R"({"manifest":1,"network":["*.com:443"]})"),
              ElementsAre(HasSubstr("top-level domain")));
  EXPECT_THAT(lint_of(R"({"manifest":1,"network":["a.example.com:*"]})"),
              ElementsAre(HasSubstr("note: network[0]: \"a.example.com:*\" grants every port")));
  EXPECT_THAT(lint_of(R"({"manifest":1,"environment":["MY_TOKEN"]})"),
              ElementsAre(HasSubstr("looks like a secret")));
}

TEST(Lint, Programs) {
  EXPECT_THAT(lint_of(R"({"manifest":1,"run":["sh"]})"),
              ElementsAre(HasSubstr("runs whatever it is told to")));
  EXPECT_THAT(lint_of(R"({"manifest":1,"run":["no-such-program-anywhere"]})"),
              ElementsAre(HasSubstr("no such program")));
  EXPECT_THAT(lint_of(R"({"manifest":1,"files":{"read":["/x"],"write":["/x"]},"run":["/x/bin"]})"),
              ElementsAre(HasSubstr("can be written (line 1) and run")));
}

TEST(Lint, ProgramsThatMayRunAnyway) {
  const std::string read = R"({"manifest":1,"files":{"read":["/usr","/opt/own"],)";
  EXPECT_THAT(lint_of(read + R"("block":["/opt/own/key"]},
"run":["@programs",
"true",
"/opt/own/tool",
"/opt/other"]})"),
              ElementsAre(HasSubstr("\"true\" grants nothing more: \"@programs\" in line 2")));
}

TEST(Lint, WhatCanBeWrittenAndNotRead) {
  EXPECT_THAT(lint_of(files(R"("write":["/out"])")),
              ElementsAre(HasSubstr("can be written and not read")));
}

TEST(Lint, FindingsAreSortedByLine) {
  const PolicyInputs in = inputs(R"({"manifest":1,
    "network":["*:80"],
    "files":{"read":["/etc"]}})");
  const auto found = lint(in, **Policy::compile(in));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].line, 2);
  EXPECT_EQ(found[1].line, 3);
  EXPECT_EQ(found[0].severity, Severity::kWarning);
}

}  // namespace
}  // namespace bulkhead
