#include "policy/merge.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/json.h"
#include "base/path.h"
#include "policy/extension_id.h"
#include "policy/pattern.h"

namespace bulkhead {
namespace {

// The id that counts: that of the package, whatever its manifest calls itself.
std::string id_of(const MergeMember& member) {
  return lower_case(member.id.empty() ? member.manifest.extension : member.id);
}

class Merger {
 public:
  // What `entry` of one member means to all: its own folders in place of the variables that only
  // that member knows.
  std::vector<Entry> spell_out(const MergeMember& member, const Entry& entry) {
    const auto replace = [&](std::string_view variable,
                             const std::vector<std::string>& folders) -> std::vector<Entry> {
      if (folders.empty()) {
        complain(entry, fmt::format("{} stands for nothing in {}", variable, id_of(member)));
        return {};
      }
      std::vector<Entry> result;
      for (const std::string& folder : folders) {
        if (!is_canonical(folder) || folder == "/") {
          complain(entry, fmt::format("{} of {} stands for \"{}\", which is no canonical path "
                                      "below \"/\"",
                                      variable, id_of(member), escape_for_display(folder)));
          continue;
        }
        result.push_back({quote_path(folder) + entry.text.substr(variable.size()), entry.where});
      }
      return result;
    };
    if (names(entry, kExtension))
      return replace(kExtension, member.folder.empty() ? std::vector<std::string>()
                                                       : std::vector<std::string>{member.folder});
    if (names(entry, kStorage)) return replace(kStorage, member.storage);
    return {entry};
  }

  // `paths`: the list may hold variables.
  void add(const MergeMember& member, const std::vector<Entry>& from, std::vector<Entry>* into,
           bool paths) {
    for (const Entry& entry : from)
      for (Entry& each : paths ? spell_out(member, entry) : std::vector<Entry>{entry})
        if (seen_.emplace(into, each.text).second) into->push_back(std::move(each));
  }

  json::Findings& findings() { return findings_; }

 private:
  static constexpr std::string_view kExtension = "${extension}", kStorage = "${storage}";

  static bool names(const Entry& entry, std::string_view variable) {
    return entry.text.starts_with(variable) &&
           (entry.text.size() == variable.size() || entry.text[variable.size()] == '/');
  }

  void complain(const Entry& entry, std::string message) {
    Diagnostic finding;
    finding.file = entry.where.file;
    finding.line = entry.where.line;
    finding.column = entry.where.column;
    finding.field = entry.where.field;
    finding.message = fmt::format("\"{}\": {}", escape_for_display(entry.text), message);
    finding.fix = "remove the entry, or give the variable a value";
    findings_.add(std::move(finding));
  }

  json::Findings findings_;
  std::set<std::pair<const void*, std::string>> seen_;
};

// No limit is more than any limit.
template <typename T>
void larger(std::optional<T>* limit, const std::optional<T>& other) {
  if (!other) {
    limit->reset();
  } else if (*limit && **limit < *other) {
    *limit = other;
  }
}

void merge_limits(Limits* into, const Limits& other) {
  larger(&into->memory, other.memory);
  larger(&into->cpu, other.cpu);
  larger(&into->cpu_time, other.cpu_time);
  larger(&into->wall_time, other.wall_time);
  larger(&into->processes, other.processes);
  larger(&into->files, other.files);
  larger(&into->written, other.written);
  larger(&into->home, other.home);
}

}  // namespace

Result<Manifest> merge(std::span<const MergeMember> members) {
  if (members.empty()) return Error{"there are no extensions whose manifests could be merged"};
  std::vector<const MergeMember*> sorted;
  for (const MergeMember& member : members) sorted.push_back(&member);
  std::sort(sorted.begin(), sorted.end(), [](const MergeMember* a, const MergeMember* b) {
    return std::pair(id_of(*a), a->manifest.digest) < std::pair(id_of(*b), b->manifest.digest);
  });

  Manifest result;
  result.limits = sorted[0]->manifest.limits;
  Merger merger;
  std::string identity = "bulkhead group 1\n";
  for (const MergeMember* member : sorted) {
    const Manifest& one = member->manifest;
    if (one.version != 1)
      return Error{
          fmt::format("manifest version {} of {} is not known to this bulkhead; update bulkhead",
                      one.version, id_of(*member))};
    merger.add(*member, one.files.read, &result.files.read, true);
    merger.add(*member, one.files.write, &result.files.write, true);
    merger.add(*member, one.files.block, &result.files.block, true);
    merger.add(*member, one.files.hide, &result.files.hide, true);
    // Whoever wants the machine's own asks for it; one that does gives it to all.
    if (one.files.private_home && result.files.private_home != false)
      result.files.private_home = one.files.private_home;
    merger.add(*member, one.run, &result.run, true);
    merger.add(*member, one.network, &result.network, false);
    merger.add(*member, one.listen, &result.listen, false);
    merger.add(*member, one.environment, &result.environment, false);
    merger.add(*member, one.vscode, &result.vscode, false);
    merge_limits(&result.limits, one.limits);
    if (one.otherwise && result.otherwise != Otherwise::kAsk) result.otherwise = one.otherwise;
    result.extension += (result.extension.empty() ? "" : "+") + id_of(*member);
    identity += fmt::format("{} {}\n", id_of(*member), one.digest);
  }
  if (!merger.findings().empty())
    return std::move(merger.findings())
        .error(fmt::format("the manifests of {} cannot be merged", result.extension));
  result.digest = sorted.size() == 1 ? sorted[0]->manifest.digest
                                     : ManifestBytes::of("group", std::move(identity)).digest();
  return result;
}

}  // namespace bulkhead
