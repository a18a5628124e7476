// decide_*() against a reader who tries one rule after the other, on random policies; and that no
// decision allocates.
#include <gtest/gtest.h>

#include <random>

#include "policy/allocation_counter.h"
#include "policy/pattern.h"
#include "policy/policy.h"
#include "policy/test_inputs.h"

namespace bulkhead {
namespace {

constexpr uint32_t kSeed = 20261121;

class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}
  size_t pick(size_t n) { return random_() % n; }
  template <size_t N>
  std::string one_of(const char* const (&names)[N]) {
    return names[pick(N)];
  }

  std::string path(const char* root) {
    std::string result = root;
    for (size_t i = pick(4); i > 0; --i) result += "/" + one_of({"a", "b", "ab", "aa", "c"});
    return result.empty() ? "/" : result;
  }
  Entry path_entry(bool wildcards) {
    std::string text = one_of({"", "/s", "${workspace}", "${home}"});
    if (wildcards && pick(4) == 0) text = "**";
    const size_t most = wildcards ? 8 : 5;
    for (size_t i = pick(3) + (text == "**" || text.empty() ? 1 : 0); i > 0; --i) {
      static constexpr const char* kNames[] = {"a", "b", "ab", "aa", "c", "a*", "*b", "b*"};
      text += std::string("/") + kNames[pick(most)];
    }
    return {text, {}};
  }
  std::vector<Entry> path_entries(size_t most, bool wildcards) {
    std::vector<Entry> result(pick(most + 1));
    for (Entry& entry : result) entry = path_entry(wildcards);
    return result;
  }

  std::string address() {
    return one_of({"10.0.0.1", "10.1.0.1", "127.0.0.1", "8.8.8.8", "8.8.4.4", "9.9.9.9", "::1",
                   "fd00::1", "2a00::1", "2a00:1::1", "192.0.2.1"});
  }
  std::string name() { return one_of({"a.x", "b.a.x", "c.b.a.x", "x", "b.x", "localhost", "d.y"}); }
  Entry network_entry(bool any) {
    static constexpr const char* kHosts[] = {
        "a.x",         "*.a.x",      "*.x",         "b.x",        "d.y",
        "localhost",   "10.0.0.0/8", "10.0.0.1",    "8.8.0.0/16", "8.0.0.0/5",
        "[2a00::/16]", "[::1]",      "127.0.0.0/8", "[fd00::1]",  "*"};
    const size_t count = std::size(kHosts) - (any ? 0 : 1);
    return {std::string(kHosts[pick(count)]) + one_of({":1", ":2", ":1-2", ":*"}), {}};
  }
  std::vector<Entry> network_entries(size_t most, bool any) {
    std::vector<Entry> result(pick(most + 1));
    for (Entry& entry : result) entry = network_entry(any);
    return result;
  }

 private:
  std::mt19937 random_;
};

// --- the naive reader
// -------------------------------------------------------------------------------

std::vector<std::string> split(std::string_view path) {
  std::vector<std::string> result;
  while (path.size() > 1) {
    path.remove_prefix(1);
    result.emplace_back(path.substr(0, path.find('/')));
    path.remove_prefix(result.back().size());
  }
  return result;
}

bool glob(std::string_view g, std::string_view t) {
  if (g.empty()) return t.empty();
  if (g[0] == '*') return glob(g.substr(1), t) || (!t.empty() && glob(g, t.substr(1)));
  return !t.empty() && g[0] == t[0] && glob(g.substr(1), t.substr(1));
}

// Rule::resolved against a path; the names used here need no escapes.
bool path_rule_matches(std::string_view rule, std::string_view path) {
  const bool anywhere = rule.substr(0, 2) == "**";
  if (anywhere) rule.remove_prefix(2);
  const auto pattern = split(rule), components = split(path);
  for (size_t start = 0; start + pattern.size() <= components.size(); ++start) {
    bool same = true;
    for (size_t i = 0; i < pattern.size(); ++i)
      same = same && glob(pattern[i], components[start + i]);
    if (same) return true;
    if (!anywhere) break;
  }
  return false;
}

bool is_block(const Rule& rule) { return rule.verdict == Verdict::kDeny; }

bool port_matches(std::string_view text, uint16_t port) {
  const std::string ports(text.substr(text.rfind(':') + 1));
  if (ports == "*") return true;
  const size_t dash = ports.find('-');
  const int first = std::stoi(ports);
  const int last = dash == std::string::npos ? first : std::stoi(ports.substr(dash + 1));
  return port >= first && port <= last;
}

