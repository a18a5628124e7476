#include "policy/explain.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>

#include "policy/rule_match.h"

namespace bulkhead {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using What = ChangeStep::What;

Manifest manifest_of(const std::string& text) {
  auto parsed = parse_manifest(ManifestBytes::of("bulkhead.json", text));
  EXPECT_TRUE(parsed.ok()) << to_string(parsed.error());
  return std::move(parsed).value();
}

Blocklist blocklist_of(const std::string& text, Blocklist::Source source, const char* file) {
  auto parsed = parse_blocklist(ManifestBytes::of(file, text), source);
  EXPECT_TRUE(parsed.ok()) << to_string(parsed.error());
  return std::move(parsed).value();
}

std::shared_ptr<const Policy> compile(const PolicyInputs& inputs) {
  auto policy = Policy::compile(inputs);
  EXPECT_TRUE(policy.ok()) << to_string(policy.error());
  return policy.ok() ? policy.value() : nullptr;
}

Extra extra(Rule::Source source, Verdict verdict, Kind kind, std::string text) {
  Extra result;
  result.source = source;
  result.verdict = verdict;
  result.kind = kind;
  result.entry.text = std::move(text);
  if (source == Rule::Source::kCommandLine) {
    result.entry.where = {"command line", 0, 0, "--read"};
  } else {
    result.entry.where = {"grants.json", 4, 5, "answers[0]"};
  }
  return result;
}

PolicyInputs inputs() {
  PolicyInputs result;
  result.manifest = manifest_of(R"({
    "manifest": 1,
    "files": {
      "read": ["/w", "/w/sub", "/one", "**/.rc", "@tools", "/h/.ssh", "/opt/tool"],
      "write": ["/w", "/h/.ssh/new"],
      "block": ["/w/.env"],
      "hide": ["/w/hidden"]
    },
    "network": ["api.example.com:443", "*.cdn.example.com:443", "8.8.8.8:53", "localhost:3000"],
    "run": ["/opt/tool"],
    "environment": ["PATH", "NODE_*", "AWS_TOKEN"],
    "vscode": ["@commands", "terminal"],
    "otherwise": "deny"
  })");
  result.baseline = manifest_of(R"({"manifest":1,"files":{"read":["/base"],"write":["/dev/null"]},
                                    "environment":["LANG"]})");
  result.blocklists = {blocklist_of(R"({"blocklist":1,"groups":[
        {"name":"ssh-keys","reason":"Private keys.","block":["/h/.ssh"]},
        {"name":"tokens","reason":"Tokens.","environment":["AWS_*"]},
        {"name":"git-hooks","reason":"Hooks.","block-write":["**/.git/hooks"]},
        {"name":"cloud","reason":"Metadata.","network":["169.254.169.254:*"]}]})",
                                    Blocklist::Source::kBuiltin, "blocklist.json"),
                       blocklist_of(R"({"blocklist":1,"groups":[
        {"name":"org","reason":"Company secrets.","block":["/w/company","/h/.ssh/org"]}]})",
                                    Blocklist::Source::kOrganisation, "/etc/bulkhead/policy.json"),
                       blocklist_of(R"({"blocklist":1,"groups":[
        {"name":"mine","reason":"Private.","block":["/w/private"],"network":["tracker.example.com:*"],
         "vscode":["clipboard"]}]})",
                                    Blocklist::Source::kUser, "policy.json")};
  result.sets["tools"].read = {Entry{"/tools/a", {}}, Entry{"/tools/b", {}}};
  result.extras = {
      extra(Rule::Source::kCommandLine, Verdict::kAllow, Kind::kRead, "/flag"),
      extra(Rule::Source::kRemembered, Verdict::kAllow, Kind::kRead, "/remembered"),
      extra(Rule::Source::kRemembered, Verdict::kDeny, Kind::kRead, "/w/never"),
  };
  result.variables.workspace = {"/w"};
  result.variables.home = "/h";
  result.scratch = {"/tmp"};
  return result;
}

bool at(const Entry& entry, const ChangeStep& step) {
  return entry.text == step.text && entry.where.file == step.where.file &&
         entry.where.line == step.where.line && entry.where.column == step.where.column;
}

