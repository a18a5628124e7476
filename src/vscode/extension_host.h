// ExtensionHost: one extension host of VS Code in a compartment, from the server's fork to its end.
//
//   server ─ fork ─► bulkhead host ─┬─ Relay + HostSession + Broker: what it says (relay's thread)
//                                   ├─ confine(), supervise(): what it does (a thread of its own)
//                                   └─ Control: the companion             (a thread of its own)
//
// The workbench says what a host is for as it asks for it, so that Node starts while the two
// are still making their connection. Its first message says it again, and what does not
// agree with that ends.
#pragma once

#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "policy/config.h"

namespace bulkhead {

struct ExtensionHostOptions {
  std::string launch_file;           // from `bulkhead code`: the version, its actors
  std::vector<std::string> command;  // Node and its arguments, as the server would have started it
  Fd server;                         // Node's channel to the server
  std::string window;                // which window it belongs to; [0-9a-z]+
  std::string folder;                // the workspace's folder, or
  std::string workspace;             // its .code-workspace file; both empty: an empty window
  std::string whole;        // the folder that a person named to be granted, whatever it holds
  std::string identity;     // what it is for, as InitialData::parse takes it; empty: not known yet
  std::string mark;         // seals each line for people: the compartment's own lines have none
  bool trace = false;       // record instead of enforcing
  bool review_all = false;  // a person reads of each extension before it runs
};

// Blocks until the host has ended. The exit code for the server: 0 where the window closed it.
Result<int> run_extension_host(ExtensionHostOptions options);

}  // namespace bulkhead
