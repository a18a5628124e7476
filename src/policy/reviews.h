// ReviewStore: what a person has let run, and what has to be shown to them again.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/package.h"

namespace bulkhead {

// What was approved of one extension, whole, so that a later version can be compared with it.
struct Approval {
  std::string id;                                      // lower case
  std::string version;                                 // for people
  std::string package;                                 // digest of the package
  ManifestBytes manifest = ManifestBytes::of({}, {});  // exact bytes; digest() is theirs
  std::string approved;                                // "2026-01-31T12:00:00Z"
};

enum class ReviewReason : uint8_t {
  kNone,     // nothing to ask
  kNew,      // never approved
  kChanged,  // the package is another than the approved one, and nobody's signature vouches for it
  kWidened,  // and it asks for more than was approved
};
std::string_view label(ReviewReason reason);  // "none", "new", "changed", "widened"

// `widens` tells whether the manifest grants more than the approved one: see widened() in review.h.
// It is not looked at where the digests of package and manifest are those that were approved.
ReviewReason review_reason(const std::optional<Approval>& approval, const Package& package,
                           const ManifestBytes& manifest, bool widens);

// One JSON file that people may read. Locked while it is changed, replaced atomically, mode 0600;
// a broken file, or one that somebody else could have written, is an error.
class ReviewStore {
 public:
  explicit ReviewStore(std::string file) : file_(std::move(file)) {}
  Result<std::optional<Approval>> approved(std::string_view id) const;
  Result<std::vector<Approval>> list() const;  // sorted by id
  Status approve(const Package& package, const ManifestBytes& manifest);
  // False where there was none.
  Result<bool> forget(std::string_view id);

 private:
  std::string file_;
};

std::string reviews_file(const Places& places);  // ${config}/reviews.json

}  // namespace bulkhead