// What a person who follows the step would do to the files.
void apply(const ChangeStep& step, PolicyInputs& to) {
  Manifest& m = to.manifest;
  const Entry entry{step.text, {"edited", 1, 1, ""}};
  const auto grant_list = [&]() -> std::vector<Entry>& {
    switch (step.kind) {
      case Kind::kRead:
        return m.files.read;
      case Kind::kWrite:
      case Kind::kWriteStatus:
        return m.files.write;
      case Kind::kConnect:
      case Kind::kLookup:
        return m.network;
      case Kind::kListen:
        return m.listen;
      case Kind::kRun:
        return m.run;
      case Kind::kEnvironment:
        return m.environment;
      default:
        return m.vscode;
    }
  };
  const bool path = step.kind == Kind::kRead || step.kind == Kind::kWrite ||
                    step.kind == Kind::kWriteStatus || step.kind == Kind::kRun;
  switch (step.what) {
    case What::kGrant:
      grant_list().push_back(entry);
      break;
    case What::kUnblock:
      to.lifted.push_back(step.text);
      break;
    case What::kRemove: {
      const auto drop = [&](std::vector<Entry>& entries) {
        std::erase_if(entries, [&](const Entry& each) { return at(each, step); });
      };
      for (auto* list : {&m.files.read, &m.files.write, &m.files.block, &m.files.hide, &m.network,
                         &m.run, &m.environment, &m.vscode})
        drop(*list);
      for (Blocklist& blocklist : to.blocklists)
        for (BlockGroup& group : blocklist.groups)
          for (auto* list : {&group.block, &group.block_write, &group.network, &group.run,
                             &group.environment, &group.vscode})
            drop(*list);
      std::erase_if(to.extras, [&](const Extra& each) { return at(each.entry, step); });
      break;
    }
    case What::kBlock: {
      if (path) {
        m.files.block.push_back(entry);
        break;
      }
      Blocklist blocklist;
      blocklist.source = Blocklist::Source::kUser;
      BlockGroup& group = blocklist.groups.emplace_back();
      group.name = "my-blocks";
      (step.kind == Kind::kEnvironment ? group.environment
       : step.kind == Kind::kVscode    ? group.vscode
                                       : group.network) = {entry};
      to.blocklists.push_back(std::move(blocklist));
      break;
    }
    case What::kHide:
      m.files.hide.push_back(entry);
      break;
  }
}

struct Case {
  Kind kind;
  std::string resource;
  Verdict now;
  size_t steps;
};

// "read_w_sub_a", for names of tests.
std::string name_of(const Case& c) {
  std::string name;
  for (const char ch : std::string(label(c.kind)) + "_" + c.resource) {
    if (std::isalnum(static_cast<unsigned char>(ch)) != 0) {
      name += ch;
    } else if (!name.ends_with('_')) {
      name += '_';
    }
  }
  return name;
}

void PrintTo(const Case& c, std::ostream* out) { *out << name_of(c); }

class ChangeTest : public ::testing::TestWithParam<Case> {};

TEST_P(ChangeTest, TheStepsAlterTheDecisionAndNoneIsInVain) {
  const Case& c = GetParam();
  const PolicyInputs before = inputs();
  const auto policy = compile(before);
  const Explanation found = explain(*policy, c.kind, c.resource);
  ASSERT_EQ(label(found.decision.verdict), label(c.now)) << found.because;
  ASSERT_THAT(found.steps, SizeIs(c.steps)) << found.change;
  EXPECT_FALSE(found.change.empty());
  const Verdict wanted = c.now == Verdict::kAllow ? Verdict::kDeny : Verdict::kAllow;

  PolicyInputs after = before;
  for (const ChangeStep& step : found.steps) apply(step, after);
  if (!found.steps.empty()) {
    const auto changed = compile(after);
    ASSERT_TRUE(changed);
    EXPECT_EQ(label(decide(*changed, c.kind, c.resource).verdict), label(wanted)) << found.change;
  }
  for (size_t left_out = 0; left_out < found.steps.size(); ++left_out) {
    PolicyInputs partly = before;
    for (size_t i = 0; i < found.steps.size(); ++i)
      if (i != left_out) apply(found.steps[i], partly);
    const auto unchanged = compile(partly);
    ASSERT_TRUE(unchanged);
    EXPECT_NE(label(decide(*unchanged, c.kind, c.resource).verdict), label(wanted))
        << "step " << left_out << " is not needed: " << found.change;
  }
}

