#include "vscode/page_reach.h"

#include <sodium.h>

#include <algorithm>
#include <array>

#include "base/fd.h"
#include "base/hex.h"
#include "base/nlohmann.h"
#include "base/path.h"
#include "policy/covers.h"
#include "policy/network_rule.h"
#include "vscode/json_string.h"

namespace bulkhead {
namespace {

using Host = NetworkPattern::Host;

bool is_below(const std::string& name, const std::string& above) {
  return name.size() > above.size() && name.ends_with("." + above);
}

// Whether a block may speak of some host of the grant.
bool meets(const NetworkPattern& block, const NetworkPattern& grant) {
  switch (block.host) {
    case Host::kAny:
      return true;
    case Host::kLoopback:
      return grant.host == Host::kLoopback;
    case Host::kNetwork:  // of addresses, which names are not known to have
      return grant.host == Host::kLoopback &&
             (IpAddress::v4({127, 0, 0, 1}).in_network(block.network, block.prefix_bits) ||
              (!block.network.is_v4() && block.prefix_bits == 0));
    case Host::kName:
      return grant.host == Host::kName
                 ? block.name == grant.name
                 : grant.host == Host::kBelowName && is_below(block.name, grant.name);
    case Host::kBelowName:
      return grant.host != Host::kLoopback &&
             (block.name == grant.name || is_below(grant.name, block.name) ||
              (grant.host == Host::kBelowName && is_below(block.name, grant.name)));
  }
  return true;
}

}  // namespace

PageReach PageReach::of(const Policy& policy) {
  PageReach reach;
  reach.open = policy.decide_vscode("webview-network").verdict == Verdict::kAllow;
  std::vector<NetworkPattern> grants, blocks;
  bool readable = true;
  for (const Rule& rule : policy.rules()) {
    if (rule.source == Rule::Source::kOtherwise || !speaks_of(rule, Kind::kConnect)) continue;
    const auto pattern = parse_network(rule.resolved);
    if (pattern.ok())
      (rule.verdict == Verdict::kAllow ? grants : blocks).push_back(*pattern);
    else if (rule.verdict != Verdict::kAllow)
      readable = false;
  }
  if (!readable) return reach;
  for (const NetworkPattern& grant : grants) {
    const bool named = grant.host == Host::kName || grant.host == Host::kBelowName ||
                       grant.host == Host::kLoopback;
    if (!named || (grant.first_port != grant.last_port && !grant.all_ports()) ||
        std::any_of(blocks.begin(), blocks.end(),
                    [&](const NetworkPattern& block) { return meets(block, grant); }))
      continue;
    reach.hosts.push_back(grant.text());
  }
  std::sort(reach.hosts.begin(), reach.hosts.end());
  reach.hosts.erase(std::unique(reach.hosts.begin(), reach.hosts.end()), reach.hosts.end());
  return reach;
}

std::string page_label(std::string_view extension) {
  constexpr size_t kLength = 52;  // a part of a name has 63 letters at most
  std::array<unsigned char, crypto_hash_sha256_BYTES> hash{};
  crypto_hash_sha256(hash.data(), reinterpret_cast<const unsigned char*>(extension.data()),
                     extension.size());
  return hex(hash).substr(0, kLength);
}

Status write_page_reach(const std::string& folder, const std::vector<std::string>& extensions,
                        const PageReach& reach) {
  BULKHEAD_CHECK(make_directories(folder, 0700));
  const std::string text =
      json_string(nlohmann::ordered_json{{"hosts", reach.hosts}, {"open", reach.open}}) + "\n";
  for (const std::string& extension : extensions)
    BULKHEAD_CHECK(write_file_atomically(join(folder, page_label(extension)), text, 0600));
  return {};
}

}  // namespace bulkhead
