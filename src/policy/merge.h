// One manifest for several extensions that share a host. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "policy/manifest.h"

namespace bulkhead {

// What ${extension} and ${storage} stand for in one extension's manifest: canonical paths.
struct MergeMember {
  Manifest manifest;
  std::string id;  // lower case; where the manifest names no extension
  std::string folder;
  std::vector<std::string> storage;  // global and workspace storage; may be empty
};

// Grants add up, and so do blocks: a block of one holds for all, since their code shares a process.
// ${extension} and ${storage} become the folders of the member that wrote them, so the result is
// compiled with both left empty in Variables. An entry with ${storage} and a member without one is
// an error, as in compile(). Limits: the larger, and none where one member has none. otherwise: ask
// where one asks. Entries keep their places for messages.
//
// The result's `extension` is the id, or for several all ids, sorted and joined by "+"; its digest
// is that of the only manifest, or one over all ids and digests, so that remembered answers count
// for exactly this group. The order of members does not matter for either.
Result<Manifest> merge(std::span<const MergeMember> members);

}  // namespace bulkhead
