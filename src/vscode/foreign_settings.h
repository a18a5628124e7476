// ForeignSettings: the settings that a host has no business with: those that other third-party
// extensions declare (people keep tokens there), and a few of the editor's own that hold secrets.
// Their values are taken out of what the workbench tells the host; their defaults stay.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace bulkhead {

class ForeignSettings {
 public:
  using Json = nlohmann::ordered_json;

  ForeignSettings();
  // Adds what an extension's description (its package.json) declares in contributes.configuration.
  void add(const Json& description);
  // Keeps what the host's own extensions declare, wherever else it is declared too.
  void keep(const Json& description);

  bool contains(const std::string& key) const { return keys_.contains(key); }

  // Learns from the defaults that `data` (see withhold) lists which first words of keys are the
  // editor's own: those of keys that no third-party extension declares.
  void learn(const Json& data);
  // A setting, or a part of one, that the host's own extensions declare and the editor does not.
  bool owns(const std::string& key) const;

  // `data` is VS Code's IConfigurationData ($initializeConfiguration, $acceptConfigurationChanged).
  // Returns how many values were taken out.
  size_t withhold(Json& data) const;

 private:
  size_t withhold_from_model(Json& model) const;
  std::set<std::string, std::less<>> editors_secrets_;  // whoever declares them
  std::set<std::string, std::less<>> keys_;
  std::set<std::string, std::less<>> own_;       // declared by the host's own
  std::set<std::string, std::less<>> declared_;  // by any third-party extension
  std::set<std::string, std::less<>> editors_;   // first words
};

}  // namespace bulkhead
