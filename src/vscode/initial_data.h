// InitialData: the workbench's first message to an extension host, which says what the host is to
// run, and where. The workbench is trusted; what extensions wrote into their package.json, which is
// in here too, is not.
#pragma once

#include <string>
#include <vector>

#include "base/nlohmann.h"
#include "base/result.h"
#include "vscode/foreign_settings.h"
#include "vscode/websocket.h"

namespace bulkhead {

struct HostExtension {
  std::string id;      // publisher.name, lower case
  std::string name;    // the same as its package spells it: VS Code names folders by that
  std::string folder;  // as VS Code names it

  bool operator==(const HostExtension&) const = default;
};

// What a host runs and where that keeps what it writes: all that its compartment is made from.
struct HostIdentity {
  std::vector<HostExtension> extensions;
  std::string logs;
  // Each extension's folder below these is its own.
  std::string global_storage;
  std::string workspace_storage;  // with the workspace's id; empty in an empty window

  // The storage folders of one extension: its global and its workspace one.
  std::vector<std::string> storage_of(const HostExtension& extension) const;

  bool operator==(const HostIdentity&) const = default;
};

// NOLINTNEXTLINE(bugprone-exception-escape): moving a Json does not throw.
class InitialData {
 public:
  // `body` may also be what the workbench says of a host as it asks for it (vscode/workbench/
  // placement.js): the same shape, with no more in it than the identity is read from.
  static Result<InitialData> parse(Bytes body);

  // The data holds the descriptions of all other extensions as well.
  const HostIdentity& identity() const { return identity_; }
  const std::string& authority() const { return authority_; }
  // This window's browser keeps pages off the network (vscode/workbench/pages.js).
  bool keeps_pages() const;
  // Which settings the host's extensions declare, and who else does.
  ForeignSettings settings() const;

  // Takes out what a host in a compartment has no use for: the server's token, the parent to
  // watch, which it cannot see. VS Code's own way to say "none".
  void withhold();
  // Tells the host ids of the machine, the installation and the session that are stable, and
  // `subject`'s alone: extensions, and those whom they tell, cannot find out by them that they have
  // the same user. Nothing else of what telemetry would send stays.
  void replace_ids(const std::string& subject);
  // Leaves the host without extensions: before their review.
  void remove_extensions();

  std::vector<uint8_t> bytes() const;

 private:
  nlohmann::ordered_json json_;
  HostIdentity identity_;
  std::string authority_;
};

}  // namespace bulkhead
