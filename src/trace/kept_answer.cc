#include "trace/kept_answer.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include "base/path.h"
#include "policy/pattern.h"

namespace bulkhead {
namespace {

bool is_path(Kind kind) {
  switch (kind) {
    case Kind::kRead:
    case Kind::kReadStatus:
    case Kind::kWrite:
    case Kind::kWriteStatus:
    case Kind::kRun:
      return true;
    default:
      return false;
  }
}

bool is_folder(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

// An answer is kept in JSON, which is UTF-8, and read by people. Where it is no path, some
// spellings mean more than themselves.
bool can_be_entry(Kind kind, std::string_view text) {
  return escape_for_display(text) == text &&
         (is_path(kind) || text.find_first_of("*$@") == std::string_view::npos);
}

// By a system call or the editor's.
bool makes_folder(std::string_view detail) {
  return detail.starts_with("mkdir") || detail.ends_with(".$mkdir");
}

// Why an entry would grant more than what a person was asked; empty where it grants just that.
std::string_view wider_than_asked(Kind kind, const std::string& resource, std::string_view detail) {
  switch (kind) {
    case Kind::kWrite:
      // An entry names a whole tree; the question was about one folder's own name.
      if (!is_folder(resource) && !makes_folder(detail)) return {};
      return "an entry for a folder grants all that is in it; name it in a manifest if that is "
             "meant";
    case Kind::kWriteStatus:
      return "an entry for it would grant writing the content too; name it in a manifest if that "
             "is meant";
    case Kind::kLookup:
      return "an entry for it would grant connecting to every port; answer when it connects";
    default:
      return {};
  }
}

}  // namespace

Result<std::vector<Extra>> kept_answer(Kind kind, const std::string& resource,
                                       std::string_view detail, bool yes, bool with_web_ports) {
  Extra extra;
  extra.source = Rule::Source::kRemembered;
  extra.verdict = yes ? Verdict::kAllow : Verdict::kDeny;
  extra.kind = kind;
  std::vector<std::string> entries = {is_path(kind) ? quote_path(resource) : resource};
  // The list of network grants has no entry without a port.
  if (kind == Kind::kLookup) entries = {resource + ":*"};
  if (yes && kind == Kind::kLookup && with_web_ports) {
    extra.kind = Kind::kConnect;
    entries.clear();
    for (const uint16_t port : kWebPorts) entries.push_back(fmt::format("{}:{}", resource, port));
  }
  // The question was about the list of its names, not about all that is in it.
  if (yes && kind == Kind::kRead && is_folder(resource))
    entries = {resource == "/" ? "/." : quote_path(resource) + "/."};
  if (yes)
    if (const auto wider = wider_than_asked(extra.kind, resource, detail); !wider.empty())
      return Error{std::string(wider)};
  if (!can_be_entry(kind, resource))
    return Error{"its name holds characters that a manifest cannot hold"};
  std::vector<Extra> kept;
  for (std::string& entry : entries) {
    extra.entry.text = std::move(entry);
    kept.push_back(extra);
  }
  return kept;
}

}  // namespace bulkhead