TEST_P(ChangeTest, TheDecidingRuleIsAmongThoseThatMatch) {
  const Case& c = GetParam();
  const auto policy = compile(inputs());
  const Decision decision = decide(*policy, c.kind, c.resource);
  const auto matching = matching_rules(*policy, c.kind, c.resource);
  if (decision.rule == kOtherwiseRule) {
    EXPECT_THAT(matching, IsEmpty());
  } else if (!policy->rule(decision.rule).resolved.empty()) {
    EXPECT_THAT(matching, ::testing::Contains(decision.rule));
  }
}

TEST_P(ChangeTest, AFlagIsGivenExactlyWhereAGrantIsEnough) {
  const Case& c = GetParam();
  const auto policy = compile(inputs());
  const Explanation found = explain(*policy, c.kind, c.resource);
  const std::string flag = granting_flag(*policy, c.kind, c.resource);
  const bool is_pattern = c.resource.starts_with('/') && c.resource.find('*') != std::string::npos;
  const bool grant_is_enough = found.steps.size() == 1 && found.steps[0].what == What::kGrant &&
                               c.kind != Kind::kVscode && !is_pattern;
  EXPECT_EQ(!flag.empty(), grant_is_enough) << flag;
}

constexpr Verdict kAllow = Verdict::kAllow, kDeny = Verdict::kDeny;
INSTANTIATE_TEST_SUITE_P(
    All, ChangeTest,
    ::testing::Values(
        // Denied because nobody grants it.
        Case{Kind::kRead, "/elsewhere/a", kDeny, 1}, Case{Kind::kWrite, "/base/a", kDeny, 1},
        Case{Kind::kWriteStatus, "/base/a", kDeny, 1}, Case{Kind::kRun, "/bin/cat", kDeny, 1},
        Case{Kind::kRead, "/odd/a*b\\c${home}", kDeny, 1},
        Case{Kind::kConnect, "other.example.com:443", kDeny, 1},
        Case{Kind::kConnect, "api.example.com:80", kDeny, 1},
        Case{Kind::kConnect, "cdn.example.com:443", kDeny, 1},
        Case{Kind::kConnect, "10.0.0.1:443", kDeny, 1},
        Case{Kind::kConnect, "[fd00::1]:80", kDeny, 1},
        Case{Kind::kConnect, "localhost:3001", kDeny, 1},
        Case{Kind::kLookup, "other.example.com", kDeny, 1},
        Case{Kind::kEnvironment, "SECRET", kDeny, 1}, Case{Kind::kVscode, "tasks", kDeny, 1},
        // Blocked, and granted beneath.
        Case{Kind::kRead, "/w/.env", kDeny, 1}, Case{Kind::kRead, "/h/.ssh/id", kDeny, 1},
        Case{Kind::kWrite, "/w/.git/hooks/pre-commit", kDeny, 1},
        Case{Kind::kRead, "/w/private/a", kDeny, 1}, Case{Kind::kRead, "/w/never", kDeny, 1},
        Case{Kind::kEnvironment, "AWS_TOKEN", kDeny, 1},
        Case{Kind::kReadStatus, "/w/hidden/a", kDeny, 1},
        Case{Kind::kRead, "/w/hidden/a", kDeny, 1},
        // Blocked, and not granted either: lifting is not enough.
        Case{Kind::kWrite, "/h/.ssh/id", kDeny, 2}, Case{Kind::kEnvironment, "AWS_OTHER", kDeny, 2},
        Case{Kind::kConnect, "169.254.169.254:80", kDeny, 2},
        Case{Kind::kConnect, "tracker.example.com:443", kDeny, 2},
        Case{Kind::kVscode, "clipboard", kDeny, 2}, Case{Kind::kRun, "/h/.ssh/x", kDeny, 2},
        // The organisation's word is final; and nothing helps what no rule can name.
        Case{Kind::kRead, "/w/company/a", kDeny, 0}, Case{Kind::kRead, "/h/.ssh/org", kDeny, 0},
        Case{Kind::kRead, "/w/../etc", kDeny, 0}, Case{Kind::kRead, "relative", kDeny, 0},
        Case{Kind::kConnect, "no port", kDeny, 0}, Case{Kind::kConnect, "a.b:0", kDeny, 0},
        Case{Kind::kSystem, "ptrace", kDeny, 0}, Case{Kind::kEnvironment, "1X", kDeny, 0},
        Case{Kind::kVscode, "nonsense", kDeny, 0},
        // Allowed.
        Case{Kind::kRead, "/w/a", kAllow, 1}, Case{Kind::kRead, "/w/sub/a", kAllow, 1},
        Case{Kind::kWrite, "/w/a", kAllow, 1}, Case{Kind::kWriteStatus, "/w/a", kAllow, 1},
        Case{Kind::kRead, "/one", kAllow, 1}, Case{Kind::kRead, "/any/where/.rc", kAllow, 1},
        Case{Kind::kRead, "/tools/a/x", kAllow, 1}, Case{Kind::kRead, "/base/x", kAllow, 1},
        Case{Kind::kRead, "/flag", kAllow, 1}, Case{Kind::kRead, "/flag/below", kAllow, 1},
        Case{Kind::kRead, "/remembered", kAllow, 1}, Case{Kind::kRun, "/opt/tool", kAllow, 1},
        Case{Kind::kReadStatus, "/anything", kAllow, 1}, Case{Kind::kWrite, "/tmp/x", kAllow, 1},
        Case{Kind::kWrite, "/tmp/x/.git/hooks/a", kAllow, 1},
        Case{Kind::kConnect, "api.example.com:443", kAllow, 1},
        Case{Kind::kConnect, "a.cdn.example.com:443", kAllow, 1},
        Case{Kind::kConnect, "8.8.8.8:53", kAllow, 1},
        Case{Kind::kConnect, "localhost:3000", kAllow, 1},
        Case{Kind::kConnect, "[::1]:3000", kAllow, 1},
        Case{Kind::kLookup, "api.example.com", kAllow, 1},
        Case{Kind::kLookup, "a.cdn.example.com", kAllow, 1},
        Case{Kind::kEnvironment, "PATH", kAllow, 1},
        Case{Kind::kEnvironment, "NODE_ENV", kAllow, 1},
        Case{Kind::kEnvironment, "LANG", kAllow, 1}, Case{Kind::kVscode, "terminal", kAllow, 1},
        Case{Kind::kVscode, "commands", kAllow, 1}),
    [](const auto& each) { return name_of(each.param); });

