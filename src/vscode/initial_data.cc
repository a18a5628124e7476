#include "vscode/initial_data.h"

#include <fmt/core.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "base/hex.h"
#include "base/path.h"
#include "policy/extension_id.h"
#include "vscode/json_string.h"
#include "vscode/json_text.h"
#include "vscode/json_tree.h"
#include "vscode/resource.h"

namespace bulkhead {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kKeepsPages = "bulkheadKeepsPages";

const Json kNull;
const Json& member(const Json& object, const char* key) {
  if (!object.is_object()) return kNull;
  const auto it = object.find(key);
  return it == object.end() ? kNull : *it;
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::string id_of(const Json& identifier) {
  return lower_case(text_of(identifier.is_object() ? member(identifier, "value") : identifier));
}

// 64 hexadecimal digits, as VS Code's own ids have. The id is random (the web's) and so the secret.
std::string own_id(std::string_view subject, std::string_view id) {
  std::array<unsigned char, 32> hash{};
  crypto_generichash_state state;
  crypto_generichash_init(&state, nullptr, 0, hash.size());
  for (const std::string_view part : {subject, std::string_view("\0", 1), id})
    crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(part.data()),
                              part.size());
  crypto_generichash_final(&state, hash.data(), hash.size());
  return hex(hash);
}

}  // namespace

Result<InitialData> InitialData::parse(Bytes body) {
  InitialData data;
  // It holds what extensions wrote into their package.json.
  std::string text(reinterpret_cast<const char*>(body.data()), body.size());
  replace_halves(text);
  data.json_ = parse_json(text);
  if (data.json_.is_discarded() && !is_moderate(text))
    return Error{"the workbench's first message is nested too deep to be read"};
  const Json& json = data.json_;
  const auto unknown = [](const char* what) {
    return Error{
        fmt::format("the workbench's first message has no {}: this version of VS Code is "
                    "not one that bulkhead knows",
                    what)};
  };
  if (!json.is_object()) return unknown("initialisation data");
  data.authority_ = text_of(member(member(json, "remote"), "authority"));
  const auto folder = [&](const Json& uri) {
    const auto resource = parse_resource(uri, data.authority_);
    return resource && resource->is_file ? normalize(resource->path) : std::string();
  };
  data.identity_.logs = folder(member(json, "logsLocation"));
  if (data.identity_.logs.empty()) return unknown("log folder");
  const Json& environment = member(json, "environment");
  data.identity_.global_storage = folder(member(environment, "globalStorageHome"));
  if (data.identity_.global_storage.empty()) return unknown("storage folder");
  const std::string workspaces = folder(member(environment, "workspaceStorageHome"));
  const std::string workspace = text_of(member(member(json, "workspace"), "id"));
  const bool plain = !workspace.empty() && workspace != "." && workspace != ".." &&
                     workspace.find('/') == std::string::npos;
  if (!workspaces.empty() && plain) data.identity_.workspace_storage = join(workspaces, workspace);

  const Json& extensions = member(json, "extensions");
  const Json& all = member(extensions, "allExtensions");
  const Json& own = member(extensions, "myExtensions");
  if (!all.is_array() || !own.is_array()) return unknown("list of extensions");
  std::map<std::string, std::string> folders;
  for (const Json& each : all)
    folders[id_of(member(each, "identifier"))] = folder(member(each, "extensionLocation"));
  for (const Json& each : own) {
    const std::string id = id_of(each);
    const auto found = folders.find(id);
    if (!is_extension_id(id) || found == folders.end() || found->second.empty())
      return Error{fmt::format("the extension \"{}\" has no folder on this machine",
                               escape_for_display(id))};
    data.identity_.extensions.push_back(
        {id, text_of(each.is_object() ? member(each, "value") : each), found->second});
  }
  return data;
}

bool InitialData::keeps_pages() const { return member(json_, kKeepsPages) == "yes"; }

ForeignSettings InitialData::settings() const {
  ForeignSettings settings;
  for (const Json& each : member(member(json_, "extensions"), "allExtensions")) {
    if (member(each, "isBuiltin") == true) continue;
    const std::string id = id_of(member(each, "identifier"));
    const bool own = std::any_of(identity_.extensions.begin(), identity_.extensions.end(),
                                 [&](const HostExtension& one) { return one.id == id; });
    if (own)
      settings.keep(each);
    else
      settings.add(id, each);
  }
  return settings;
}

std::vector<std::string> HostIdentity::storage_of(const HostExtension& extension) const {
  std::vector<std::string> folders = {join(global_storage, extension.id)};
  if (!workspace_storage.empty()) folders.push_back(join(workspace_storage, extension.name));
  return folders;
}

void InitialData::withhold() {
  // The host polls this process and ends when it cannot signal it; it cannot, from inside.
  json_["parentPid"] = 0;
  json_.erase(kKeepsPages);
  if (const auto remote = json_.find("remote"); remote != json_.end() && remote->is_object())
    (*remote)["connectionData"] = nullptr;
}

void InitialData::replace_ids(const std::string& subject) {
  Json replaced = Json::object();
  const Json& told = member(json_, "telemetryInfo");
  for (const char* name : {"machineId", "sqmId", "devDeviceId", "sessionId"})
    if (const std::string id = text_of(member(told, name)); !id.empty())
      replaced[name] = own_id(subject, id);
  json_["telemetryInfo"] = std::move(replaced);
}

void InitialData::remove_extensions() {
  json_["extensions"]["myExtensions"] = Json::array();
  json_["extensions"]["activationEvents"] = Json::object();
}

std::vector<uint8_t> InitialData::bytes() const {
  const std::string text = json_string(json_);
  return {text.begin(), text.end()};
}

}  // namespace bulkhead
