// Confinement: what one extension host may do and whether a person has agreed to it: packages,
// their manifests, their approvals and the policy made of them. No process of the host exists yet.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "policy/package.h"
#include "policy/policy.h"
#include "policy/review.h"
#include "policy/reviews.h"
#include "vscode/initial_data.h"

namespace bulkhead {

struct ConfinedExtension {
  Package package;
  PackageManifest manifest;
  ReviewReason reason = ReviewReason::kNone;
};

struct Confinement {
  std::vector<ConfinedExtension> extensions;
  PolicyInputs inputs;
  std::shared_ptr<const Policy> policy;
  Review review;
  Brief brief;                       // only where there is something to review
  std::vector<std::string> widened;  // against what was approved
  std::string subject;               // whose answers are remembered
  std::string digest;                // of what a person would agree to now

  ReviewReason reason() const;  // the gravest of the extensions'
  // There is nothing in it for a person to decide: what extensions usually get, for the first time
  // or in another version. An organisation with a policy has each one reviewed all the same.
  bool is_usual() const;
};

struct ConfinementRequest {
  const Places& places;
  const HostIdentity& host;
  std::vector<std::string> workspace;  // canonical folders
  std::string server;                  // VS Code's own folder, read by every host
  std::string builtin;                 // the folder of links to built-in extensions, read as well
  std::vector<std::string> shipped;    // ids of those
  std::string node;                    // what runs the host
};

// Refuses a package that has a built-in extension's id and does not lie in that folder: VS Code,
// the broker and shipped manifests tell by its id whose storage, secrets, schemes and settings are
// meant.
Result<Confinement> confine(const ConfinementRequest& request);

// What a review says of the window: a sentence for each other extension whose settings these
// declare as well, and will not see.
std::vector<std::string> contested_settings(const Confinement& confinement,
                                            const InitialData& data);

// Notes that a person agreed to all of it.
Status approve(const Confinement& confinement, const Places& places);

}  // namespace bulkhead
