// Package: an extension's folder as it is on disk: what it calls itself, what its code is (a digest
// of every file) and which manifest speaks for it.
//
// What the digest does not stop: a file that changes after it was read. The blocklist keeps
// compartments from writing below folders of extensions; whoever else can write there could change
// the editor as well.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/config.h"
#include "policy/manifest.h"

namespace bulkhead {

// What package.json says. Untrusted: names are shown through
// escape_for_display, paths are not used.
struct PackageJson {
  std::string id;            // publisher.name, lower case
  std::string spelling;      // the same as the package spells it
  std::string version;       // may be empty
  std::string display_name;  // from package.nls.json where it is "%key%"; else as `spelling`
  std::string main;          // entry for Node; empty: none
  std::string browser;       // entry for browsers; empty: none
  std::vector<std::string> dependencies;        // extensionDependencies: ids, lower case, sorted
  std::vector<std::string> typescript_plugins;  // names in contributes.typescriptServerPlugins
};
// `nls` holds the bytes of package.nls.json; may be empty. At most kMaxPackageJson bytes each.
inline constexpr size_t kMaxPackageJson = size_t{8} << 20U;
Result<PackageJson> parse_package_json(const std::string& file, std::string_view bytes,
                                       std::string_view nls);

struct Package : PackageJson {
  std::string folder;                     // canonical
  std::string digest;                     // SHA-256 of everything in it, hex
  std::optional<ManifestBytes> manifest;  // bulkhead.json of the folder: the bytes of the digest
  size_t files = 0;                       // regular files and symbolic links
  uint64_t bytes = 0;
  size_t hashed = 0;  // files that were read, because the cache did not know them
};

struct PackageLimits {
  size_t files = 200'000;  // folders count too
  uint64_t bytes = uint64_t{4} << 30U;
  int depth = 64;
  // A file that changed this recently may change once more without its times showing it, so it is
  // not remembered (as git has it for its index).
  std::chrono::nanoseconds settle = std::chrono::seconds(2);
};

// Reads the folder without following a symbolic link: a link counts by its text. A fifo, a socket
// or a device in it is an error. Digests are remembered in `cache_file` by device, inode, size,
// mtime and ctime (its folder is made; empty: no cache). A cache that is broken, or that cannot be
// written, costs time and nothing else.
Result<Package> read_package(const std::string& folder, const std::string& cache_file,
                             const PackageLimits& limits = {});

// A file for each folder, below ${state}/packages, which the blocklist keeps from compartments.
std::string package_cache_file(const Places& places, const std::string& folder);

// The manifest that speaks for a package, and who wrote it.
struct PackageManifest {
  enum class Origin : uint8_t {
    kPackage,   // bulkhead.json in its folder: by its author
    kShipped,   // manifests/<id>.json: by bulkhead
    kBaseline,  // manifests/baseline-extension.json: it has none
  } origin = Origin::kBaseline;
  ManifestBytes bytes;
  Manifest manifest;
};
std::string_view label(PackageManifest::Origin origin);  // "package", "shipped", "baseline"

// What extensions get that have none: manifests/baseline-extension.json.
Result<ManifestBytes> usual_manifest(const Places& places);

// An error where the manifest is broken, or names another extension.
Result<PackageManifest> manifest_of(const Package& package, const Places& places);

}  // namespace bulkhead
