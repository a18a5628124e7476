#include "sandbox/node_cache.h"

#include <algorithm>

#include "base/path.h"
#include "policy/manifest.h"

namespace bulkhead {
namespace {

// Node's own name for it, below os.tmpdir().
constexpr char kPlace[] = "/tmp/node-compile-cache";

}  // namespace

std::optional<KeptFolder> node_cache(const Policy& policy, const std::string& state,
                                     std::string_view subject,
                                     const std::vector<std::string>& workspace) {
  const auto& files = policy.runnable_files();
  if (std::none_of(files.begin(), files.end(),
                   [](const std::string& file) { return last_of(file) == "node"; }))
    return std::nullopt;
  std::string whose(subject);
  for (const std::string& folder : workspace) whose.append(1, '\0').append(folder);
  return KeptFolder{join(state, "node-cache/" + ManifestBytes::of("", whose).digest()), kPlace};
}

}  // namespace bulkhead