bool name_matches(const std::string& host, std::string_view name) {
  if (host.substr(0, 2) != "*.") return host == name;
  const std::string below = host.substr(1);
  return name.size() > below.size() && name.substr(name.size() - below.size()) == below;
}

bool connect_rule_matches(const Rule& rule, const IpAddress& address, uint16_t port,
                          std::span<const std::string_view> names) {
  std::string host = rule.resolved.substr(0, rule.resolved.rfind(':'));
  if (!port_matches(rule.resolved, port)) return false;
  const bool public_or_block = is_block(rule) || !address.is_special();
  if (host == "*") return public_or_block;
  if (host == "localhost") return address.is_loopback();
  if (host[0] == '[') host = host.substr(1, host.size() - 2);
  const size_t slash = host.find('/');
  if (const auto network = IpAddress::parse(host.substr(0, slash))) {
    const unsigned bits = slash != std::string::npos
                              ? static_cast<unsigned>(std::stoi(host.substr(slash + 1)))
                              : (network->is_v4() ? 32 : 128);
    if (!address.in_network(*network, bits)) return false;
    // Of the networks used here these cover public addresses as well.
    const bool mixed = host == "8.0.0.0/5" || host == "8.8.0.0/16" || host == "2a00::/16";
    return !mixed || public_or_block;
  }
  for (const std::string_view name : names)
    if (public_or_block && name_matches(host, name)) return true;
  return false;
}

template <typename Matches>
Decision naive(const Policy& policy, Kind kind, Matches matches) {
  const unsigned bit = 1U << static_cast<unsigned>(kind);
  for (const bool blocks : {true, false}) {
    for (RuleId id = kFreeStatusRule + 1; id < policy.rules().size(); ++id) {
      const Rule& rule = policy.rule(id);
      if (is_block(rule) == blocks && (rule.kinds & bit) != 0 && matches(rule))
        return {rule.verdict, id};
    }
  }
  return {policy.otherwise() == Otherwise::kAsk ? Verdict::kAsk : Verdict::kDeny, kOtherwiseRule};
}

PolicyInputs random_inputs(Generator& random) {
  PolicyInputs in;
  in.variables.workspace = {"/w/a"};
  if (random.pick(2) == 0) in.variables.workspace.push_back("/w/b");
  in.variables.home = "/h";
  in.manifest.files.read = random.path_entries(4, true);
  in.manifest.files.write = random.path_entries(4, true);
  in.manifest.files.block = random.path_entries(2, true);
  in.manifest.files.hide = random.path_entries(1, false);
  in.manifest.run = random.path_entries(2, false);
  in.manifest.network = random.network_entries(4, false);
  if (random.pick(2) == 0) in.manifest.otherwise = Otherwise::kAsk;
  in.baseline.emplace();
  in.baseline->files.read = random.path_entries(2, true);
  BlockGroup group;
  group.name = "g";
  group.block = random.path_entries(1, true);
  group.block_write = random.path_entries(1, true);
  group.network = random.network_entries(2, true);
  in.blocklists.push_back(testing::blocklist(Blocklist::Source::kBuiltin, group));
  return in;
}

TEST(PolicyProperty, PathsAreDecidedLikeANaiveReader) {
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Generator random(kSeed);
  size_t decided[3] = {};
  for (int round = 0; round < 1500; ++round) {
    const auto compiled = Policy::compile(random_inputs(random));
    ASSERT_TRUE(compiled.ok()) << to_string(compiled.error());
    const Policy& policy = **compiled;
    for (int i = 0; i < 30; ++i) {
      const std::string path =
          random.path(std::vector<const char*>{"", "/s", "/w/a", "/w/b", "/h"}[random.pick(5)]);
      for (const Kind kind : {Kind::kRead, Kind::kWrite, Kind::kWriteStatus, Kind::kRun}) {
        const Decision expected = naive(
            policy, kind, [&](const Rule& rule) { return path_rule_matches(rule.resolved, path); });
        const Decision actual = policy.decide_path(kind, path);
        ASSERT_EQ(actual.verdict, expected.verdict) << round << " " << label(kind) << " " << path;
        ASSERT_EQ(actual.rule, expected.rule) << round << " " << label(kind) << " " << path;
        ++decided[static_cast<size_t>(actual.verdict)];
      }
      // Each whole tree keeps its word.
      for (const WholeTree& tree : policy.whole_trees()) {
        if (!path_rule_matches(tree.path, path)) continue;
        if (tree.read) {
          ASSERT_EQ(policy.decide_path(Kind::kRead, path).verdict, Verdict::kAllow) << path;
        }
        if (tree.write) {
          ASSERT_EQ(policy.decide_path(Kind::kWrite, path).verdict, Verdict::kAllow) << path;
        }
      }
    }
  }
  for (const size_t count : decided) EXPECT_GT(count, 1000U);
}

