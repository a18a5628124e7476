// package.json, read as VS Code reads it: the last of several members of one name counts, unknown
// members are nobody's business here.
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>

#include "base/nlohmann.h"
#include "base/path.h"
#include "policy/extension_id.h"
#include "policy/package.h"

namespace bulkhead {
namespace {

using nlohmann::json;

constexpr int kMaxDepth = 64;
constexpr size_t kMaxName = 256, kMaxList = 1000;

// Deeper values are dropped while parsing, before they cost memory.
json parse_bounded(std::string_view bytes) {
  const auto keep = [](int depth, json::parse_event_t, json&) { return depth <= kMaxDepth; };
  return json::parse(bytes.begin(), bytes.end(), keep, false);
}

const json* find(const json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto it = object.find(name);
  return it == object.end() ? nullptr : &*it;
}

// A short string, or nothing.
std::string text_of(const json* value) {
  if (value == nullptr || !value->is_string()) return {};
  const auto& text = value->get_ref<const std::string&>();
  return text.size() <= kMaxName && text.find('\0') == std::string::npos ? text : std::string();
}

// "%extension.name%": the text stands in package.nls.json, as a string or as {"message": …}.
std::string translated(const std::string& text, std::string_view nls) {
  if (text.size() < 3 || text.front() != '%' || text.back() != '%') return text;
  if (nls.empty() || nls.size() > kMaxPackageJson) return {};
  const json table = parse_bounded(nls);
  const json* entry = find(table, text.substr(1, text.size() - 2).c_str());
  if (entry != nullptr && entry->is_object()) entry = find(*entry, "message");
  return text_of(entry);
}

void sort_unique(std::vector<std::string>* list) {
  std::sort(list->begin(), list->end());
  list->erase(std::unique(list->begin(), list->end()), list->end());
}

}  // namespace

Result<PackageJson> parse_package_json(const std::string& file, std::string_view bytes,
                                       std::string_view nls) {
  const auto wrong = [&](const std::string& what) {
    return Error{fmt::format("{}: {}; install the extension again", escape_for_display(file), what),
                 EINVAL};
  };
  if (bytes.size() > kMaxPackageJson)
    return wrong(fmt::format("is larger than {} bytes", kMaxPackageJson));
  const json root = parse_bounded(bytes);
  if (!root.is_object()) return wrong("is no JSON object");

  PackageJson result;
  const std::string name = text_of(find(root, "name"));
  std::string publisher = text_of(find(root, "publisher"));
  if (publisher.empty()) publisher = "undefined_publisher";  // as VS Code calls nobody
  result.spelling = publisher + "." + name;
  if (!is_extension_id(result.spelling))
    return wrong(fmt::format("\"publisher\" and \"name\" make no extension id: \"{}\"",
                             escape_for_display(result.spelling)));
  result.id = lower_case(result.spelling);
  result.version = text_of(find(root, "version"));
  result.display_name = translated(text_of(find(root, "displayName")), nls);
  if (result.display_name.empty()) result.display_name = result.spelling;

  for (const auto& [key, into] : {std::pair{"main", &result.main}, {"browser", &result.browser}}) {
    const json* value = find(root, key);
    if (value == nullptr || value->is_null()) continue;
    // An entry that is there and not understood must not pass for "no code".
    if (!value->is_string() || value->get_ref<const std::string&>().size() > 4096)
      return wrong(fmt::format("\"{}\" must be a string", key));
    *into = value->get_ref<const std::string&>();
  }
  if (const json* list = find(root, "extensionDependencies"); list != nullptr && list->is_array())
    for (const json& each : *list)
      if (const std::string id = text_of(&each);
          is_extension_id(id) && result.dependencies.size() < kMaxList)
        result.dependencies.push_back(lower_case(id));
  sort_unique(&result.dependencies);
  if (const json* contributes = find(root, "contributes"); contributes != nullptr)
    if (const json* list = find(*contributes, "typescriptServerPlugins");
        list != nullptr && list->is_array())
      for (const json& each : *list)
        if (std::string plugin = text_of(find(each, "name"));
            !plugin.empty() && result.typescript_plugins.size() < kMaxList)
          result.typescript_plugins.push_back(std::move(plugin));
  sort_unique(&result.typescript_plugins);
  return result;
}

std::string_view label(PackageManifest::Origin origin) {
  switch (origin) {
    case PackageManifest::Origin::kPackage:
      return "package";
    case PackageManifest::Origin::kShipped:
      return "shipped";
    case PackageManifest::Origin::kBaseline:
      return "baseline";
  }
  return "baseline";
}

Result<ManifestBytes> usual_manifest(const Places& places) {
  const std::string file = places.data + "/manifests/baseline-extension.json";
  BULKHEAD_TRY(std::optional<std::string> text, read_shipped_file(file));
  if (!text)
    return Error{
        fmt::format("{} is missing: bulkhead's data are incomplete; install it again", file),
        ENOENT};
  return ManifestBytes::of(file, std::move(*text));
}

Result<PackageManifest> manifest_of(const Package& package, const Places& places) {
  using Origin = PackageManifest::Origin;
  const auto parsed = [&](Origin origin, ManifestBytes bytes) -> Result<PackageManifest> {
    BULKHEAD_TRY(Manifest manifest, parse_manifest(bytes));
    const bool general = origin == Origin::kBaseline && manifest.extension.empty();
    if (!general && !manifest.extension.empty() && lower_case(manifest.extension) != package.id)
      return Error{fmt::format("{} is the manifest of {}, not of {}; correct its \"extension\"",
                               escape_for_display(bytes.file()), manifest.extension, package.id),
                   EINVAL};
    manifest.extension = package.id;
    return PackageManifest{origin, std::move(bytes), std::move(manifest)};
  };
  if (package.manifest) return parsed(Origin::kPackage, *package.manifest);
  if (!is_extension_id(package.id)) return Error{"this package has no extension id", EINVAL};
  const std::string folder = places.data + "/manifests/";
  const std::string own = folder + package.id + ".json";
  BULKHEAD_TRY(std::optional<std::string> shipped, read_shipped_file(own));
  if (shipped) return parsed(Origin::kShipped, ManifestBytes::of(own, std::move(*shipped)));
  BULKHEAD_TRY(ManifestBytes general, usual_manifest(places));
  return parsed(Origin::kBaseline, std::move(general));
}

}  // namespace bulkhead
