// Reviews are read by people who decide on them, so each sentence is held against the policy: by
// the examples that it gives itself, and by examples that stand here.
#include "policy/review.h"

#include <gmock/gmock.h>

#include <random>

#include "policy/config.h"
#include "policy/rule_match.h"
#include "policy/test_inputs.h"

namespace bulkhead {
namespace {

using testing::compiled;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::entries;
using ::testing::HasSubstr;
using testing::inputs;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

const Shipped& shipped() {
  static const Shipped all = [] {
    Places places;
    const char* data = std::getenv("BULKHEAD_DATA");
    places.data = data != nullptr ? data : "";
    places.config = "/no-such/config";
    places.organisation = "/no-such/policy.json";
    auto loaded = load_shipped(places);
    EXPECT_TRUE(loaded.ok()) << "set BULKHEAD_DATA to the source tree; "
                             << to_string(loaded.error());
    return loaded.ok() ? std::move(*loaded) : Shipped();
  }();
  return all;
}

// An extension's inputs, with all that is shipped.
PolicyInputs extension() {
  PolicyInputs result = inputs();
  result.manifest.extension = "acme.tool";
  result.baseline = shipped().essentials;
  result.blocklists = shipped().blocklists;
  result.sets = shipped().sets;
  result.scratch = {"/tmp", "/dev/shm"};
  result.search_path = {"/usr/bin", "/bin"};
  result.variables.workspace = {"/no-such/home/project"};
  result.variables.extension = "/no-such/home/.vscode/extensions/acme.tool-1.0";
  result.variables.storage = "/no-such/home/storage/acme.tool";
  return result;
}

Review reviewed(const PolicyInputs& all) {
  const auto policy = compiled(all);
  return policy ? review(all, *policy) : Review();
}

void expect_claims(const PolicyInputs& all, const Policy& policy) {
  const Statements told = statements(all, policy);
  const auto verdict = [&](const Claim& claim) {
    return decide(policy, claim.kind, claim.resource).verdict;
  };
  for (const auto* list : {&told.permits, &told.unusual})
    for (const Statement& statement : *list)
      for (const Claim& claim : statement.claims) {
        EXPECT_EQ(verdict(claim), Verdict::kAllow)
            << statement.text << ": " << label(claim.kind) << " " << claim.resource;
      }
  for (const Statement& statement : told.cannot)
    for (const Claim& claim : statement.claims) {
      EXPECT_NE(verdict(claim), Verdict::kAllow)
          << statement.text << ": " << label(claim.kind) << " " << claim.resource;
    }
}

// Sentences that hold, by examples of their own.
void expect_truth(const PolicyInputs& all, const Policy& policy) {
  const Review told = review(all, policy);
  const auto allowed = [&](Kind kind, std::string_view resource) {
    return decide(policy, kind, resource).verdict == Verdict::kAllow;
  };
  const auto says = [](const std::vector<std::string>& list, std::string_view start) {
    return std::any_of(list.begin(), list.end(),
                       [&](const std::string& text) { return text.starts_with(start); });
  };
  bool leaves = false;
  for (const char* each : {"terminal", "tasks", "debug", "notebooks", "commands-foreign",
                           "settings-write-foreign", "workspace-folders"})
    leaves = leaves || allowed(Kind::kVscode, each);
  if (leaves) {
    EXPECT_THAT(told.cannot, IsEmpty()) << "what runs outside can do all of it";
  }

  if (says(told.cannot, "Use the network")) {
    for (const char* each : {"api.example.com:443", "1.1.1.1:443", "127.0.0.1:3000", "10.1.2.3:22",
                             "[2606:4700::1]:443"}) {
      EXPECT_FALSE(allowed(Kind::kConnect, each)) << each;
    }
    EXPECT_FALSE(allowed(Kind::kVscode, "webview-network") ||
                 allowed(Kind::kVscode, "open-external"));
  }
  if (says(told.cannot, "Read your keys")) {
    for (const char* each : {"/no-such/home/.ssh/id_rsa", "/no-such/home/.aws/credentials",
                             "/no-such/home/.gnupg/private-keys-v1.d/x.key"}) {
      EXPECT_FALSE(allowed(Kind::kRead, each)) << each;
    }
  }
  if (says(told.cannot, "Read the rest of your home"))
    for (const char* each : {"/no-such/home/diary.txt", "/no-such/home/Pictures/a.jpg"}) {
      EXPECT_FALSE(allowed(Kind::kRead, each)) << each;
    }
  if (says(told.cannot, "Change files outside") || says(told.cannot, "Change your files"))
    for (const char* each : {"/no-such/home/diary.txt", "/etc/passwd", "/opt/acme/share/x",
                             "/no-such/home/.bashrc", "/srv/x.md"}) {
      EXPECT_FALSE(allowed(Kind::kWrite, each)) << each;
    }
  if (says(told.cannot, "Run programs") || says(told.cannot, "Run other programs"))
    for (const char* each : {"/usr/bin/bash", "/opt/acme/bin/x", "/no-such/home/project/x"}) {
      EXPECT_FALSE(allowed(Kind::kRun, each)) << each;
    }
  const auto names = [&](std::string_view noun) {
    return std::any_of(told.cannot.begin(), told.cannot.end(), [&](const std::string& text) {
      return text.starts_with("Change what runs by itself") && text.find(noun) != text.npos;
    });
  };
  for (const auto& [noun, path] :
       {std::pair{"git's hooks", "/no-such/home/project/.git/hooks/pre-commit"},
        {"tasks and launches", "/no-such/home/project/.vscode/tasks.json"},
        {"start-up files", "/no-such/home/.bashrc"}})
    EXPECT_TRUE(!names(noun) || !allowed(Kind::kWrite, path)) << path;

  // What is dangerous is never left out.
  if (allowed(Kind::kRead, "/no-such/home/diary.txt")) {
    EXPECT_TRUE(says(told.unusual, "Read all files") ||
                says(told.unusual, "Read everything in your"));
  }
  if (allowed(Kind::kWrite, "/no-such/home/diary.txt") ||
      allowed(Kind::kWrite, "/opt/acme/share/x")) {
    EXPECT_TRUE(says(told.unusual, "Change files outside"));
  }
  if (allowed(Kind::kWrite, "/srv/x.md")) {
    EXPECT_TRUE(says(told.unusual, "Change by name") || says(told.unusual, "Change files outside"));
  }
  if (allowed(Kind::kWrite, "/no-such/home/.vscode/extensions/acme.tool-1.0/main.js")) {
    EXPECT_TRUE(says(told.unusual, "Change its own folder"));
  }
  if (allowed(Kind::kRead, "/no-such/home/.vscode/extensions/other.one-2.0/main.js")) {
    EXPECT_TRUE(says(told.unusual, "Read the folders of other") ||
                says(told.unusual, "Read all files"));
  }
  if (allowed(Kind::kConnect, "unheard-of.example:443")) {
    EXPECT_TRUE(says(told.unusual, "Connect to any host"));
  }
  if (allowed(Kind::kConnect, "127.0.0.1:3000") || allowed(Kind::kConnect, "10.1.2.3:22")) {
    EXPECT_TRUE(says(told.unusual, "Connect to services of this machine"));
  }
  for (const char* each : {"terminal", "tasks", "debug", "clipboard", "authentication",
                           "webview-network", "settings-write-foreign", "commands-foreign"})
    EXPECT_TRUE(!allowed(Kind::kVscode, each) || !told.unusual.empty()) << each;
  if (policy.otherwise() == Otherwise::kAsk) {
    EXPECT_THAT(told.permits, Contains(StartsWith("Ask you, while it runs")));
    EXPECT_THAT(told.unusual, Not(Contains(StartsWith("Ask you"))));
  }
}

std::shared_ptr<const Policy> usual_policy() {
  PolicyInputs all = extension();
  auto read = read_shipped_file(std::string(std::getenv("BULKHEAD_DATA")) +
                                "/manifests/baseline-extension.json");
  EXPECT_TRUE(read.ok() && *read);
  auto manifest = parse_manifest(ManifestBytes::of("baseline-extension.json", **read));
  EXPECT_TRUE(manifest.ok());
  all.manifest = std::move(manifest).value();
  all.manifest.extension = "acme.tool";
  return compiled(all);
}

bool says_of(const Brief& told, std::string_view words) {
  return told.usual.find(words) != std::string::npos;
}

// The few words that are read first hold as the others do, and leave nothing out.
void expect_brief_truth(const PolicyInputs& all, const Policy& policy, const Policy& usual) {
  const Brief told = brief(all, policy, usual);
  const auto allowed = [&](Kind kind, std::string_view resource) {
    return decide(policy, kind, resource).verdict == Verdict::kAllow;
  };
  EXPECT_EQ(says_of(told, "It reads"), allowed(Kind::kRead, "/no-such/home/project/README"));
  EXPECT_TRUE(!says_of(told, "changes your workspace") ||
              allowed(Kind::kWrite, "/no-such/home/project/README"));
  EXPECT_TRUE(!says_of(told, "keeps data of its own") ||
              allowed(Kind::kWrite, "/no-such/home/storage/acme.tool/state.json"));
  if (says_of(told, "read your keys and passwords")) {
    for (const char* each : {"/no-such/home/.ssh/id_rsa", "/no-such/home/.aws/credentials",
                             "/no-such/home/.gnupg/private-keys-v1.d/x.key"})
      EXPECT_FALSE(allowed(Kind::kRead, each)) << told.usual;
  }
  if (says_of(told, "the rest of your home folder")) {
    EXPECT_FALSE(allowed(Kind::kRead, "/no-such/home/diary.txt")) << told.usual;
  }
  if (says_of(told, "use the network")) {
    EXPECT_FALSE(allowed(Kind::kConnect, "api.example.com:443")) << told.usual;
  }
  if (says_of(told, "any other host")) {
    EXPECT_FALSE(allowed(Kind::kConnect, "unheard-of.example:443")) << told.usual;
  }
  if (!told.notable.empty()) return;
  for (const Claim& claim : {Claim{Kind::kRead, "/no-such/home/diary.txt"},
                             {Kind::kRead, "/no-such/home/notes/x"},
                             {Kind::kWrite, "/opt/acme/share/x"},
                             {Kind::kWrite, "/srv/a.md"},
                             {Kind::kConnect, "api.example.com:443"},
                             {Kind::kConnect, "127.0.0.1:3000"},
                             {Kind::kRun, "/opt/acme/bin/tool"},
                             {Kind::kVscode, "terminal"},
                             {Kind::kVscode, "clipboard"},
                             {Kind::kVscode, "tasks"},
                             {Kind::kEnvironment, "NODE_OPTIONS"}})
    EXPECT_TRUE(!allowed(claim.kind, claim.resource) ||
                decide(usual, claim.kind, claim.resource).verdict == Verdict::kAllow)
        << claim.resource << " is not told";
}

// Manifests made of these, some of each list.
Manifest random_manifest(std::mt19937& random, double share) {
  std::bernoulli_distribution take(share);
  const auto some = [&](std::initializer_list<const char*> texts) {
    std::vector<Entry> all = entries(texts);
    std::erase_if(all, [&](const Entry&) { return !take(random); });
    return all;
  };
  Manifest manifest;
  manifest.extension = "acme.tool";
  manifest.files.read =
      some({"${workspace}", "${extension}", "${storage}", "${home}", "/", "${home}/notes",
            "${home}/.vscode/extensions", "${home}/*/x", "**/.prettierrc", "**/*.toml", "@system",
            "@git", "@python", "/opt/acme", "${workspace}/src", "/srv/*.md", "/tmp/shared"});
  manifest.files.write =
      some({"${workspace}", "${storage}", "${extension}/cache", "${home}/out", "${home}", "/opt",
            "**/*.md", "/opt/acme/share", "${workspace}/dist", "/srv", "/dev/shm/x"});
  manifest.files.block =
      some({"${workspace}/.env", "**/secret", "${home}/notes/private", "/opt/acme"});
  manifest.files.hide = some({"${home}/hidden", "${workspace}/src/hidden"});
  manifest.network = some({"api.example.com:443", "*.example.com:443", "*:443", "localhost:3000",
                           "10.0.0.0/8:*", "10.1.2.3:22", "1.1.1.1:443", "api.example.com:*",
                           "deep.api.example.com:443", "localhost:3000-3010"});
  manifest.run =
      some({"sh", "${extension}", "${workspace}", "/opt/acme/bin", "nonsuch", "@python"});
  manifest.environment = some({"PATH", "NODE_*", "NODE_ENV", "AWS_SECRET_ACCESS_KEY", "LANG"});
  manifest.vscode = some({"@editor", "@commands", "terminal", "clipboard", "webview-network",
                          "secrets", "@running", "open-external", "settings-write-foreign"});
  if (take(random)) manifest.limits.memory = take(random) ? 1U << 29U : 1U << 30U;
  if (take(random)) manifest.limits.processes = take(random) ? 16 : 8;
  if (take(random)) manifest.otherwise = Otherwise::kAsk;
  return manifest;
}

TEST(ExhaustiveReviewTest, EverySentenceHolds) {
  std::mt19937 random(20261121);
  const auto usual = usual_policy();
  ASSERT_NE(usual, nullptr);
  for (int i = 0; i < 200; ++i) {
    PolicyInputs all = extension();
    all.manifest = random_manifest(random, i % 2 == 0 ? 0.12 : 0.4);
    if (i % 7 == 0) all.lifted = {"git-hooks", "shell-startup"};
    if (i % 11 == 0) all.lifted = {"all"};
    const auto policy = compiled(all);
    ASSERT_NE(policy, nullptr);
    expect_claims(all, *policy);
    expect_truth(all, *policy);
    expect_brief_truth(all, *policy, *usual);
    if (HasFailure()) {
      for (const Rule& rule : policy->rules()) {
        if (rule.source == Rule::Source::kManifest)
          ADD_FAILURE() << "with " << label(rule.verdict) << " " << rule.text;
      }
      return;
    }
  }
}

TEST(ReviewTest, InAFewWords) {
  const auto usual = usual_policy();
  ASSERT_NE(usual, nullptr);
  const auto told = [&](const Manifest& manifest, std::vector<std::string> lifted = {}) {
    PolicyInputs all = extension();
    all.manifest = manifest;
    all.lifted = std::move(lifted);
    const auto policy = compiled(all);
    return policy ? brief(all, *policy, *usual) : Brief();
  };
  Manifest manifest;
  manifest.extension = "acme.tool";
  manifest.otherwise = Otherwise::kAsk;
  manifest.files.read = entries({"${workspace}", "${extension}", "@system"});
  manifest.files.write = entries({"${workspace}", "${storage}"});
  manifest.vscode = entries({"@editor", "@commands"});
  Brief found = told(manifest);
  EXPECT_EQ(found.usual,
            "It reads and changes your workspace and keeps data of its own. It cannot read your "
            "keys and passwords, nor, unless you allow it, read the rest of your home folder or "
            "use the network.");
  EXPECT_THAT(found.notable, IsEmpty());

  // Which of the programs that extensions run anyway it names is nothing unusual; others are.
  manifest.run = entries({"sh", "${extension}", "${workspace}"});
  EXPECT_THAT(told(manifest).notable, IsEmpty());
  manifest.run.push_back(entries({"/opt/acme/bin"})[0]);
  EXPECT_THAT(told(manifest).notable, ElementsAre(HasSubstr("/opt/acme/bin")));
  manifest.run.clear();

  manifest.otherwise = Otherwise::kDeny;
  manifest.files.write.clear();
  manifest.network = entries({"api.example.com:443"});
  manifest.vscode = entries({"@editor", "clipboard"});
  manifest.files.read.push_back(entries({"${home}/notes"})[0]);
  found = told(manifest, {"ssh-keys"});
  EXPECT_EQ(found.usual,
            "It reads your workspace. It cannot read the rest of your home folder or connect to "
            "any other host.");
  EXPECT_THAT(found.notable,
              ElementsAre("Read and write the clipboard: what you copied may be a password",
                          StartsWith("The block \"ssh-keys\" is lifted: "),
                          "Read in your home folder: /no-such/home/notes",
                          "Connect to api.example.com on port 443: what it reads can go there"));

  // What runs outside of the compartment can do all of it.
  manifest.vscode = entries({"terminal"});
  found = told(manifest);
  EXPECT_EQ(found.usual, "It reads your workspace.");
  EXPECT_THAT(found.notable, Contains(StartsWith("Open terminals and type into them: ")));
}

TEST(ReviewTest, TheBaselineOfExtensions) {
  PolicyInputs all = extension();
  all.manifest.files.read =
      entries({"${workspace}", "${extension}", "${storage}", "@system", "@node"});
  all.manifest.files.write = entries({"${workspace}", "${storage}"});
  all.manifest.run = entries({"${extension}"});
  all.manifest.vscode = entries({"commands"});
  const Review told = reviewed(all);
  EXPECT_THAT(told.permits,
              ElementsAre("Read everything in your workspace /no-such/home/project and change what "
                          "is not blocked in it",
                          "Read everything in its own folder", "Run any program in its own folder",
                          "Read everything in its own storage and change what is not blocked in it",
                          "Read programs, libraries and public settings: @node and @system",
                          "In the editor: register commands and run those of the editor"));
  EXPECT_THAT(told.cannot, Contains("Use the network"));
  EXPECT_THAT(told.cannot, Contains("Run programs other than its own"));
  EXPECT_THAT(told.cannot, Contains("Change files outside of your workspace and its own storage"));
  EXPECT_THAT(told.cannot, Contains("Read the rest of your home folder /no-such/home"));
  EXPECT_THAT(told.cannot, Contains(HasSubstr("keys of ssh")));
  EXPECT_THAT(told.cannot, Contains(StartsWith("In the editor: open terminals")));
  EXPECT_THAT(told.unusual, IsEmpty());
}

TEST(ReviewTest, GroupsWhatBelongsTogether) {
  PolicyInputs all = extension();
  all.manifest.files.read = entries({"**/.prettierrc", "**/.editorconfig", "/opt/a", "/opt/b"});
  all.manifest.network =
      entries({"api.example.com:443", "*.example.com:443", "localhost:3000-3010"});
  all.manifest.environment = entries({"PATH", "NODE_*"});
  all.manifest.limits.memory = 512U << 20U;
  all.manifest.limits.cpu = 1.5;
  const Review told = reviewed(all);
  EXPECT_THAT(
      told.permits,
      ElementsAre("Read /opt/a and /opt/b",
                  "Read every file or folder named .editorconfig and .prettierrc, wherever "
                  "it lies and is not blocked",
                  "Connect to api.example.com and every host below example.com on port 443, "
                  "where nothing blocks it",
                  "Connect to services of this machine on ports 3000 to 3010, where nothing "
                  "blocks it",
                  "See the environment variables PATH and NODE_*"));
  EXPECT_THAT(told.cannot, Contains("Use more than 512 MiB of memory or 1.5 processors"));
  EXPECT_THAT(told.cannot, Contains("Connect to any other host"));
}

TEST(ReviewTest, WhatIsBlockedIsNotPromised) {
  PolicyInputs all = extension();
  all.manifest.files.read = entries({"${workspace}", "${home}/.ssh", "/opt/a"});
  all.manifest.files.block = entries({"${workspace}/.env", "/opt/a/x"});
  all.manifest.environment = entries({"AWS_SECRET_ACCESS_KEY"});
  const Review told = reviewed(all);
  EXPECT_THAT(told.permits,
              ElementsAre("Read what is not blocked in your workspace /no-such/home/project",
                          "Read /opt/a, as far as nothing there is blocked"));
}

TEST(ReviewTest, WhatLeavesTheCompartmentLeavesNoPromise) {
  PolicyInputs all = extension();
  all.manifest.vscode = entries({"terminal"});
  const Review told = reviewed(all);
  EXPECT_THAT(told.cannot, IsEmpty());
  EXPECT_THAT(told.unusual, ElementsAre("Open terminals and type into them: what it types runs "
                                        "outside of the compartment, as you"));
}

TEST(ReviewTest, ALiftedBlockIsToldAndNotPromised) {
  PolicyInputs all = extension();
  all.lifted = {"ssh-keys"};
  const Review told = reviewed(all);
  EXPECT_THAT(told.cannot, Not(Contains(HasSubstr("keys of ssh"))));
  EXPECT_THAT(told.unusual, ElementsAre(StartsWith("The block \"ssh-keys\" is lifted: ")));
}

TEST(ReviewTest, NamesCannotRearrangeASentence) {
  PolicyInputs all = extension();
  all.manifest.files.read = entries({"/opt/a\x1B[2J\xE2\x80\xAE"});
  for (const std::string& text : reviewed(all).permits) {
    EXPECT_EQ(text.find('\x1B'), std::string::npos);
    EXPECT_EQ(text.find("\xE2\x80\xAE"), std::string::npos);
  }
}

// Own folders that were spelt out by merge().
TEST(ReviewTest, OwnFoldersAreCalledSo) {
  PolicyInputs all = extension();
  all.variables.extension.clear();
  all.variables.storage.clear();
  all.manifest.files.read = entries({"/no-such/ext/one", "/no-such/ext/two"});
  all.manifest.files.write = entries({"/no-such/store"});
  const auto policy = compiled(all);
  ASSERT_NE(policy, nullptr);
  const OwnFolders own = {{"/no-such/ext/one", "/no-such/ext/two"}, {"/no-such/store"}};
  const Review told = review(all, *policy, own);
  EXPECT_THAT(told.permits, ElementsAre("Read everything in its own folder",
                                        "Change what is not blocked in its own storage"));
  EXPECT_THAT(told.unusual, IsEmpty());
}

class WidenedTest : public ::testing::Test {
 protected:
  static std::vector<std::string> between(const Manifest& before, const Manifest& after) {
    PolicyInputs old = extension(), now = extension();
    old.manifest = before;
    now.manifest = after;
    const auto a = compiled(old), b = compiled(now);
    if (!a || !b) return {"it did not compile"};
    return widened(*a, now, *b);
  }
  static Manifest reads(std::initializer_list<const char*> texts) {
    Manifest manifest;
    manifest.files.read = entries(texts);
    return manifest;
  }
  static Manifest network(std::initializer_list<const char*> texts) {
    Manifest manifest;
    manifest.network = entries(texts);
    return manifest;
  }
};

TEST_F(WidenedTest, WhatIsRewrittenOrNarrowerIsNothing) {
  EXPECT_THAT(between(reads({"${workspace}", "/a"}), reads({"/a", "${workspace}"})), IsEmpty());
  EXPECT_THAT(between(reads({"${workspace}"}), reads({"${workspace}/src"})), IsEmpty());
  EXPECT_THAT(between(reads({"${workspace}"}), reads({"/no-such/home/project"})), IsEmpty());
  EXPECT_THAT(between(reads({"/a"}), reads({"/a/*.js", "/a/b"})), IsEmpty());
  EXPECT_THAT(between(reads({"**/*.js"}), reads({"/a/b.js", "**/x/b*.js"})), IsEmpty());
  EXPECT_THAT(between(reads({"@system", "@git"}), reads({"@system"})), IsEmpty());
  EXPECT_THAT(between(reads({"/a", "/b/."}), reads({"/a/.", "/b/."})), IsEmpty());
  EXPECT_THAT(between(reads({"/"}), reads({"**/x", "@git"})), IsEmpty());
  EXPECT_THAT(between(network({"*.example.com:*"}), network({"a.example.com:443"})), IsEmpty());
  EXPECT_THAT(between(network({"*:443"}), network({"a.example.com:443", "1.1.1.1:443"})),
              IsEmpty());
  EXPECT_THAT(between(network({"10.0.0.0/8:*"}), network({"10.1.2.3:22"})), IsEmpty());
  // Blocked whole: nothing is gained by asking for it.
  EXPECT_THAT(between(reads({}), reads({"${home}/.ssh"})), IsEmpty());
  Manifest blocked = reads({"/a"});
  blocked.files.block = entries({"/a/x"});
  EXPECT_THAT(between(reads({"/a"}), blocked), IsEmpty());
  Manifest more = blocked;
  more.files.block = entries({"/a/x*"});
  EXPECT_THAT(between(blocked, more), IsEmpty());
}

TEST_F(WidenedTest, WhatIsNewIsTold) {
  EXPECT_THAT(between(reads({"${workspace}"}), reads({"${workspace}", "/a"})),
              ElementsAre("Read /a"));
  EXPECT_THAT(between(reads({"/a/b"}), reads({"/a"})), ElementsAre("Read /a"));
  EXPECT_THAT(between(reads({"/a/*.js"}), reads({"/a/*"})), ElementsAre(HasSubstr("/a/*")));
  EXPECT_THAT(between(reads({"/a"}), reads({"/a*"})), ElementsAre(HasSubstr("/a*")));
  EXPECT_THAT(between(reads({"/a/x"}), reads({"**/x"})), ElementsAre(HasSubstr("named x")));
  EXPECT_THAT(between(reads({"/a/."}), reads({"/a"})), ElementsAre("Read /a"));
  EXPECT_THAT(between(reads({"/a/."}), reads({"/b/."})),
              ElementsAre("List the names in /b/, but read nothing there"));
  EXPECT_THAT(between(reads({"@system"}), reads({"@system", "@git"})),
              Contains(StartsWith("Read @git: ")));
  EXPECT_THAT(between(network({"a.example.com:443"}), network({"a.example.com:444"})),
              ElementsAre("Connect to a.example.com on port 444"));
  EXPECT_THAT(between(network({"*.example.com:443"}), network({"example.com:443"})),
              ElementsAre("Connect to example.com on port 443"));
  EXPECT_THAT(between(network({"*:443"}), network({"10.0.0.1:443", "*:443"})),
              ElementsAre(HasSubstr("10.0.0.1")));
  EXPECT_THAT(
      between(network({"*:3000"}), network({"localhost:3000"})),
      ElementsAre("Connect to services of this machine on port 3000, where nothing blocks it"));
  EXPECT_THAT(between(network({"0.0.0.0/0:*"}), network({"10.0.0.0/8:*"})),
              ElementsAre(HasSubstr("10.0.0.0/8")));
  // The machine's own /tmp in place of the private one.
  EXPECT_THAT(between(reads({}), reads({"/tmp/x"})), ElementsAre(HasSubstr("/tmp/x")));
}

TEST_F(WidenedTest, OtherListsCountAsWell) {
  const Manifest nothing;
  Manifest one;
  one.vscode = entries({"@editor"});
  EXPECT_THAT(between(nothing, one), ElementsAre(StartsWith("In the editor: ")));
  Manifest two;
  two.vscode = entries({"documents", "window"});
  EXPECT_THAT(between(one, two), IsEmpty());
  one = {};
  one.environment = entries({"NODE_*"});
  two = {};
  two.environment = entries({"NODE_ENV"});
  EXPECT_THAT(between(one, two), IsEmpty());
  EXPECT_THAT(between(two, one), ElementsAre("See the environment variable NODE_*"));
  one = {};
  one.run = entries({"nonsuch"});
  EXPECT_THAT(between(nothing, one), ElementsAre(HasSubstr("nonsuch (not installed)")));
  EXPECT_THAT(between(one, one), IsEmpty());
  one = {};
  one.files.write = entries({"${workspace}"});
  EXPECT_THAT(between(reads({"${workspace}"}), one), ElementsAre(HasSubstr("workspace")));
}

TEST_F(WidenedTest, ABlockThatIsGoneIsTold) {
  Manifest blocked = reads({"/a"});
  blocked.files.block = entries({"/a/x"});
  EXPECT_THAT(between(blocked, reads({"/a"})), ElementsAre("Read /a/x, which was blocked before"));
  EXPECT_THAT(between(blocked, reads({"/b", "/a/y"})), ElementsAre("Read /b"));
  Manifest hidden = reads({"/a"});
  hidden.files.hide = entries({"/a/x"});
  EXPECT_THAT(between(hidden, blocked), ElementsAre("Look for /a/x, which was blocked before"));
}

TEST_F(WidenedTest, LimitsAndQuestions) {
  Manifest low, high, none, asks;
  low.limits.memory = 512U << 20U;
  high.limits.memory = 1U << 30U;
  asks.otherwise = Otherwise::kAsk;
  EXPECT_THAT(between(high, low), IsEmpty());
  EXPECT_THAT(between(none, low), IsEmpty());
  EXPECT_THAT(between(low, high),
              ElementsAre("Use 1 GiB of memory, not 512 MiB of memory as before"));
  EXPECT_THAT(between(low, none),
              ElementsAre("Use more than 512 MiB of memory, which was the limit before"));
  EXPECT_THAT(between(none, asks), ElementsAre(StartsWith("Ask you, while it runs")));
  EXPECT_THAT(between(asks, none), IsEmpty());
}

// Where nothing is told, nothing is allowed that was not: asked of both policies.
using ExhaustiveWidenedTest = WidenedTest;
TEST_F(ExhaustiveWidenedTest, NothingNewGoesUntold) {
  std::mt19937 random(4711);
  size_t silent = 0, told = 0;
  const std::vector<Claim> probes = [] {
    std::vector<Claim> all;
    for (const char* path :
         {"/no-such/home/project/src/a.md", "/no-such/home/project/.env", "/no-such/home/notes/x",
          "/no-such/home/notes/private/x", "/no-such/home/diary.txt", "/opt/acme/share/x",
          "/srv/a.md", "/srv/sub/secret", "/opt/acme/bin/tool", "/tmp/shared/x", "/dev/shm/x/y",
          "/a/.prettierrc", "/a/b.toml", "/no-such/home/z/x", "/no-such/home/project/src/hidden/x",
          "/no-such/home/.vscode/extensions/acme.tool-1.0/cache/x", "/no-such/home/hidden"})
      for (const Kind kind : {Kind::kRead, Kind::kWrite, Kind::kRun, Kind::kReadStatus})
        all.push_back({kind, path});
    for (const char* host :
         {"api.example.com:443", "api.example.com:80", "x.example.com:443", "other.example:443",
          "127.0.0.1:3000", "127.0.0.1:3005", "10.1.2.3:22", "10.9.9.9:1", "1.1.1.1:443"})
      all.push_back({Kind::kConnect, host});
    for (const char* name : {"PATH", "NODE_ENV", "NODE_OPTIONS", "LANG"})
      all.push_back({Kind::kEnvironment, name});
    for (const char* name : {"terminal", "documents", "webview-network", "debug"})
      all.push_back({Kind::kVscode, name});
    return all;
  }();
  for (int i = 0; i < 160; ++i) {
    PolicyInputs old = extension(), now = extension();
    // The private trees would hide what is granted in them.
    old.scratch.clear();
    now.scratch.clear();
    old.manifest = random_manifest(random, 0.5);
    now.manifest = random_manifest(random, i % 4 == 0 ? 0.4 : 0.06);
    // So that blocks alone are not always what is told.
    if (i % 2 == 0) now.manifest.files.block = old.manifest.files.block;
    if (i % 2 == 0) now.manifest.files.hide = old.manifest.files.hide;
    now.manifest.limits = old.manifest.limits;
    now.manifest.otherwise = old.manifest.otherwise;
    const auto a = compiled(old), b = compiled(now);
    ASSERT_TRUE(a && b);
    const auto found = widened(*a, now, *b);
    (found.empty() ? silent : told) += 1;
    if (!found.empty()) continue;
    for (const Claim& probe : probes)
      if (decide(*b, probe.kind, probe.resource).verdict == Verdict::kAllow) {
        EXPECT_EQ(decide(*a, probe.kind, probe.resource).verdict, Verdict::kAllow)
            << label(probe.kind) << " " << probe.resource << " in pair " << i;
      }
  }
  EXPECT_GT(silent, 10U);
  EXPECT_GT(told, 15U);
}

}  // namespace
}  // namespace bulkhead
