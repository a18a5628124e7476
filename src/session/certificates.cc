#include "session/certificates.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "base/fd.h"
#include "base/path.h"
#include "policy/pattern.h"
#include "session/program.h"

namespace bulkhead {
namespace {

// Of OpenSSL, Node.js, requests, curl, git, pip, cargo and AWS's tools: a file, or a folder.
constexpr std::array kNames = {"SSL_CERT_FILE",      "SSL_CERT_DIR",   "NODE_EXTRA_CA_CERTS",
                               "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO",
                               "GIT_SSL_CAPATH",     "PIP_CERT",       "AWS_CA_BUNDLE",
                               "CARGO_HTTP_CAINFO"};
constexpr size_t kMostText = size_t{4} << 20U, kMostFiles = 512;

bool holds_certificates(const std::string& file) {
  struct stat status = {};
  if (stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  const auto text = read_file(file, kMostText);
  return text.ok() && text->find("CERTIFICATE-----") != std::string::npos &&
         text->find("PRIVATE KEY-----") == std::string::npos;
}

// What may be read of the folder: the names in it, and the files that are certificates.
std::vector<std::string> entries_of(const std::string& folder) {
  std::vector<std::string> entries = {quote_path(folder) + "/."};
  std::error_code error;
  std::filesystem::directory_iterator each(folder, error);
  for (size_t seen = 0;
       !error && each != std::filesystem::directory_iterator() && seen < kMostFiles;
       each.increment(error), ++seen) {
    const std::string file = canonical_or_same(each->path().string());
    if (holds_certificates(file)) entries.push_back(quote_path(file));
  }
  return entries.size() > 1 ? entries : std::vector<std::string>();
}

Extra grant(Kind kind, std::string text, const char* name) {
  return Extra{.source = Rule::Source::kCommandLine,
               .verdict = Verdict::kAllow,
               .kind = kind,
               .entry = {.text = std::move(text),
                         .where = {.file = "environment", .line = 0, .column = 0, .field = name}}};
}

bool is_of_environment(const Extra& extra) { return extra.entry.where.file == "environment"; }

}  // namespace

std::vector<Extra> certificate_grants(const std::string& folder,
                                      const std::function<const char*(const char*)>& value_of) {
  std::vector<Extra> extras;
  for (const char* const name : kNames) {
    const char* const value = value_of(name);
    if (value == nullptr || *value == '\0') continue;
    const auto path = canonical_path(folder, value);
    if (!path.ok()) continue;
    std::vector<std::string> entries;
    if (std::error_code error; std::filesystem::is_directory(*path, error))
      entries = entries_of(*path);
    else if (holds_certificates(*path))
      entries = {quote_path(*path)};
    if (entries.empty()) continue;
    extras.push_back(grant(Kind::kEnvironment, name, name));
    for (std::string& entry : entries) extras.push_back(grant(Kind::kRead, std::move(entry), name));
  }
  return extras;
}

bool drop_blocked_certificates(const Policy& policy, std::vector<Extra>& extras) {
  std::set<std::string> blocked;
  for (const Extra& extra : extras) {
    if (!is_of_environment(extra) || extra.kind != Kind::kRead) continue;
    const auto parsed = parse_pattern(extra.entry.text);
    if (!parsed.ok() || !parsed->pattern.is_concrete()) continue;
    if (policy.decide_path(Kind::kRead, parsed->pattern.path()).verdict != Verdict::kAllow)
      blocked.insert(extra.entry.where.field);
  }
  std::erase_if(extras, [&](const Extra& extra) {
    return is_of_environment(extra) && blocked.count(extra.entry.where.field) > 0;
  });
  return !blocked.empty();
}

}  // namespace bulkhead
