// bulkhead review: what an extension could do, in words, and whether you have agreed to it.
#include "policy/review.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/path.h"
#include "cli/policy_options.h"
#include "cli/summary.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "policy/homes.h"
#include "policy/merge.h"
#include "policy/package.h"
#include "policy/programs.h"
#include "policy/reviews.h"
#include "sandbox/limits/outcome.h"
#include "session/program.h"
#include "session/session.h"
#include "vscode/json_string.h"

namespace bulkhead {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kToReview = 1, kUnknown = 1;

struct ReviewOptions {
  std::string folder, forget;
  std::vector<std::string> workspace;
  bool list = false, approve = false, details = false, json = false;
};

struct Reviewed {
  Package package;
  PackageManifest manifest;
  std::optional<Approval> approval;
  ReviewReason reason = ReviewReason::kNew;
  Review review;
  Brief brief;
  std::vector<std::string> widened;
  bool example_workspace = false;
};

// The folders that ${workspace} stands for: named, or the working folder; where that is no project
// an example, since sentences about the whole of it would mislead.
Result<std::vector<std::string>> workspaces(const ReviewOptions& options, const std::string& home,
                                            const std::vector<std::string>& homes,
                                            const std::string& folder, bool* example) {
  std::vector<std::string> found;
  for (const std::string& text : options.workspace) {
    BULKHEAD_TRY(std::string path, named_workspace(folder, text));
    found.push_back(std::move(path));
  }
  if (!found.empty()) return found;
  *example = !why_no_project(folder, homes).empty();
  return std::vector<std::string>{*example ? join(home, "PROJECT") : folder};
}

// The inputs of an extension host for this manifest, as far as they do not depend on the editor.
Result<PolicyInputs> inputs_for(const Places& places, const Shipped& shipped,
                                const std::vector<std::string>& workspace,
                                const std::vector<std::string>& homes, const MergeMember& member) {
  PolicyInputs inputs;
  BULKHEAD_TRY(inputs.manifest, merge(std::span(&member, 1)));
  const std::string file = places.data + "/manifests/extension-host.json";
  BULKHEAD_TRY(std::optional<std::string> bytes, read_shipped_file(file));
  if (!bytes)
    return Error{
        fmt::format("{} is missing: bulkhead's data are incomplete; install it again", file),
        ENOENT};
  BULKHEAD_TRY(inputs.baseline, parse_manifest(ManifestBytes::of(file, std::move(*bytes))));
  inputs.blocklists = shipped.blocklists;
  inputs.sets = shipped.sets;
  inputs.scratch = {"/tmp", "/dev/shm"};
  const char* path = std::getenv("PATH");
  inputs.search_path = split_search_path(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin");
  inputs.variables = {.workspace = workspace,
                      .extension = "",
                      .storage = "",
                      .home = canonical_or_same(places.home),
                      .config = canonical_or_same(places.config),
                      .state = canonical_or_same(places.state),
                      .runtime = canonical_or_same(places.runtime),
                      .bulkhead = own_files(places),
                      .other_homes = homes};
  return inputs;
}

Result<Reviewed> judge(const ReviewOptions& options, const Places& places) {
  Reviewed found;
  BULKHEAD_TRY(const std::string here, working_folder());
  BULKHEAD_TRY(const std::string folder, canonical_path(here, options.folder));
  BULKHEAD_TRY(found.package, read_package(folder, package_cache_file(places, folder)));
  BULKHEAD_TRY(found.manifest, manifest_of(found.package, places));
  BULKHEAD_TRY(found.approval, ReviewStore(reviews_file(places)).approved(found.package.id));
  BULKHEAD_TRY(const Shipped shipped, load_shipped(places));
  const std::string home = canonical_or_same(places.home);
  const std::vector<std::string> homes = homes_with(home);
  BULKHEAD_TRY(const auto workspace,
               workspaces(options, home, homes, here, &found.example_workspace));

  // Where the editor will put it does not matter here: sentences call it "its own storage".
  const std::string storage =
      canonical_or_same(places.state) + "/code/storage/" + found.package.spelling;
  MergeMember member{found.manifest.manifest, found.package.id, folder, {storage}};
  const OwnFolders own{{folder}, {storage}};
  BULKHEAD_TRY(const PolicyInputs inputs, inputs_for(places, shipped, workspace, homes, member));
  BULKHEAD_TRY(const auto policy, Policy::compile(inputs));
  found.review = review(inputs, *policy, own);
  {
    BULKHEAD_TRY(const ManifestBytes bytes, usual_manifest(places));
    MergeMember plain = member;
    BULKHEAD_TRY(plain.manifest, parse_manifest(bytes));
    BULKHEAD_TRY(const PolicyInputs usual, inputs_for(places, shipped, workspace, homes, plain));
    BULKHEAD_TRY(const auto usual_policy, Policy::compile(usual));
    found.brief = brief(inputs, *policy, *usual_policy, own);
  }

  if (found.approval && found.approval->manifest.digest() != found.manifest.bytes.digest()) {
    const auto before = [&]() -> Result<std::shared_ptr<const Policy>> {
      BULKHEAD_TRY(member.manifest, parse_manifest(found.approval->manifest));
      BULKHEAD_TRY(const PolicyInputs old, inputs_for(places, shipped, workspace, homes, member));
      return Policy::compile(old);
    }();
    found.widened = before.ok() ? widened(**before, inputs, *policy, own)
                                : std::vector<std::string>{
                                      "Something that cannot be compared with "
                                      "what you approved"};
  }
  found.reason =
      review_reason(found.approval, found.package, found.manifest.bytes, !found.widened.empty());
  return found;
}

std::string state_of(const Reviewed& found) {
  const auto approved = [&] {
    std::string text = "version " + escape_for_display(found.approval->version);
    return text + " on " + escape_for_display(found.approval->approved.substr(0, 10));
  };
  switch (found.reason) {
    case ReviewReason::kNone:
      return "You approved it: " + approved();
    case ReviewReason::kNew:
      return "Not approved: it does not run";
    case ReviewReason::kChanged:
      return fmt::format(
          "Its code differs from what you approved ({}), but it asks for no more: it does not "
          "run until you approve it",
          approved());
    case ReviewReason::kWidened:
      return fmt::format(
          "It asks for more than what you approved ({}): it does not run until you "
          "approve it",
          approved());
  }
  return "";
}

std::string_view written_by(PackageManifest::Origin origin) {
  switch (origin) {
    case PackageManifest::Origin::kPackage:
      return "its own bulkhead.json";
    case PackageManifest::Origin::kShipped:
      return "the one that comes with bulkhead";
    case PackageManifest::Origin::kBaseline:
      return "none; the baseline of extensions applies";
  }
  return "";
}

class Page {
 public:
  Page(size_t width, bool colour) : width_(width), colour_(colour) {}

  void title(std::string_view text) { text_ += paint(text, Colour::kBold, colour_) + "\n"; }
  void line(std::string_view text, Colour colour = Colour::kNone) { block(text, 0, "", colour); }
  void list(std::string_view heading, const std::vector<std::string>& items,
            Colour colour = Colour::kNone) {
    if (items.empty()) return;
    text_ += "\n" + paint(heading, Colour::kBold, colour_) + "\n";
    for (const std::string& item : items) block(item, 4, "  - ", colour);
  }
  void copy(std::string_view text) { text_ += escape_for_display(text) + "\n"; }  // never wrapped
  void gap() { text_ += "\n"; }
  const std::string& text() const { return text_; }

 private:
  void block(std::string_view text, size_t indent, std::string_view first, Colour colour) {
    const std::string safe = escape_for_display(text);
    const size_t room = width_ == 0 ? 0 : width_ > indent + 20 ? width_ - indent : 20;
    std::vector<std::string> lines = {safe};
    if (room > 0) lines = wrap(safe, room);
    for (size_t i = 0; i < lines.size(); ++i)
      text_ += fmt::format("{}{}\n", i == 0 ? std::string(first) : std::string(indent, ' '),
                           paint(lines[i], colour, colour_));
  }
  size_t width_;
  bool colour_;
  std::string text_;
};

// What can be pasted into a shell as it is; else a word for it.
std::string typed(const std::string& folder) {
  const bool plain = std::all_of(folder.begin(), folder.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("/._-+@,:").find(c) != std::string_view::npos;
  });
  return plain && !folder.starts_with('-') ? folder : "FOLDER";
}

// Everything that is known of it.
void add_details(const Reviewed& found, Page* page) {
  const Package& package = found.package;
  page->line(fmt::format("{} {}, {} bytes, SHA-256 {}", package.files,
                         package.files == 1 ? "file" : "files", package.bytes, package.digest));
  page->line(fmt::format("Manifest: {}", written_by(found.manifest.origin)));
  if (!package.dependencies.empty())
    page->line(
        fmt::format("It may share a compartment with what it depends on ({}): then what each "
                    "of them may do, all may, and each has what the others keep, their secrets too",
                    fmt::join(package.dependencies, ", ")));
  if (found.example_workspace)
    page->line("The workspace below is an example: name yours with --workspace FOLDER");
  page->list("New since you approved it", found.widened, Colour::kYellow);
  page->list("It can", found.review.permits);
  page->list("It cannot", found.review.cannot);
  std::vector<std::string> unusual = found.review.unusual;
  const auto usual =
      std::stable_partition(unusual.begin(), unusual.end(), [&](const std::string& each) {
        const auto& told = found.brief.notable;
        return std::find(told.begin(), told.end(), each) != told.end();
      });
  page->list("Unusual", {unusual.begin(), usual}, Colour::kYellow);
  page->list("Usual, and worth knowing", {usual, unusual.end()});
}

// What matters.
void add_brief(const Reviewed& found, Page* page) {
  if (!found.brief.usual.empty()) page->line(found.brief.usual);
  page->list("New since you approved it", found.widened, Colour::kYellow);
  if (found.brief.notable.empty())
    page->line("Nothing unusual.");
  else
    page->list("Unusual", found.brief.notable, Colour::kYellow);
}

std::string page_of(const Reviewed& found, const ReviewOptions& options) {
  Page page(terminal_width(STDOUT_FILENO), wants_colour(STDOUT_FILENO));
  const Package& package = found.package;
  const std::string name = package.display_name == package.id
                               ? package.id
                               : fmt::format("{} ({})", package.display_name, package.id);
  page.title(escape_for_display(fmt::format("{} {}", name, package.version)));
  if (package.main.empty())
    page.line(package.browser.empty()
                  ? "It holds no code of its own to run"
                  : "Its code is for browsers only, and bulkhead does not run it");
  if (!package.typescript_plugins.empty())
    page.line(fmt::format("It brings plug-ins that run inside of TypeScript's server: {}",
                          fmt::join(package.typescript_plugins, ", ")));
  options.details ? add_details(found, &page) : add_brief(found, &page);
  page.gap();
  if (options.approve) {
    page.line("Approved", Colour::kGreen);
  } else {
    page.line(state_of(found));
    if (found.reason != ReviewReason::kNone)
      page.copy("Approve exactly this: bulkhead review --approve " + typed(options.folder));
  }
  if (!options.details) page.copy("All of it: bulkhead review --details " + typed(options.folder));
  return page.text();
}

Json json_of(const Reviewed& found, bool approved_now) {
  const Package& package = found.package;
  Json result = {
      {"extension", package.id},
      {"name", package.display_name},
      {"version", package.version},
      {"folder", package.folder},
      {"package", package.digest},
      {"files", package.files},
      {"bytes", package.bytes},
      {"manifest",
       {{"from", label(found.manifest.origin)}, {"digest", found.manifest.bytes.digest()}}},
      {"dependencies", package.dependencies},
      {"typescriptPlugins", package.typescript_plugins},
      {"review", approved_now ? "none" : label(found.reason)},
      {"usual", found.brief.usual},
      {"notable", found.brief.notable},
      {"permits", found.review.permits},
      {"cannot", found.review.cannot},
      {"unusual", found.review.unusual},
      {"widened", found.widened}};
  if (found.approval)
    result["approved"] = {{"version", found.approval->version},
                          {"package", found.approval->package},
                          {"manifest", found.approval->manifest.digest()},
                          {"when", found.approval->approved}};
  return result;
}

// One line of JSON. A name that is no valid UTF-8 is shown with the usual mark in its place.
std::string json_line(const Json& value) { return json_string(value) + "\n"; }

int list_all(const ReviewStore& store, bool json) {
  const auto approvals = store.list();
  if (!approvals.ok()) {
    complain(approvals.error());
    return kExitFailed;
  }
  std::string out;
  Table table({{.title = "EXTENSION"},
               {.title = "VERSION"},
               {.title = "APPROVED"},
               {.title = "PACKAGE", .right = false, .shrink_to = 16}});
  for (const Approval& each : *approvals) {
    table.add({{each.id}, {each.version}, {each.approved}, {each.package}});
    if (json)
      out += json_line({{"extension", each.id},
                        {"version", each.version},
                        {"package", each.package},
                        {"manifest", each.manifest.digest()},
                        {"when", each.approved}});
  }
  if (!json && table.empty()) {
    complain("you have approved no extension yet");
    return 0;
  }
  if (!json) out = table.to_string(terminal_width(STDOUT_FILENO), wants_colour(STDOUT_FILENO));
  return print(out) ? 0 : kExitFailed;
}

int forget_one(ReviewStore& store, const std::string& id) {
  const auto forgotten = store.forget(id);
  if (!forgotten.ok()) {
    complain(forgotten.error());
    return kExitFailed;
  }
  if (*forgotten) return 0;
  complain(fmt::format("{} was not approved; `bulkhead review --list` tells what is", id));
  return kUnknown;
}

int review_it(const ReviewOptions& options) {
  const auto places = find_places();
  if (!places.ok()) {
    complain(places.error());
    return kExitFailed;
  }
  ReviewStore store(reviews_file(*places));
  if (options.list) return list_all(store, options.json);
  if (!options.forget.empty()) return forget_one(store, options.forget);
  if (options.folder.empty()) {
    complain("name the folder of an extension, or use --list or --forget ID");
    return kExitFailed;
  }
  const auto found = judge(options, *places);
  if (!found.ok()) {
    complain(found.error());
    return kExitFailed;
  }
  if (options.approve) {
    if (const Status stored = store.approve(found->package, found->manifest.bytes); !stored.ok()) {
      complain(stored.error());
      return kExitFailed;
    }
  }
  const std::string out =
      options.json ? json_line(json_of(*found, options.approve)) : page_of(*found, options);
  if (!print(out)) return kExitFailed;
  return options.approve || found->reason == ReviewReason::kNone ? 0 : kToReview;
}

}  // namespace

Action add_review(CommandLine& line) {
  auto options = std::make_shared<ReviewOptions>();
  const Option folder =
      line.add_option("FOLDER", options->folder, "an extension's folder").type_name("");
  const Option approve = line.add_flag("--approve", options->approve,
                                       "agree to this package and its manifest, as they are now");
  const Option list = line.add_flag("--list", options->list, "list what you have approved");
  const Option forget = line.add_option("--forget", options->forget, "take an approval back")
                            .type_name("ID")
                            .check(not_empty);
  line.add_option("--workspace", options->workspace, "what ${workspace} stands for")
      .type_name("FOLDER")
      .repeatable()
      .check(not_empty);
  const Option details =
      line.add_flag("--details", options->details, "all of it, not only what matters");
  line.add_flag("--json", options->json, "all of it as JSON");
  details.excludes(list).excludes(forget);
  list.excludes(folder).excludes(forget).excludes(approve);
  forget.excludes(folder).excludes(approve);
  line.footer(
      "Exit code: 0 approved (or forgotten), 1 to be reviewed (or not known), 125 bulkhead itself "
      "failed.");
  return [options](const std::vector<std::string>&) { return review_it(*options); };
}

}  // namespace bulkhead
