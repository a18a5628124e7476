#include "vscode/foreign_settings.h"

#include <functional>
#include <string_view>

namespace bulkhead {
namespace {

using Json = nlohmann::ordered_json;

// contributes.configuration is one object with "properties", or a list of such; old packages have
// further ones in "allOf".
void each_setting(const Json& description,
                  const std::function<void(const std::string&, const Json&)>& each) {
  if (!description.is_object()) return;
  const auto contributes = description.find("contributes");
  if (contributes == description.end() || !contributes->is_object()) return;
  const auto configuration = contributes->find("configuration");
  if (configuration == contributes->end()) return;
  const std::function<void(const Json&)> read = [&](const Json& section) {
    if (section.is_array())
      for (const Json& one : section) read(one);
    if (!section.is_object()) return;
    if (const auto others = section.find("allOf"); others != section.end()) read(*others);
    const auto properties = section.find("properties");
    if (properties == section.end() || !properties->is_object()) return;
    // VS Code takes none that stand for a language.
    for (const auto& [key, value] : properties->items())
      if (!key.empty() && !key.starts_with('[')) each(key, value);
  };
  read(*configuration);
}

// What VS Code takes for the default of a declared setting.
Json default_of(const Json& property) {
  if (!property.is_object()) return nullptr;
  if (const auto said = property.find("default"); said != property.end()) return *said;
  auto type = property.find("type");
  if (type == property.end()) return nullptr;
  const Json& first = type->is_array() && !type->empty() ? type->front() : *type;
  if (first == "boolean") return false;
  if (first == "integer" || first == "number") return 0;
  if (first == "string") return "";
  if (first == "array") return Json::array();
  if (first == "object") return Json::object();
  return nullptr;
}

// "a" and "a.b" of "a.b.c".
void each_whole(std::string_view key, const std::function<void(std::string_view)>& each) {
  for (size_t dot = key.find('.'); dot != std::string_view::npos; dot = key.find('.', dot + 1))
    each(key.substr(0, dot));
}

std::string family_of(std::string_view key) { return std::string(key.substr(0, key.find('.'))); }

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

// The other way round, as VS Code nests them.
void put(Json& contents, std::string_view key, const Json& value) {
  Json* place = &contents;
  for (size_t dot = key.find('.'); dot != std::string_view::npos; dot = key.find('.')) {
    Json& next = (*place)[std::string(key.substr(0, dot))];
    if (!next.is_object()) next = Json::object();
    place = &next;
    key.remove_prefix(dot + 1);
  }
  (*place)[std::string(key)] = value;
}

bool has_value(const Json& contents, std::string_view key) {
  if (!contents.is_object()) return false;
  if (contents.contains(std::string(key))) return true;
  for (size_t dot = key.find('.'); dot != std::string_view::npos; dot = key.find('.', dot + 1)) {
    const auto child = contents.find(std::string(key.substr(0, dot)));
    if (child != contents.end() && has_value(*child, key.substr(dot + 1))) return true;
  }
  return false;
}

}  // namespace

ForeignSettings::ForeignSettings(const std::vector<std::string>& editors)
    : editors_secrets_{"http.proxy", "http.proxyAuthorization", "terminal.integrated.env.linux",
                       "terminal.integrated.env.osx", "terminal.integrated.env.windows"},
      // These stand for files of programs to run, and have no defaults to learn from.
      reserved_{"tasks", "launch", "mcp", "bulkhead"} {
  reserved_.insert(editors.begin(), editors.end());
}

void ForeignSettings::add(const std::string& id, const Json& description) {
  each_setting(description, [&](const std::string& key, const Json&) { others_[key].insert(id); });
  settled_ = false;
}

void ForeignSettings::add_builtin(const Json& description) {
  each_setting(description, [this](const std::string& key, const Json&) { builtins_.insert(key); });
  settled_ = false;
}

void ForeignSettings::keep(const Json& description) {
  each_setting(description, [&](const std::string& key, const Json& property) {
    own_.emplace(key, default_of(property));
  });
  settled_ = false;
}

const std::map<std::string, std::set<std::string>>& ForeignSettings::contested() {
  settle();
  return contested_;
}

void ForeignSettings::share() {
  shared_ = true;
  settled_ = false;
}

void ForeignSettings::settle() {
  if (settled_) return;
  settled_ = true;
  contested_.clear();
  for (const auto& [key, unused] : own_) {
    std::set<std::string> ids;
    const auto take = [&](const auto& other) {
      ids.insert(other.second.begin(), other.second.end());
    };
    if (const auto same = others_.find(key); same != others_.end()) take(*same);
    each_whole(key, [&](std::string_view whole) {
      if (const auto other = others_.find(whole); other != others_.end()) take(*other);
    });
    const std::string parts = key + ".";
    for (auto other = others_.lower_bound(parts);
         other != others_.end() && other->first.starts_with(parts); ++other)
      take(*other);
    if (!ids.empty()) contested_.emplace(key, std::move(ids));
  }
  withheld_ = editors_secrets_;
  for (const auto& [key, ids] : others_) {
    bool contests = own_.contains(key);
    each_whole(key, [&](std::string_view whole) { contests |= own_.contains(std::string(whole)); });
    const std::string parts = key + ".";
    const auto part = own_.lower_bound(parts);
    contests |= part != own_.end() && part->first.starts_with(parts);
    if (!shared_ || !contests) withheld_.insert(key);
  }
  editors_ = reserved_;
  for (const std::string& key : builtins_) editors_.insert(family_of(key));
  for (const std::string& key : defaults_)
    if (!own_.contains(key) && !others_.contains(key)) editors_.insert(family_of(key));
}

void ForeignSettings::learn(const Json& data) {
  if (!data.is_object()) return;
  const auto defaults = data.find("defaults");
  if (defaults == data.end() || !defaults->is_object()) return;
  const auto keys = defaults->find("keys");
  if (keys == defaults->end() || !keys->is_array()) return;
  Keys found;
  for (const Json& each : *keys)
    if (each.is_string()) found.insert(each.get_ref<const std::string&>());
  if (learned_ && found == defaults_) return;
  defaults_ = std::move(found);
  learned_ = true;
  settled_ = false;
}

bool ForeignSettings::owns(const std::string& key) {
  if (!learned_) return false;
  settle();
  if (editors_.contains(family_of(key))) return false;
  const auto mine = [this](std::string_view declared) {
    const std::string name(declared);
    return own_.contains(name) && (shared_ || !contested_.contains(name));
  };
  bool found = mine(key);
  each_whole(key, [&](std::string_view whole) { found = found || mine(whole); });
  return found;
}

void ForeignSettings::withhold_from_model(Json& model, Withheld& withheld) const {
  if (!model.is_object()) return;
  const auto clean = [&](Json& part) {
    const auto contents = part.find("contents");
    const auto listed = part.find("keys");
    if (contents != part.end()) {
      if (!shared_)
        for (const auto& [key, ids] : contested_)
          if (has_value(*contents, key)) withheld.contested.insert(key);
      for (const std::string& key : withheld_) withheld.values += remove(*contents, key);
    }
    if (listed == part.end() || !listed->is_array()) return;
    Json kept = Json::array();
    for (Json& key : *listed)
      if (!key.is_string() || !withheld_.contains(key.get_ref<const std::string&>()))
        kept.push_back(std::move(key));
    *listed = std::move(kept);
  };
  clean(model);
  if (const auto overrides = model.find("overrides");
      overrides != model.end() && overrides->is_array())
    for (Json& each : *overrides)
      if (each.is_object()) clean(each);
}

// VS Code has one declaration of a setting, perhaps that of another extension.
bool ForeignSettings::restore_defaults(Json& data) const {
  const auto defaults = data.find("defaults");
  if (defaults == data.end() || !defaults->is_object()) return false;
  const auto contents = defaults->find("contents");
  if (contents == defaults->end() || !contents->is_object()) return false;
  bool changed = false;
  for (const auto& [key, ids] : contested_) {
    // The editor's and the built-in extensions' are theirs.
    if (editors_.contains(family_of(key))) continue;
    remove(*contents, key);
    put(*contents, key, own_.at(key));
    changed = true;
  }
  return changed;
}

ForeignSettings::Withheld ForeignSettings::withhold(Json& data) {
  settle();
  Withheld withheld;
  if (!data.is_object()) return withheld;
  for (auto& [name, model] : data.items()) {
    if (name == "defaults" || name == "configurationScopes") continue;
    if (name != "folders") {
      withhold_from_model(model, withheld);
    } else if (model.is_array()) {
      for (Json& pair : model)
        if (pair.is_array() && pair.size() == 2) withhold_from_model(pair[1], withheld);
    }
  }
  withheld.changed = restore_defaults(data) || withheld.values > 0;
  return withheld;
}

}  // namespace bulkhead