TEST(Explain, NamesTheRuleItsFileAndLine) {
  const auto policy = compile(inputs());
  EXPECT_THAT(explain(*policy, Kind::kRead, "/w/.env").because,
              AllOf(HasSubstr("denied by the manifest"), HasSubstr("files.block[0]"),
                    HasSubstr("bulkhead.json:6:17")));
  const Explanation key = explain(*policy, Kind::kRead, "/h/.ssh/id");
  EXPECT_THAT(key.because, AllOf(HasSubstr("built-in blocklist, group ssh-keys"),
                                 HasSubstr("Private keys."), HasSubstr("blocklist.json:2:")));
  EXPECT_EQ(key.change, "run with --unblock ssh-keys");
  EXPECT_EQ(
      explain(*policy, Kind::kWrite, "/w/.git/hooks/x").change,
      "run with --unblock git-hooks, or lift it for this project: bulkhead unblock git-hooks");
  EXPECT_THAT(key.also, SizeIs(1)) << "the grant that is overruled";
  EXPECT_THAT(explain(*policy, Kind::kRead, "/tools/b").because,
              AllOf(HasSubstr("@tools"), HasSubstr("/tools/b")));
  EXPECT_THAT(explain(*policy, Kind::kRead, "/x").because, HasSubstr("no rule grants it"));
  EXPECT_THAT(explain(*policy, Kind::kWrite, "/tmp/x").because, HasSubstr("ends with it"));
  EXPECT_THAT(explain(*policy, Kind::kRead, "/w/company/a").change,
              HasSubstr("/etc/bulkhead/policy.json"));
}

