// Manifest: what somebody asks for, as parsed: variables and sets not yet resolved.
//
// Stages are types: bytes → ManifestBytes (with digest) → Manifest → Policy. Nothing skips a stage.
//
// Three kinds of file, each a JSON object; "$schema" (a string) may stand in each:
//
//   manifest   {"manifest":1, "extension":"publisher.name",
//               "files":{"read":[…],"write":[…],"block":[…],"hide":[…],"private":true|false},
//               "network":[…] or {"connect":[…],"listen":[…]}, "run":[…], "environment":[…],
//               "vscode":[…],
//               "limits":{"memory":"512MiB","cpu":1.5,"cpu-time":"10m","wall-time":"30s",
//                         "processes":64,"files":1024,"written":"1GiB",
//                         "home":"1GiB"},
//               "otherwise":"deny"|"ask"}            all but "manifest" optional
//   set        {"set":"system", "about":"…", "read":[…], "run":[…], "names":[…]}
//   blocklist  {"blocklist":1, "limits":{…}, "otherwise":"deny"|"ask",
//               "groups":[{"name":"ssh-keys","reason":"…","block":[…],"block-write":[…],
//                          "network":[…],"run":[…],"environment":[…],"vscode":[…]}]}
//              also the format of the user's and the organisation's policy.json
//
// Paths: absolute, or starting with one of kVariableNames as ${name}; "*" stands for any
// bytes within a component; "**/a/b" is a in any folder and b in it; a path names that file
// or the whole tree below it; "@name" in files.read and run is a set. A backslash before
// "*", "$" or "\" takes its meaning away (see pattern.h). The rest of the language:
// pattern.h, network_rule.h, compile.cc.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace bulkhead {

// Where an entry stands in its file.
struct Location {
  std::string file;
  int line = 0;       // 1-based
  int column = 0;     // 1-based, bytes
  std::string field;  // JSON path: files.read[2]
};
std::string place(const Location& where);  // FILE:LINE:COLUMN, to be shown

// One string of a manifest's list, with its place.
struct Entry {
  std::string text;
  Location where;
};

enum class Otherwise : uint8_t { kDeny, kAsk };

struct Limits {                                       // an unset limit is not enforced
  std::optional<uint64_t> memory;                     // bytes, whole compartment
  std::optional<double> cpu;                          // cores
  std::optional<std::chrono::milliseconds> cpu_time;  // whole compartment
  std::optional<std::chrono::milliseconds> wall_time;
  std::optional<uint32_t> processes;  // at one time, threads not counted
  std::optional<uint32_t> files;      // descriptors of each process
  std::optional<uint64_t> written;    // bytes written to storage, whole compartment
  std::optional<uint64_t> home;       // bytes in a private home, whose default is kMostOfHome
};

// `limits`, and in their place those that are set in `over`.
Limits with_limits(Limits limits, const Limits& over);

// A private home is kept small where no limit says more or less.
inline constexpr uint64_t kMostOfHome = uint64_t{1} << 30U;

// The most that these limits can say: PID_MAX_LIMIT and fs.nr_open's default, proc(5).
inline constexpr double kMostCores = 4096;
inline constexpr uint32_t kMostProcesses = 4'194'304;
inline constexpr uint32_t kMostFiles = 1'048'576;

struct Files {
  std::vector<Entry> read, write, block, hide;
  std::optional<bool> private_home;  // a home folder of its own; unset: as the baseline says
};

struct Manifest {
  int version = 1;
  std::string extension;  // publisher.name; empty for programs that are no extension
  Files files;
  std::vector<Entry> network;  // hosts
  std::vector<Entry> listen;   // ports
  std::vector<Entry> run, environment, vscode;
  Limits limits;
  std::optional<Otherwise> otherwise;  // unset: deny
  std::string digest;                  // SHA-256 of the exact bytes, hex
};

// The exact bytes of a manifest, and the SHA-256 of those, so that no stage hashes one
// text and parses another.
class ManifestBytes {
 public:
  static ManifestBytes of(std::string file, std::string bytes);
  const std::string& file() const { return file_; }
  const std::string& bytes() const { return bytes_; }
  // In hex. Computed each time: the blocklist's, the longest text of each
  // start, is never asked for.
  std::string digest() const;

 private:
  std::string file_, bytes_;
};

// Parses the JSON of design.md's manifest. Duplicate keys, unknown keys, wrong types, integers out
// of range, NUL bytes, invalid UTF-8, more than 1 MiB or 64 levels are errors; all findings are
// reported together, with file, line, column, field and fix. Reads no file but the bytes given.
Result<Manifest> parse_manifest(const ManifestBytes& bytes);

// A list of rules that belongs to no extension: the built-in blocklist, a user's or an
// organisation's policy file. Its groups have names, so that a rule can be told and lifted by name.
struct BlockGroup {
  std::string name;                             // "ssh-keys"
  std::string reason;                           // one sentence for people
  std::vector<Entry> block;                     // neither read nor written
  std::vector<Entry> block_write;               // not written
  std::vector<Entry> network, listen;           // denied
  std::vector<Entry> run, environment, vscode;  // denied
};
struct Blocklist {
  // kTelemetry blocks nothing: where a person would be asked about its hosts, the answer is no.
  enum class Source { kBuiltin, kOrganisation, kUser, kTelemetry };
  Source source = Source::kBuiltin;
  std::vector<BlockGroup> groups;
  std::optional<Limits> limits;        // an upper bound for every manifest
  std::optional<Otherwise> otherwise;  // kDeny forbids asking
  std::optional<Otherwise> telemetry;  // kAsk: known collectors are asked about like other hosts
};
Result<Blocklist> parse_blocklist(const ManifestBytes& bytes, Blocklist::Source source);

// In a manifest's "run": whatever may be read. No list, and so no file of manifests/sets/.
inline constexpr std::string_view kPrograms = "@programs";

// A named list of paths (@system, @node, …): manifests/sets/*.json. No set grants writing.
struct PathSet {
  std::string about;
  std::vector<Entry> read;
  std::vector<Entry> run;    // "@name" in run needs one
  std::vector<Entry> names;  // of files, read in the folders above the workspace
};
using Sets = std::map<std::string, PathSet, std::less<>>;  // by name, without "@"
// One entry: its name and the set.
Result<Sets> parse_set(const ManifestBytes& bytes);

// What of a file can be read, and what is wrong with the rest. For `bulkhead check` alone, which
// compiles it to tell all mistakes at once: nothing is enforced by a file that holds one.
template <typename T>
struct Draft {
  T readable{};
  std::optional<Error> error = std::nullopt;
};
Draft<Manifest> draft_manifest(const ManifestBytes& bytes);
Draft<Blocklist> draft_blocklist(const ManifestBytes& bytes, Blocklist::Source source);
Draft<Sets> draft_set(const ManifestBytes& bytes);

}  // namespace bulkhead
