#include "vscode/foreign_settings.h"

#include <functional>
#include <string_view>

namespace bulkhead {
namespace {

using Json = nlohmann::ordered_json;

// contributes.configuration is one object with "properties", or a list of such.
void each_key(const Json& description, const std::function<void(const std::string&)>& each) {
  if (!description.is_object()) return;
  const auto contributes = description.find("contributes");
  if (contributes == description.end() || !contributes->is_object()) return;
  const auto configuration = contributes->find("configuration");
  if (configuration == contributes->end()) return;
  const auto read = [&](const Json& section) {
    if (!section.is_object()) return;
    const auto properties = section.find("properties");
    if (properties == section.end() || !properties->is_object()) return;
    for (const auto& [key, value] : properties->items()) each(key);
  };
  if (configuration->is_array())
    for (const Json& section : *configuration) read(section);
  else
    read(*configuration);
}

// Removes "a.b.c" from {"a":{"b":{"c":…}}}, however its parts are nested ("a.b" may be one name).
size_t remove(Json& contents, std::string_view key) {
  if (!contents.is_object()) return 0;
  size_t removed = contents.erase(std::string(key));
  for (size_t dot = key.find('.'); dot != std::string_view::npos; dot = key.find('.', dot + 1)) {
    const auto child = contents.find(std::string(key.substr(0, dot)));
    if (child != contents.end()) removed += remove(*child, key.substr(dot + 1));
  }
  return removed;
}

}  // namespace

ForeignSettings::ForeignSettings()
    : editors_secrets_{"http.proxy", "http.proxyAuthorization", "terminal.integrated.env.linux",
                       "terminal.integrated.env.osx", "terminal.integrated.env.windows"},
      // These stand for files of programs to run, and have no defaults to learn from.
      editors_{"tasks", "launch", "mcp", "bulkhead"} {
  keys_ = editors_secrets_;
}

void ForeignSettings::add(const Json& description) {
  each_key(description, [this](const std::string& key) {
    keys_.insert(key);
    declared_.insert(key);
  });
}

void ForeignSettings::keep(const Json& description) {
  each_key(description, [this](const std::string& key) {
    if (!editors_secrets_.contains(key)) keys_.erase(key);
    own_.insert(key);
    declared_.insert(key);
  });
}

void ForeignSettings::learn(const Json& data) {
  if (!data.is_object()) return;
  const auto defaults = data.find("defaults");
  if (defaults == data.end() || !defaults->is_object()) return;
  const auto keys = defaults->find("keys");
  if (keys == defaults->end() || !keys->is_array()) return;
  for (const Json& each : *keys) {
    if (!each.is_string()) continue;
    const std::string& key = each.get_ref<const std::string&>();
    if (!declared_.contains(key)) editors_.insert(key.substr(0, key.find('.')));
  }
}

bool ForeignSettings::owns(const std::string& key) const {
  if (editors_.contains(key.substr(0, key.find('.')))) return false;
  if (own_.contains(key)) return true;
  for (size_t dot = key.find('.'); dot != std::string::npos; dot = key.find('.', dot + 1))
    if (own_.contains(key.substr(0, dot))) return true;
  return false;
}

size_t ForeignSettings::withhold_from_model(Json& model) const {
  if (!model.is_object()) return 0;
  size_t removed = 0;
  const auto clean = [&](Json& part) {
    const auto contents = part.find("contents");
    const auto listed = part.find("keys");
    if (contents != part.end())
      for (const std::string& key : keys_) removed += remove(*contents, key);
    if (listed == part.end() || !listed->is_array()) return;
    Json kept = Json::array();
    for (Json& key : *listed)
      if (!key.is_string() || !keys_.contains(key.get_ref<const std::string&>()))
        kept.push_back(std::move(key));
    *listed = std::move(kept);
  };
  clean(model);
  if (const auto overrides = model.find("overrides");
      overrides != model.end() && overrides->is_array())
    for (Json& each : *overrides)
      if (each.is_object()) clean(each);
  return removed;
}

size_t ForeignSettings::withhold(Json& data) const {
  if (!data.is_object()) return 0;
  size_t removed = 0;
  for (auto& [name, model] : data.items()) {
    if (name == "defaults" || name == "configurationScopes") continue;
    if (name != "folders") {
      removed += withhold_from_model(model);
    } else if (model.is_array()) {
      for (Json& pair : model)
        if (pair.is_array() && pair.size() == 2) removed += withhold_from_model(pair[1]);
    }
  }
  return removed;
}

}  // namespace bulkhead
