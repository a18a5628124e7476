// Random policies and paths: each decision against a reader who tries one rule after the other.
// A line is a rule ("r/a/*", "w…", "b…" block, "p…" block writing, "x…" run, "n…" network) or, by
// its first byte "?", a path to decide; "!" a host to look up and connect to.

#include <cstdint>
#include <string>
#include <vector>

#include "base/path.h"
#include "policy/network_rule.h"
#include "policy/pattern.h"
#include "policy/policy.h"
#include "require.h"

namespace {

using namespace bulkhead;

std::vector<std::string> split(std::string_view path) {
  std::vector<std::string> result;
  while (path.size() > 1) {
    path.remove_prefix(1);
    result.emplace_back(path.substr(0, path.find('/')));
    path.remove_prefix(result.back().size());
  }
  return result;
}

// By a table, not by the index's way of going back.
bool glob(const std::string& g, const std::string& t) {
  std::vector<char> row(t.size() + 1, 0);
  row[0] = 1;
  for (const char c : g) {
    std::vector<char> next(t.size() + 1, 0);
    if (c == kStar) {
      char any = 0;
      for (size_t i = 0; i <= t.size(); ++i) next[i] = any = static_cast<char>(any | row[i]);
    } else {
      for (size_t i = 0; i < t.size(); ++i) next[i + 1] = static_cast<char>(row[i] && t[i] == c);
    }
    row.swap(next);
  }
  return row[t.size()] != 0;
}

// "/a/.": the folder without what is in it.
struct Pattern {
  PathPattern of;
  bool itself = false;
  bool ok = false;
};

Pattern read_pattern(std::string_view text) {
  Pattern result;
  result.itself = text.ends_with("/.");
  if (result.itself) text.remove_suffix(text.size() == 2 ? 1 : 2);
  const auto parsed = parse_pattern(text);
  result.ok = parsed.ok();
  if (result.ok) result.of = parsed->pattern;
  return result;
}

bool matches(const Pattern& each, const std::vector<std::string>& path) {
  const PathPattern& pattern = each.of;
  const size_t n = pattern.components.size();
  for (size_t start = 0; start + n <= path.size(); ++start) {
    bool same = true;
    for (size_t i = 0; same && i < n; ++i) same = glob(pattern.components[i], path[start + i]);
    if (same && (!each.itself || start + n == path.size())) return true;
    if (!pattern.anywhere) break;
  }
  return false;
}

void check_path(const Policy& policy, const std::string& path) {
  std::vector<Pattern> patterns;
  for (const Rule& rule : policy.rules()) patterns.push_back(read_pattern(rule.resolved));
  const bool canonical = is_canonical(path) && path.size() <= 4096;
  for (const Kind kind : {Kind::kRead, Kind::kWrite, Kind::kWriteStatus, Kind::kRun}) {
    const Decision actual = policy.decide_path(kind, path);
    Decision expected{Verdict::kDeny, kOtherwiseRule};
    if (canonical) {
      const auto components = split(path);
      for (const Verdict wanted : {Verdict::kDeny, Verdict::kAllow}) {
        for (RuleId id = kFreeStatusRule + 1; id < policy.rules().size(); ++id) {
          const Rule& rule = policy.rule(id);
          // A program that is not installed resolves to nothing.
          const bool speaks =
              !rule.resolved.empty() && (rule.kinds >> static_cast<unsigned>(kind) & 1U) != 0;
          if (expected.rule == kOtherwiseRule && speaks && rule.verdict == wanted &&
              matches(patterns[id], components))
            expected = {wanted, id};
        }
      }
    }
    require(actual.rule == expected.rule && actual.verdict == expected.verdict,
            "the index agrees with the naive reader", path);
    if (!canonical) continue;
    for (const WholeTree& tree : policy.whole_trees())
      if (is_within(path, tree.path) &&
          ((kind == Kind::kRead && tree.read) || (kind == Kind::kWrite && tree.write)))
        require(actual.verdict == Verdict::kAllow, "a whole tree is whole", path);
  }
  require(policy.decide_path(Kind::kReadStatus, path).verdict ==
              (canonical ? Verdict::kAllow : Verdict::kDeny),
          "status is free", path);
  // What lies below a parent that is not above any block cannot be blocked by a concrete rule.
  if (canonical && policy.above_block(path)) return;
  if (canonical)
    require(
        policy.decide_path(Kind::kRead, path).verdict != Verdict::kDeny ||
            policy.decide_path(Kind::kRead, path).rule == kOtherwiseRule ||
            path != parse_pattern(policy.rule(policy.decide_path(Kind::kRead, path).rule).resolved)
                        ->pattern.path(),
        "a blocked path is above itself", path);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  PolicyInputs inputs;
  inputs.variables.workspace = {"/no-such/w*s", "/a"};
  inputs.variables.home = "/no-such/home";
  BlockGroup group;
  group.name = "g";
  std::vector<std::string> paths, hosts;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() == text.size() ? line.size() : line.size() + 1);
    if (line.size() < 2) continue;
    const std::string rest(line.substr(1));
    const Entry entry{rest, {"f", 1, 1, "l"}};
    switch (line[0]) {
      case 'r':
        inputs.manifest.files.read.push_back(entry);
        break;
      case 'w':
        inputs.manifest.files.write.push_back(entry);
        break;
      case 'b':
        group.block.push_back(entry);
        break;
      case 'p':
        group.block_write.push_back(entry);
        break;
      case 'x':
        inputs.manifest.run.push_back(entry);
        break;
      case 'n':
        inputs.manifest.network.push_back(entry);
        break;
      case '?':
        paths.push_back(rest);
        break;
      case '!':
        hosts.push_back(rest);
        break;
      default:
        break;
    }
  }
  Blocklist blocklist;
  blocklist.groups.push_back(std::move(group));
  inputs.blocklists.push_back(std::move(blocklist));
  // A line that is no rule would make the whole policy fail; most inputs have one.
  const auto keep_valid = [](std::vector<Entry>* entries) {
    std::erase_if(*entries, [](const Entry& entry) { return !parse_pattern(entry.text).ok(); });
  };
  const auto keep_readable = [](std::vector<Entry>* entries) {
    std::erase_if(*entries, [](const Entry& entry) { return !read_pattern(entry.text).ok; });
  };
  keep_readable(&inputs.manifest.files.read);
  keep_valid(&inputs.manifest.files.write);
  keep_valid(&inputs.blocklists[0].groups[0].block);
  keep_valid(&inputs.blocklists[0].groups[0].block_write);
  std::erase_if(inputs.manifest.network,
                [](const Entry& entry) { return !parse_network(entry.text).ok(); });

  const auto policy = Policy::compile(inputs);
  if (!policy.ok()) return 0;
  for (const std::string& path : paths) check_path(**policy, path);
  for (const std::string& host : hosts) {
    const auto name = normalize_host(host);
    if (name) (*policy)->decide_lookup(*name);
    const std::string_view names[] = {name ? std::string_view(*name) : std::string_view(host)};
    for (const char* address : {"8.8.8.8", "10.0.0.1", "127.0.0.1", "::1", "2a00::1"}) {
      const IpAddress ip = *IpAddress::parse(address);
      const Decision decision = (*policy)->decide_connect(ip, 443, names);
      const Rule& rule = (*policy)->rule(decision.rule);
      if (ip.is_special() && decision.verdict == Verdict::kAllow)
        require(IpAddress::parse(rule.resolved.substr(0, rule.resolved.find_first_of("/:"))) ||
                    rule.resolved[0] == '[' || rule.resolved.substr(0, 9) == "localhost",
                "only addresses grant special addresses", rule.resolved);
    }
  }
  return 0;
}