TEST(Explain, AQuestionCanBeTurnedIntoAGrant) {
  PolicyInputs asking = inputs();
  asking.manifest.otherwise = Otherwise::kAsk;
  const auto policy = compile(asking);
  const Explanation found = explain(*policy, Kind::kRead, "/x/y");
  EXPECT_EQ(found.decision.verdict, Verdict::kAsk);
  EXPECT_EQ(found.change,
            "run with --read /x/y, or add \"/x/y\" to \"files.read\" in the manifest");
}

TEST(Explain, AWideGrantIsTakenOutBecauseNoBlockByNameCanStandBesideIt) {
  PolicyInputs wide = inputs();
  wide.manifest = manifest_of(R"({"manifest":1,"network":["*:443"]})");
  wide.blocklists.clear();
  const auto policy = compile(wide);
  const Explanation found = explain(*policy, Kind::kConnect, "a.example.com:443");
  ASSERT_EQ(found.decision.verdict, Verdict::kAllow);
  for (const ChangeStep& step : found.steps) apply(step, wide);
  EXPECT_EQ(decide(*compile(wide), Kind::kConnect, "a.example.com:443").verdict, Verdict::kDeny);
}

TEST(Explain, TextCannotSteerTheTerminal) {
  const auto policy = compile(inputs());
  const std::string evil = "/x/\x1b[2J\n\xe2\x80\xae";
  const Explanation found = explain(*policy, Kind::kRead, evil);
  for (const std::string& text :
       {found.because, found.change, granting_flag(*policy, Kind::kRead, evil)}) {
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_THAT(text, Not(HasSubstr("\n")));
    EXPECT_THAT(text, Not(HasSubstr("\xe2\x80\xae")));
  }
}

TEST(GrantingFlag, IsOneShellWord) {
  const auto policy = compile(inputs());
  const auto flag = [&](Kind kind, std::string_view resource) {
    return granting_flag(*policy, kind, resource);
  };
  EXPECT_EQ(flag(Kind::kRead, "/a/b"), "--read /a/b");
  EXPECT_EQ(flag(Kind::kRead, "/"), "--read /.") << "whose names were asked for, not all of it";
  EXPECT_EQ(flag(Kind::kRead, "/var"), "--read /var/.");
  EXPECT_EQ(flag(Kind::kRead, "/var/lib"), "--read /var/lib");
  EXPECT_EQ(flag(Kind::kRead, "/a b"), "--read '/a b'");
  EXPECT_EQ(flag(Kind::kRead, "/a'b"), "--read $'/a\\'b'");
  EXPECT_EQ(flag(Kind::kRead, "/a\n1"), "--read $'/a\\0121'");
  EXPECT_EQ(flag(Kind::kRead, "/a\xff"), "--read $'/a\\377'");
  EXPECT_EQ(flag(Kind::kRead, "/$(id)"), "--read '/$(id)'");
  EXPECT_EQ(flag(Kind::kConnect, "h.example.com:80"), "--connect h.example.com:80");
  EXPECT_EQ(flag(Kind::kLookup, "h.example.com"), "--connect h.example.com:443");
  EXPECT_EQ(flag(Kind::kConnect, "[fd00::1]:80"), "--connect '[fd00::1]:80'");
  EXPECT_EQ(flag(Kind::kEnvironment, "X"), "--env X");
  EXPECT_EQ(flag(Kind::kRead, "/w/.env"), "") << "blocked";
  EXPECT_EQ(flag(Kind::kRead, "/w/a"), "") << "allowed";
}

