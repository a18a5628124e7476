// Any bytes as two manifests, with a NUL between: the approved one and the new one. Holds that each
// sentence of a review is true by its own examples, that sentences cannot steer a terminal, that
// nothing is new against itself, and that where nothing is told nothing is allowed that was not.

#include <cstdint>
#include <string>

#include "policy/review.h"
#include "policy/rule_match.h"
#include "require.h"

namespace {

using namespace bulkhead;

bool allowed(const Policy& policy, const Claim& claim) {
  return decide(policy, claim.kind, claim.resource).verdict == Verdict::kAllow;
}

void check_text(const std::string& text) {
  require(!text.empty(), "a sentence has words");
  for (const char c : text)
    require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F, "sentences hold no control bytes");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const size_t cut = text.find('\0');
  if (cut == std::string::npos) return 0;

  PolicyInputs before, after;
  before.variables.workspace = {"/no-such/home/ws"};
  before.variables.extension = "/no-such/home/extensions/one";
  before.variables.storage = "/no-such/home/storage";
  before.variables.home = "/no-such/home";
  after.variables = before.variables;
  auto old = parse_manifest(ManifestBytes::of("old", text.substr(0, cut)));
  auto now = parse_manifest(ManifestBytes::of("new", text.substr(cut + 1)));
  if (!old.ok() || !now.ok()) return 0;
  before.manifest = std::move(old).value();
  after.manifest = std::move(now).value();
  const auto a = Policy::compile(before), b = Policy::compile(after);
  if (!a.ok() || !b.ok()) return 0;

  const Statements told = statements(after, **b);
  for (const auto* list : {&told.permits, &told.unusual})
    for (const Statement& each : *list) {
      check_text(each.text);
      for (const Claim& claim : each.claims)
        require(allowed(**b, claim), each.text + ": " + claim.resource);
    }
  for (const Statement& each : told.cannot) {
    check_text(each.text);
    for (const Claim& claim : each.claims)
      require(!allowed(**b, claim), each.text + ": " + claim.resource);
  }

  require(widened(**b, after, **b).empty(), "nothing is new against itself");
  const auto more = widened(**a, after, **b);
  for (const std::string& each : more) check_text(each);
  if (!more.empty()) return 0;
  for (const Statement& each : told.permits)
    for (const Claim& claim : each.claims)
      require(allowed(**a, claim), "told before: " + each.text + ": " + claim.resource);
  return 0;
}
