// Session: from what a person typed to a policy: what run, isolate, explain and check share.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "policy/config.h"
#include "policy/policy.h"
#include "session/program.h"

namespace bulkhead {

// The options that make a policy, as typed.
struct PolicyOptions {
  std::string manifest;
  std::vector<std::string> workspace, read, write, connect, listen, run, environment, unblock;
  std::string otherwise;
  std::optional<std::string> private_home;                 // its folder; empty: for the run
  std::string memory, cpu_time, wall_time, written, home;  // with units
  std::optional<double> cpu;
  std::optional<uint32_t> processes, files;
};

struct Session {
  Places places;
  PolicyInputs inputs;
  std::shared_ptr<const Policy> policy;
  std::optional<Program> program;
  std::vector<std::string> homes;  // of the machine's people, and places.home
  std::string folder;              // the working folder, canonical
  std::string subject;             // extension id, else the program's
  std::string answers_for;         // whose answers are remembered: extension id, else the program's
  std::string home_owner;          // who keeps the private home: `subject`, or without a manifest the
                                   // workspace's folders, joined by ":"
};

struct SessionRequest {
  std::vector<std::string> command;    // empty: no program (explain, check)
  std::optional<Manifest> manifest;    // check: judge this one under the name options.manifest
  bool example_workspace = false;      // check: where the working folder cannot be the workspace
  bool make_folders = false;           // make ${storage} where it is used
  std::optional<Otherwise> otherwise;  // where neither --otherwise nor a manifest says
  bool nobody_answers = false;  // "ask" would be a denial: compile it as one, which is stronger
  int* not_run = nullptr;       // where the command's program was the cause of an error: its errno
};

Result<Session> open_session(const PolicyOptions& options, const SessionRequest& request);

// `cause` and what to do about a state folder that cannot be written.
Error unwritable_state(const Places& places, Error cause);

// The folder that --workspace names, canonical.
Result<std::string> named_workspace(const std::string& folder, const std::string& text);

// The working folder, canonical; an error where it is gone.
Result<std::string> working_folder();

// What --read, --write and --run name must be there, or a misspelt grant would go unnoticed; a file
// to be written may be yet to be made, in a folder that is there.
Status must_exist(const std::string& path, Kind kind);

// A path as a person types it, as the policy sees it: canonical.
Result<std::string> typed_path(const Session& session, const std::string& text);

}  // namespace bulkhead