// The program chooses what it tries, and a person copies what is proposed for it.
TEST(GrantingFlag, GrantsNoMoreThanWasTried) {
  const auto policy = compile(inputs());
  const auto flag = [&](Kind kind, std::string_view resource) {
    return granting_flag(*policy, kind, resource);
  };
  EXPECT_EQ(flag(Kind::kWrite, "/etc/*"), "") << "a pattern to the command line";
  EXPECT_EQ(flag(Kind::kRead, "/no-such/*/x"), "");
  EXPECT_EQ(flag(Kind::kRun, "/no-such/bin/*"), "");
  EXPECT_EQ(flag(Kind::kWriteStatus, "/"), "") << "its mode was to be changed, not all files";
  EXPECT_EQ(flag(Kind::kWrite, "/"), "");
  EXPECT_EQ(flag(Kind::kWrite, "/var"), "");
  EXPECT_EQ(flag(Kind::kWriteStatus, "/var/lib"), "");
  EXPECT_EQ(flag(Kind::kWrite, "/var/lib/no-such"), "--write /var/lib/no-such");
  const std::string change = explain(*policy, Kind::kWrite, "/etc/*").change;
  EXPECT_THAT(change, Not(HasSubstr("--write")));
  EXPECT_THAT(change, HasSubstr(R"("/etc/\\*")")) << "the manifest can name it";
  EXPECT_THAT(explain(*policy, Kind::kWrite, "/var").change, Not(HasSubstr("--write")));
}

TEST(Explain, WhyAnAllowedProgramDoesNotStart) {
  PolicyInputs in = inputs();
  in.manifest.run.push_back(Entry{"/w", {}});
  const auto policy = compile(in);
  const Explanation found = explain(*policy, Kind::kRun, "/w/bin/tool");
  EXPECT_EQ(found.decision.verdict, Verdict::kAllow);
  EXPECT_THAT(found.because, HasSubstr("It cannot start all the same"));
  EXPECT_THAT(found.change, HasSubstr("run with --run /w/bin/tool"));
  EXPECT_EQ(granting_flag(*policy, Kind::kRun, "/w/bin/tool"), "--run /w/bin/tool");
  EXPECT_EQ(granting_flag(*policy, Kind::kRun, "/opt/tool"), "") << "starts";
}

// What a program makes in the compartment's own /tmp is nowhere outside: go run, go test.
TEST(GrantingFlag, NamesThePrivateTreeThatAProgramWasMadeIn) {
  PolicyInputs in = inputs();
  in.scratch = {"/tmp"};
  const auto policy = compile(in);
  EXPECT_EQ(granting_flag(*policy, Kind::kRun, "/tmp/build/main"), "--run /tmp");
  in.manifest.run.push_back(Entry{"/tmp", {}});
  EXPECT_EQ(granting_flag(*compile(in), Kind::kRun, "/tmp/build/main"), "") << "starts";
  // With something of the machine's below, it is no tree to grant.
  in.manifest.files.read.push_back(Entry{"/tmp/project", {}});
  const auto bound = compile(in);
  EXPECT_EQ(granting_flag(*bound, Kind::kRun, "/tmp/build/main"), "--run /tmp/build/main");
  EXPECT_THAT(explain(*bound, Kind::kRun, "/tmp/build/main").because, HasSubstr("cannot start"));
}

TEST(RuleMatch, ByComponents) {
  EXPECT_TRUE(pattern_matches("/a/b", "/a/b/c"));
  EXPECT_FALSE(pattern_matches("/a/b", "/a/bc"));
  EXPECT_FALSE(pattern_matches("/a/b", "/a"));
  EXPECT_TRUE(pattern_matches("/", "/a"));
  EXPECT_TRUE(pattern_matches("/a/*.log", "/a/x.log/y"));
  EXPECT_FALSE(pattern_matches("/a/*.log", "/a/x/y.log"));
  EXPECT_TRUE(pattern_matches("**/a/b", "/x/a/a/b/y"));
  EXPECT_FALSE(pattern_matches("**/a/b", "/x/a/c/b"));
  EXPECT_TRUE(pattern_matches("/\\*", "/*"));
  EXPECT_FALSE(pattern_matches("/\\*", "/x"));
}

}  // namespace
}  // namespace bulkhead
