// Any bytes as manifest, blocklist and set: parsed strictly, and what parses is compiled. Holds
// that every refusal names a place, that no message can steer a terminal, and that nothing is
// accepted which a second JSON parser refuses.

#include <cstdint>
#include <string>

#include "base/nlohmann.h"
#include "policy/policy.h"
#include "require.h"

namespace {

using namespace bulkhead;

void check(const Error& error) {
  require(!error.message.empty(), "an error has a message");
  require(!error.diagnostics.empty(), "an error has findings");
  require(error.diagnostics.size() <= 101, "findings are limited");
  for (const char c : to_string(error))
    require(c == '\n' || static_cast<unsigned char>(c) >= 0x20, "messages hold no control bytes");
}

template <typename T>
void check(const Result<T>& result, const std::string& text) {
  if (!result.ok()) {
    check(result.error());
    for (const Diagnostic& diagnostic : result.error().diagnostics)
      require(diagnostic.severity == Diagnostic::Severity::kNote ||
                  (diagnostic.line >= 1 && diagnostic.column >= 1 && diagnostic.file == "f"),
              "a finding has a place");
    return;
  }
  require(nlohmann::json::accept(text), "a second parser accepts it");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const ManifestBytes bytes = ManifestBytes::of("f", text);

  PolicyInputs inputs;
  inputs.variables.workspace = {"/no-such/ws"};
  inputs.variables.extension = "/no-such/ext";
  inputs.variables.home = "/no-such/home";
  inputs.scratch = {"/tmp"};

  Result<Manifest> manifest = parse_manifest(bytes);
  check(manifest, text);
  if (manifest.ok()) inputs.manifest = std::move(manifest).value();
  Result<Blocklist> blocklist = parse_blocklist(bytes, Blocklist::Source::kUser);
  check(blocklist, text);
  if (blocklist.ok()) inputs.blocklists.push_back(std::move(blocklist).value());
  Result<Sets> sets = parse_set(bytes);
  check(sets, text);
  if (sets.ok()) inputs.sets = std::move(sets).value();

  const auto policy = Policy::compile(inputs);
  if (!policy.ok()) {
    check(policy.error());
    return 0;
  }
  for (const Rule& rule : (*policy)->rules())
    require(rule.verdict != Verdict::kAsk || rule.source == Rule::Source::kOtherwise,
            "only otherwise asks");
  return 0;
}
