// Loads everything that a policy is made of from its places: data shipped with bulkhead, the
// organisation's /etc/bulkhead/policy.json, the user's ~/.config/bulkhead/policy.json, remembered
// answers in ~/.config/bulkhead/grants.json. The only file of src/policy that reads files besides
// the program lookup in compile().
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "policy/policy.h"

namespace bulkhead {

// Where bulkhead keeps its things. From XDG_* and HOME; the home folder comes from the password
// database when HOME is unset. All absolute; no folder is created.
struct Places {
  // The folder that holds manifests/ (sets, baseline, blocklist): BULKHEAD_DATA, else
  // <prefix>/share/bulkhead beside the program, else the source tree that the program was built in.
  std::string data;
  std::string program;  // bulkhead's own, as it was started; may be gone meanwhile
  std::string config;   // $XDG_CONFIG_HOME/bulkhead
  std::string state;    // $XDG_STATE_HOME/bulkhead
  std::string runtime;  // $XDG_RUNTIME_DIR, else /run/user/UID where that exists; may be empty
  std::string home;
  std::string organisation = "/etc/bulkhead/policy.json";

  std::string journal() const { return state + "/journal.db"; }
  std::string grants() const { return config + "/grants.json"; }
  std::string lifts() const { return config + "/lifts.json"; }
  // The folder for sockets of running compartments.
  std::string sockets() const { return runtime.empty() ? state + "/run" : runtime + "/bulkhead"; }
};
Result<Places> find_places();

// What runs outside of compartments, and decides for them: bulkhead's program, its data as they
// were installed, VS Code's server where another one is named (canonical), and the folders above
// from which these would load packages. Canonical. Of a source tree manifests, launcher and Node,
// and not the rest, which people may well open in the editor.
std::vector<std::string> own_files(const Places& places, const std::string& server = "");

// Where `make install` puts the JavaScript sandbox's addons. Canonical as the program is.
std::string installed_addons(const Places& places);

// Whether bulkhead was built in the tree that its data are of, and not installed.
bool is_source_tree(const Places& places);

// Sets, baseline and the built-in blocklist from places.data; user and organisation files where
// they exist. A file that somebody else can write (another owner than the user or root, or writable
// by group or others, itself or its folder), or an organisation file not owned by root, is an
// error. A present but broken file is an error, never skipped.
struct Shipped {
  Manifest baseline;    // PolicyInputs::baseline where there is no manifest
  Manifest essentials;  // PolicyInputs::baseline where there is one: /dev/null and its kind
  Sets sets;
  std::vector<Blocklist> blocklists;
};
enum class LoadSets { kAll, kNone };
Result<Shipped> load_shipped(const Places& places, LoadSets which = LoadSets::kAll);

// The shipped sets of these names, without "@". Where one is unknown: all sets, so that whoever
// misses it can tell which there are.
Result<Sets> load_sets(const Places& places, const std::vector<std::string>& names);

// The bytes of a file that nobody but the user or root can have written; nullopt
// where there is none.
Result<std::optional<std::string>> read_users_own(const std::string& path);
// The same for a file that is shipped with bulkhead, by whoever installed it.
Result<std::optional<std::string>> read_shipped_file(const std::string& path);

// The name of a subject's own folder in the state: its last name for people, a hash to tell
// namesakes apart.
std::string folder_name_of(const std::string& subject);

// Remembered answers ("always", "never"), by subject: extension id or canonical program path.
// "always" counts for the manifest under which it was given only (its digest; empty for none), so
// that an update asks again; "never" counts for every version. A later answer to the same question
// takes the place of an earlier one.
// The file is locked while it is changed, and replaced atomically, mode 0600; a broken file
// is an error.
class GrantStore {
 public:
  explicit GrantStore(std::string file) : file_(std::move(file)) {}
  Result<std::vector<Extra>> load(const std::string& subject,
                                  const std::string& manifest_digest) const;
  // extra.entry is in a manifest's syntax: quote_path() for a path (pattern.h).
  Status remember(const std::string& subject, const std::string& manifest_digest,
                  const Extra& extra);
  // Forgets every answer to this question, so that it is asked again.
  Status forget(const std::string& subject, Kind kind, const std::string& entry);

 private:
  std::string file_;
};

}  // namespace bulkhead
