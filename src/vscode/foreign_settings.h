// ForeignSettings: the settings that a host has no business with: those that other third-party
// extensions declare (people keep tokens there), and a few of the editor's own that hold secrets.
// Their values are taken out of what the workbench tells the host; their defaults stay.
//
// A setting that this host's extensions declare and others as well is nobody's: whoever came first,
// names and places say nothing about whom a person meant it for. Its value stays outside and its
// default is what the own package says, until share() says otherwise.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/nlohmann.h"

namespace bulkhead {

class ForeignSettings {
 public:
  using Json = nlohmann::ordered_json;
  using Keys = std::set<std::string, std::less<>>;

  // `editors`: first words of the editor's own settings, whoever declares such.
  explicit ForeignSettings(const std::vector<std::string>& editors = {});
  // What an extension's description (its package.json) declares in contributes.configuration:
  // another third-party extension's, a built-in one's, one of the host's own.
  void add(const std::string& id, const Json& description);
  void add_builtin(const Json& description);
  void keep(const Json& description);

  // Settings of the host's own extensions that others declare as well, also in part or as a whole
  // ("cloud" for "cloud.token"), and those others' ids.
  const std::map<std::string, std::set<std::string>>& contested();
  // Somebody decided that the contested ones are this host's too.
  void share();

  // Learns from the defaults that `data` (see withhold) lists which first words of keys are the
  // editor's own: those of keys that no third-party extension declares. Before, nothing is owned.
  void learn(const Json& data);
  // A setting, or a part of one, that the host's own extensions declare and nobody else does.
  bool owns(const std::string& key);

  struct Withheld {
    size_t values = 0;
    std::set<std::string> contested;  // those of the host's own that had a value
    bool changed = false;
  };
  // `data` is VS Code's IConfigurationData ($initializeConfiguration, $acceptConfigurationChanged).
  Withheld withhold(Json& data);

 private:
  void settle();  // who else declares what
  void withhold_from_model(Json& model, Withheld& withheld) const;
  bool restore_defaults(Json& data) const;

  Keys editors_secrets_;             // whoever declares them
  std::map<std::string, Json> own_;  // declared by the host's own: their defaults
  std::map<std::string, std::set<std::string>, std::less<>> others_;  // key → ids
  Keys builtins_;  // declared by built-in extensions
  Keys reserved_;  // first words that are the editor's, whoever declares them
  Keys defaults_;  // keys that the workbench has a default for
  bool learned_ = false;
  bool shared_ = false;
  // Made of these by settle(), when they are asked for.
  bool settled_ = false;
  Keys withheld_;
  std::map<std::string, std::set<std::string>> contested_;
  Keys editors_;  // first words
};

}  // namespace bulkhead
