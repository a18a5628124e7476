// InitialData: the workbench's first message to an extension host, which says what the host is to
// run, and where. The workbench is trusted; what extensions wrote into their package.json, which is
// in here too, is not.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "vscode/websocket.h"

namespace bulkhead {

struct HostExtension {
  std::string id;      // publisher.name, lower case
  std::string name;    // the same as its package spells it: VS Code names folders by that
  std::string folder;  // as VS Code names it
};

class InitialData {
 public:
  static Result<InitialData> parse(Bytes body);

  // What this host runs; the data holds the descriptions of all others as well.
  const std::vector<HostExtension>& extensions() const { return extensions_; }
  const std::string& authority() const { return authority_; }
  const std::string& logs() const { return logs_; }
  // Each extension's folder below these is its own.
  const std::string& global_storage() const { return global_storage_; }
  const std::string& workspace_storage() const {
    return workspace_storage_;
  }  // with the workspace
     // id; may be empty

  // The storage folders of one extension: its global and its workspace one.
  std::vector<std::string> storage_of(const HostExtension& extension) const;

  // Takes out what a host in a compartment has no use for: the server's token, the parent to
  // watch, which it cannot see. VS Code's own way to say "none".
  void withhold();
  // Leaves the host without extensions: before their review.
  void remove_extensions();

  std::vector<uint8_t> bytes() const;

 private:
  nlohmann::ordered_json json_;
  std::vector<HostExtension> extensions_;
  std::string authority_, logs_, global_storage_, workspace_storage_;
};

}  // namespace bulkhead