TEST(PolicyProperty, ConnectionsAreDecidedLikeANaiveReader) {
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Generator random(kSeed);
  size_t allowed = 0, blocked = 0;
  for (int round = 0; round < 3000; ++round) {
    const auto compiled = Policy::compile(random_inputs(random));
    ASSERT_TRUE(compiled.ok()) << to_string(compiled.error());
    const Policy& policy = **compiled;
    for (int i = 0; i < 20; ++i) {
      const IpAddress address = *IpAddress::parse(random.address());
      const std::string first = random.name(), second = random.name();
      const std::vector<std::string_view> all = {first, second};
      const std::span names(all.data(), random.pick(3));
      const auto port = static_cast<uint16_t>(1 + random.pick(3));
      const Decision expected = naive(policy, Kind::kConnect, [&](const Rule& rule) {
        return connect_rule_matches(rule, address, port, names);
      });
      const Decision actual = policy.decide_connect(address, port, names);
      ASSERT_EQ(actual.verdict, expected.verdict) << address.to_string() << " " << port;
      ASSERT_EQ(actual.rule, expected.rule) << address.to_string() << " " << port;
      allowed += actual.verdict == Verdict::kAllow ? 1 : 0;
      blocked += actual.rule != kOtherwiseRule && actual.verdict == Verdict::kDeny ? 1 : 0;
    }
  }
  EXPECT_GT(allowed, 1000U);
  EXPECT_GT(blocked, 1000U);
}

TEST(PolicyProperty, DecisionsDoNotAllocate) {
  Generator random(kSeed);
  PolicyInputs in = random_inputs(random);
  in.manifest.files.read = random.path_entries(50, true);
  in.manifest.network = testing::entries({"a.x:1", "*.a.x:2", "10.0.0.0/8:*", "localhost:*"});
  in.manifest.environment = testing::entries({"PATH", "A_*"});
  in.manifest.vscode = testing::entries({"@editor"});
  in.scratch = {"/tmp"};
  const auto compiled = Policy::compile(in);
  ASSERT_TRUE(compiled.ok());
  const Policy& policy = **compiled;
  std::vector<std::string> paths;
  paths.reserve(103);
  for (int i = 0; i < 100; ++i) paths.push_back(random.path("/w/a"));
  paths.push_back("/tmp/" + std::string(200, 'x') + "/y");
  paths.push_back("not canonical/");
  std::string deep;
  for (int i = 0; i < 2000; ++i) deep += "/a";
  paths.push_back(deep);
  const std::vector<std::string_view> names = {
      "b.a.x", "a-name-that-is-longer-than-any-small-buffer.example.x"};
  const IpAddress address = *IpAddress::parse("8.8.8.8");

  const size_t before = testing::allocations();
  size_t sum = 0;
  for (const std::string& path : paths) {
    for (const Kind kind :
         {Kind::kRead, Kind::kWrite, Kind::kReadStatus, Kind::kWriteStatus, Kind::kRun})
      sum += policy.decide_path(kind, path).rule;
    sum += policy.above_block(path) ? 1 : 0;
  }
  sum += policy.decide_connect(address, 1, names).rule;
  sum += policy.decide_lookup(names[1]).rule;
  sum += policy.decide_environment("A_NAME_THAT_IS_LONGER_THAN_ANY_SMALL_BUFFER").rule;
  sum += policy.decide_vscode("a-permission-that-is-longer-than-any-small-buffer").rule;
  const size_t after = testing::allocations();
  EXPECT_EQ(after, before) << sum;

  const std::string counted(100, 'x');  // the counter counts
  EXPECT_GT(testing::allocations(), after) << counted;
}

}  // namespace
}  // namespace bulkhead
