#include "policy/shipped.h"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "policy/frozen.h"

namespace bulkhead {
namespace {

// What the file `name` below manifests/ said when this was built; false where there was none.
template <typename T>
bool thaw_file(const std::string& name, T& said) {
  for (const FrozenFile& file : frozen_files()) {
    if (file.name != name) continue;
    thaw(file.frozen, name, said);
    return true;
  }
  return false;
}

// Those of these names; where one is unknown all, so that who misses it can tell which there are.
Sets thaw_sets(const std::vector<std::string>& names) {
  Sets sets;
  const auto add = [&sets](const std::string& file) {
    Sets one;
    const bool known = thaw_file(file, one);
    sets.merge(one);
    return known;
  };
  const bool all_known = std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return add("sets/" + name + ".json");
  });
  if (all_known) return sets;
  for (const FrozenFile& file : frozen_files())
    if (file.name.starts_with("sets/")) add(std::string(file.name));
  return sets;
}

}  // namespace

Result<std::shared_ptr<const Policy>> compile_manifest(const ManifestBytes& manifest,
                                                       const ShippedRules& rules,
                                                       PolicyInputs inputs) {
  BULKHEAD_TRY(inputs.manifest, parse_manifest(manifest));
  if (inputs.manifest.files.private_home.value_or(false))
    return Error{
        "a private home (files.private) is kept by `bulkhead run` alone: leave it out of this "
        "manifest, and give the program a folder that it may write",
        ENOTSUP};
  if (rules.essentials) thaw_file("essentials.json", inputs.baseline.emplace());
  if (rules.blocklist) thaw_file("blocklist.json", inputs.blocklists.emplace_back());
  inputs.sets = thaw_sets(sets_named(inputs));
  inputs.search_path = {"/usr/local/bin", "/usr/bin", "/bin"};
  inputs.scratch = {"/tmp", "/dev/shm"};
  inputs.scratch_yields_to_grants = true;
  return Policy::compile(inputs);
}

std::vector<std::string> sets_named(const PolicyInputs& inputs) {
  std::vector<std::string> names;
  const auto take = [&names](const Entry& entry) {
    const std::string_view text = entry.text;
    if (text.starts_with('@') && text != kPrograms) names.emplace_back(text.substr(1));
  };
  const auto take_all = [&take](const Manifest& manifest) {
    std::for_each(manifest.files.read.begin(), manifest.files.read.end(), take);
    std::for_each(manifest.run.begin(), manifest.run.end(), take);
  };
  take_all(inputs.manifest);
  if (inputs.baseline) take_all(*inputs.baseline);
  for (const Extra& extra : inputs.extras) take(extra.entry);
  return names;
}

}  // namespace bulkhead
