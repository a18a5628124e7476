#include "vscode/confinement.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>

#include "base/fd.h"
#include "base/path.h"
#include "policy/config.h"
#include "policy/git_named.h"
#include "policy/homes.h"
#include "policy/lifts.h"
#include "policy/merge.h"
#include "policy/pattern.h"
#include "policy/programs.h"
#include "vscode/resource.h"

namespace bulkhead {
namespace {

std::string canonical_or_same(const std::string& path) {
  if (path.empty()) return path;
  return canonical_file(path).value_or(normalize(path));
}

Result<Manifest> shipped_manifest(const Places& places, const char* name) {
  const std::string file = places.data + "/manifests/" + name;
  BULKHEAD_TRY(std::optional<std::string> text, read_shipped_file(file));
  if (!text) return Error{fmt::format("{} is missing", file), ENOENT};
  return parse_manifest(ManifestBytes::of(file, std::move(*text)));
}

// Stands for the workspace in what is told in a window that has none. No such path is granted.
constexpr std::string_view kAnyFolder = "/any folder that you open";

void name_any_folder(std::string& text) {
  for (size_t at = text.find(kAnyFolder); at != std::string::npos; at = text.find(kAnyFolder, at))
    text.replace(at, kAnyFolder.size(), fmt::format("({})", kAnyFolder.substr(1)));
}

Entry own_entry(const std::string& path) {
  return Entry{quote_path(path), Location{"VS Code", 0, 0, "the extension host itself"}};
}

// Where it lies is what the workbench says, links unread: a link elsewhere is somebody's.
bool lies_in(const std::string& folder, const std::string& extension) {
  return canonical_or_same(std::string(parent_of(normalize(extension)))) ==
         canonical_or_same(folder);
}

bool is_shipped(const ConfinementRequest& request, const HostExtension& extension) {
  return std::find(request.shipped.begin(), request.shipped.end(), extension.id) !=
         request.shipped.end();
}

bool holds_shipped(const ConfinementRequest& request) {
  return std::any_of(request.host.extensions.begin(), request.host.extensions.end(),
                     [&](const HostExtension& each) { return is_shipped(request, each); });
}

// What extensions of this host depend on and does not run in it: ids, sorted. Extensions of others
// that depend on one another share a host (vscode/workbench/placement.js), so these are built in.
std::set<std::string> outside(const std::vector<ConfinedExtension>& extensions) {
  std::set<std::string> found;
  for (const ConfinedExtension& each : extensions)
    found.insert(each.package.dependencies.begin(), each.package.dependencies.end());
  for (const ConfinedExtension& each : extensions) found.erase(each.package.id);
  return found;
}

std::string digest_of(const std::vector<ConfinedExtension>& extensions) {
  std::string text = "bulkhead review 1\n";
  for (const ConfinedExtension& each : extensions)
    text += fmt::format("{}\n{}\n{}\n", each.package.id, each.package.digest,
                        each.manifest.bytes.digest());
  return ManifestBytes::of("", text).digest();
}

// The policy for these manifests, in the order of the host's extensions.
Result<PolicyInputs> inputs_for(const ConfinementRequest& request, const Shipped& shipped,
                                const std::vector<MergeMember>& members) {
  PolicyInputs inputs;
  BULKHEAD_TRY(inputs.manifest, merge(members));
  BULKHEAD_TRY(inputs.baseline, shipped_manifest(request.places, "extension-host.json"));
  Manifest& base = *inputs.baseline;
  base.files.read.push_back(own_entry(request.server));
  // An extension learns where another one is, and looks there; what is linked to is the server's
  // (vscode/launcher/extensions.mjs).
  base.files.read.push_back(own_entry(canonical_or_same(request.builtin)));
  for (const char* script : {"/vscode/launcher/compile_cache.cjs", "/vscode/launcher/host.cjs"})
    base.files.read.push_back(own_entry(canonical_or_same(request.places.data + script)));
  // Node looks for packages in every folder above as well, where those that VS Code was installed
  // with may lie.
  for (std::string_view above = parent_of(request.server); above.size() > 1;
       above = parent_of(above))
    if (const std::string modules = join(above, "node_modules");
        ::access(modules.c_str(), F_OK) == 0)
      base.files.read.push_back(own_entry(modules));
  base.files.read.push_back(own_entry(request.node));
  // Edited copies find VS Code's packages by a link beside their folder, and Git its helpers by
  // links that lead to VS Code's own.
  if (holds_shipped(request)) {
    base.files.read.push_back(
        own_entry(std::string(parent_of(canonical_or_same(request.builtin)))));
    base.run.push_back(own_entry(request.server));
  }
  base.run.push_back(own_entry(request.node));
  base.files.write.push_back(own_entry(request.host.logs));
  base.files.read.push_back(own_entry(request.host.logs));
  inputs.blocklists = shipped.blocklists;
  inputs.sets = shipped.sets;
  inputs.scratch = {"/tmp", "/dev/shm"};
  const char* path = std::getenv("PATH");
  inputs.search_path = split_search_path(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin");
  inputs.variables = {.workspace = request.workspace,
                      .may_lack_workspace = true,
                      .extension = "",
                      .storage = "",
                      .home = canonical_or_same(request.places.home),
                      .config = canonical_or_same(request.places.config),
                      .state = canonical_or_same(request.places.state),
                      .runtime = canonical_or_same(request.places.runtime),
                      .bulkhead = own_files(request.places, request.server),
                      .other_homes = find_homes(home_sources())};
  BULKHEAD_TRY(
      inputs.lifted,
      LiftStore(request.places.lifts()).lifted_in(inputs.variables.workspace, inputs.blocklists));
  inputs.blocklists.push_back(git_named(inputs.variables.workspace, inputs.variables.home));
  return inputs;
}

// The extensions of a host as the policy is made of them.
struct Members {
  std::vector<MergeMember> now, approved;  // approved: with the manifests that a person agreed to
  std::vector<std::optional<Approval>> approvals;
  bool comparable = true;  // each has been approved, in a language that is still known
  OwnFolders own;
};

// Read, and what it says of itself is what VS Code believes.
Result<ConfinedExtension> read_extension(const ConfinementRequest& request,
                                         const HostExtension& each) {
  if (is_shipped(request, each) && !lies_in(request.builtin, each.folder))
    return Error{fmt::format(
        "{} has the id of {}, which comes with VS Code, and would get its storage, secrets and "
        "settings: uninstall it, and the window runs the one that VS Code came with again",
        escape_for_display(each.folder), each.id)};
  ConfinedExtension extension;
  // A built-in extension is found by a link (vscode/launcher/extensions.mjs).
  const std::string folder = canonical_or_same(each.folder);
  BULKHEAD_TRY(extension.package, read_package(folder, package_cache_file(request.places, folder)));
  // VS Code read the same file: another name would be another extension's grants.
  if (extension.package.id != each.id)
    return Error{fmt::format("{} calls itself {}, but VS Code knows it as {}",
                             escape_for_display(each.folder),
                             escape_for_display(extension.package.id), each.id)};
  BULKHEAD_TRY(extension.manifest, manifest_of(extension.package, request.places));
  return extension;
}

void add_approval(std::optional<Approval> approval, const MergeMember& member, Members& members) {
  members.comparable = members.comparable && approval;
  if (approval) {
    auto before = parse_manifest(approval->manifest);
    if (before.ok()) {
      members.approved.push_back(member);
      members.approved.back().manifest = std::move(before).value();
    } else {
      members.comparable = false;  // a manifest of a language that is no more
    }
  }
  members.approvals.push_back(std::move(approval));
}

Result<Members> gather(const ConfinementRequest& request,
                       std::vector<ConfinedExtension>& extensions) {
  const ReviewStore reviews(reviews_file(request.places));
  Members members;
  // Each host has one of its own; what lies above it is not the compartment's to write.
  BULKHEAD_CHECK(make_directories(request.host.logs, 0700));
  for (const HostExtension& each : request.host.extensions) {
    BULKHEAD_TRY(ConfinedExtension extension, read_extension(request, each));
    MergeMember member{extension.manifest.manifest, each.id, extension.package.folder, {}};
    for (const std::string& storage : request.host.storage_of(each)) {
      BULKHEAD_CHECK(make_directories(storage, 0700));
      member.storage.push_back(canonical_or_same(storage));
    }
    OwnFolders& own = members.own;
    own.extension.push_back(member.folder);
    own.storage.insert(own.storage.end(), member.storage.begin(), member.storage.end());
    // VS Code's own code under a manifest of ours: nobody is asked whether it may run.
    std::optional<Approval> approval;
    if (is_shipped(request, each) &&
        extension.manifest.origin == PackageManifest::Origin::kShipped) {
      approval = Approval{each.id,
                          extension.package.version,
                          extension.package.digest,
                          extension.manifest.bytes,
                          {}};
    } else {
      BULKHEAD_TRY(approval, reviews.approved(each.id));
    }
    add_approval(std::move(approval), member, members);
    members.now.push_back(std::move(member));
    extensions.push_back(std::move(extension));
  }
  return members;
}

bool is_as_approved(const ConfinedExtension& extension, const std::optional<Approval>& approval) {
  return approval && approval->package == extension.package.digest &&
         approval->manifest.digest() == extension.manifest.bytes.digest();
}

// What a person is told of: `inputs` and the policy that they make.
struct Shown {
  PolicyInputs inputs;
  std::shared_ptr<const Policy> policy;
};

// Who agrees in a window without a folder agrees for the folders of later windows as well.
Result<Shown> shown_of(const ConfinementRequest& request, const Confinement& confinement) {
  Shown shown{confinement.inputs, confinement.policy};
  if (!request.workspace.empty()) return shown;
  shown.inputs.variables.workspace = {std::string(kAnyFolder)};
  BULKHEAD_TRY(shown.policy, Policy::compile(shown.inputs));
  return shown;
}

// Against all that was approved, under today's lists.
Status find_widened(const ConfinementRequest& request, const Shipped& shipped,
                    const Members& members, const Shown& shown, Confinement& confinement) {
  bool same = true;
  for (size_t i = 0; i < confinement.extensions.size(); ++i)
    same = same && is_as_approved(confinement.extensions[i], members.approvals[i]);
  if (!same && members.comparable) {
    BULKHEAD_TRY(PolicyInputs before, inputs_for(request, shipped, members.approved));
    before.extras = shown.inputs.extras;
    before.variables = shown.inputs.variables;
    if (const auto policy = Policy::compile(before); policy.ok())
      confinement.widened = widened(**policy, shown.inputs, *shown.policy, members.own);
    else
      confinement.widened = {"Something that cannot be compared with what you allowed before"};
  }
  for (size_t i = 0; i < confinement.extensions.size(); ++i) {
    ConfinedExtension& each = confinement.extensions[i];
    each.reason = review_reason(members.approvals[i], each.package, each.manifest.bytes,
                                !members.comparable || !confinement.widened.empty());
  }
  return {};
}

// In words, for the person.
Status describe_review(const ConfinementRequest& request, const Shipped& shipped, Members members,
                       const Shown& shown, Confinement& confinement) {
  confinement.review = review(shown.inputs, *shown.policy, members.own);
  if (confinement.reason() != ReviewReason::kNone) {
    BULKHEAD_TRY(const Manifest usual, shipped_manifest(request.places, "baseline-extension.json"));
    for (MergeMember& each : members.now) each.manifest = usual;
    BULKHEAD_TRY(PolicyInputs plain, inputs_for(request, shipped, members.now));
    plain.variables = shown.inputs.variables;
    BULKHEAD_TRY(const auto plain_policy, Policy::compile(plain));
    confinement.brief = brief(shown.inputs, *shown.policy, *plain_policy, members.own);
  }
  for (const std::string& id : outside(confinement.extensions))
    confinement.review.cannot.push_back(fmt::format(
        "Use the API of {}, on which it depends and which runs outside of its compartment "
        "(the setting bulkhead.compartments.builtin can bring it in)",
        id));
  if (request.workspace.empty())
    for (auto* texts :
         {&confinement.review.permits, &confinement.review.cannot, &confinement.review.unusual,
          &confinement.brief.notable, &confinement.widened})
      for (std::string& text : *texts) name_any_folder(text);
  return {};
}

}  // namespace

ReviewReason Confinement::reason() const {
  ReviewReason gravest = ReviewReason::kNone;
  const auto rank = [](ReviewReason reason) {
    switch (reason) {
      case ReviewReason::kNone:
        return 0;
      case ReviewReason::kChanged:
        return 1;
      case ReviewReason::kWidened:
        return 2;
      case ReviewReason::kNew:
        return 3;
    }
    return 3;
  };
  for (const ConfinedExtension& each : extensions)
    if (rank(each.reason) > rank(gravest)) gravest = each.reason;
  return gravest;
}

bool Confinement::is_usual() const {
  const ReviewReason why = reason();
  if (why != ReviewReason::kNew && why != ReviewReason::kChanged) return false;
  const bool organised = std::any_of(
      inputs.blocklists.begin(), inputs.blocklists.end(),
      [](const Blocklist& each) { return each.source == Blocklist::Source::kOrganisation; });
  return !organised && brief.notable.empty();
}

Result<Confinement> confine(const ConfinementRequest& request) {
  Confinement confinement;
  BULKHEAD_TRY(Members members, gather(request, confinement.extensions));
  BULKHEAD_TRY(const Shipped shipped, load_shipped(request.places));
  BULKHEAD_TRY(confinement.inputs, inputs_for(request, shipped, members.now));
  confinement.subject = confinement.inputs.manifest.extension;
  const GrantStore grants(request.places.grants());
  BULKHEAD_TRY(auto remembered,
               grants.load(confinement.subject, confinement.inputs.manifest.digest));
  confinement.inputs.extras = std::move(remembered);
  BULKHEAD_TRY(confinement.policy, Policy::compile(confinement.inputs));
  BULKHEAD_TRY(const Shown shown, shown_of(request, confinement));
  BULKHEAD_CHECK(find_widened(request, shipped, members, shown, confinement));
  BULKHEAD_CHECK(describe_review(request, shipped, std::move(members), shown, confinement));
  confinement.digest = digest_of(confinement.extensions);
  return confinement;
}

std::vector<std::string> contested_settings(const Confinement& confinement,
                                            const InitialData& data) {
  if (confinement.policy->decide_vscode("settings-shared").verdict == Verdict::kAllow) return {};
  std::map<std::string, std::vector<std::string>> keys;  // by the other's id
  ForeignSettings settings = data.settings();
  for (const auto& [key, ids] : settings.contested())
    for (const std::string& id : ids) keys[id].push_back(key);
  std::vector<std::string> sentences;
  for (const auto& [id, all] : keys) {
    constexpr size_t kNamed = 3;
    const auto end = all.begin() + static_cast<ptrdiff_t>(std::min(all.size(), kNamed));
    std::string named = escape_for_display(fmt::format("{}", fmt::join(all.begin(), end, ", ")));
    if (all.size() > kNamed) named += fmt::format(" and {} more", all.size() - kNamed);
    sentences.push_back(
        fmt::format("See or change what you set for {}, which {} declares as well (the permission "
                    "settings-shared allows it)",
                    named, escape_for_display(id)));
  }
  return sentences;
}

Status approve(const Confinement& confinement, const Places& places) {
  ReviewStore reviews(reviews_file(places));
  for (const ConfinedExtension& each : confinement.extensions)
    BULKHEAD_CHECK(reviews.approve(each.package, each.manifest.bytes));
  return {};
}

}  // namespace bulkhead
