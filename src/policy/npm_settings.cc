#include "policy/npm_settings.h"

#include <algorithm>
#include <array>

#include "base/path.h"
#include "policy/shared_settings.h"

namespace bulkhead {
namespace {

constexpr size_t kMostBytes = size_t{256} << 10U;
constexpr size_t kLongestValue = 1024;
constexpr const char* kName = ".npmrc";

// None of them names a program, or a file that is not decided on when it is opened.
constexpr std::array<std::string_view, 46> kHarmless = {"access",
                                                        "audit",
                                                        "audit-level",
                                                        "auto-install-peers",
                                                        "ca",
                                                        "cafile",
                                                        "color",
                                                        "depth",
                                                        "engine-strict",
                                                        "fetch-retries",
                                                        "fetch-retry-maxtimeout",
                                                        "fetch-retry-mintimeout",
                                                        "fetch-timeout",
                                                        "fund",
                                                        "ignore-scripts",
                                                        "include",
                                                        "init-author-email",
                                                        "init-author-name",
                                                        "init-author-url",
                                                        "init-license",
                                                        "init-version",
                                                        "install-links",
                                                        "install-strategy",
                                                        "legacy-peer-deps",
                                                        "loglevel",
                                                        "lockfile-version",
                                                        "maxsockets",
                                                        "noproxy",
                                                        "node-linker",
                                                        "offline",
                                                        "omit",
                                                        "omit-lockfile-registry-resolved",
                                                        "package-lock",
                                                        "prefer-dedupe",
                                                        "prefer-offline",
                                                        "progress",
                                                        "public-hoist-pattern",
                                                        "registry",
                                                        "save-exact",
                                                        "save-prefix",
                                                        "shamefully-hoist",
                                                        "strict-peer-dependencies",
                                                        "strict-ssl",
                                                        "tag-version-prefix",
                                                        "update-notifier",
                                                        "yes"};

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

// "@scope:registry" says which registry a scope's packages come from.
bool is_harmless_name(std::string_view name) {
  if (name.ends_with("[]")) name.remove_suffix(2);
  if (name.starts_with('@')) return name.ends_with(":registry") && name.find('/') == name.npos;
  return std::find(kHarmless.begin(), kHarmless.end(), name) != kHarmless.end();
}

// An address may hold a password before "@" and a token behind "?".
bool is_harmless_value(std::string_view value) {
  const auto plain = [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7F; };
  if (value.size() > kLongestValue || !std::all_of(value.begin(), value.end(), plain)) return false;
  if (value.find("${") != value.npos) return false;
  return value.find("://") == value.npos || value.find_first_of("@?#") == value.npos;
}

}  // namespace

std::string harmless_npm_settings(std::string_view text) {
  std::string result;
  if (text.size() > kMostBytes) return result;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with('['))
      break;  // a section: npm has none, and what follows is not at the top
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    const size_t equals = line.find('=');
    const std::string_view name = trimmed(line.substr(0, equals));
    const std::string_view value = equals == line.npos ? "true" : trimmed(line.substr(equals + 1));
    if (!is_harmless_name(name) || !is_harmless_value(value)) continue;
    result.append(name).append("=").append(value).append("\n");
  }
  return result;
}

Status share_npm_settings(const std::string& home, const std::string& store) {
  const auto text = read_settings(join(home, kName), kMostBytes);
  return share_settings(text ? harmless_npm_settings(*text) : "", store, kName);
}

}  // namespace bulkhead
