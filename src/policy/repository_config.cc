#include "policy/repository_config.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/path.h"
#include "policy/git_settings.h"

namespace bulkhead {
namespace {

using Settings = std::vector<GitSetting>;

bool is_one_of(std::string_view names, const std::string& name) {
  return names.find(fmt::format(" {} ", name)) != std::string_view::npos;
}

// Of those that are a person's own to have (git_settings.cc), what decides how their commits are
// signed and what is pushed is not for a program to change.
bool is_decided_by_the_person(const GitSetting& setting) {
  return is_one_of(" gpg help push safe ", setting.section) ||
         is_one_of(" gpgsign signingkey ", setting.name);
}

// What git itself writes as it makes a repository.
bool is_of_every_repository(const GitSetting& setting) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kNames = {{
      {"core",
       " bare filemode ignorecase logallrefupdates precomposeunicode"
       " repositoryformatversion symlinks "},
      {"extensions", " compatobjectformat objectformat refstorage "},
      {"lfs", " repositoryformatversion "},
  }};
  return std::any_of(kNames.begin(), kNames.end(), [&](const auto& each) {
    return each.first == setting.section && is_one_of(each.second, setting.name);
  });
}

// An address, and nothing that starts a program: "ext::…" and the like name one, and so does an
// option in the place of a host.
bool is_plain_address(std::string_view text) {
  return !text.empty() && text[0] != '-' && text.find("::") == text.npos &&
         text.find("://-") == text.npos && text.find("@-") == text.npos;
}

bool is_plain_name(std::string_view text) {
  return !text.empty() && text[0] != '-' && text.find(':') == text.npos;
}

// Branches of the other side come to be told as such, and change none of this side's.
bool is_plain_refspec(std::string_view text, const std::string& remote) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const size_t colon = text.find(':');
  if (!text.starts_with("refs/") || colon == text.npos) return false;
  const std::string_view to = text.substr(colon + 1);
  return to.starts_with(fmt::format("refs/remotes/{}/", remote)) || to.starts_with("refs/tags/");
}

bool is_address(const GitSetting& setting) {
  return setting.name == "url" && is_one_of(" remote submodule ", setting.section);
}

bool is_harmless_of_one(const GitSetting& setting) {
  const std::string& name = setting.name;
  if (is_address(setting)) return is_plain_address(setting.value);
  if (setting.section == "branch")
    return (name == "remote" && is_plain_name(setting.value)) ||
           (name == "merge" && setting.value.starts_with("refs/")) || name == "rebase";
  if (setting.section == "remote")
    return (name == "fetch" && is_plain_refspec(setting.value, setting.subsection)) ||
           (name == "tagopt" && (setting.value == "--tags" || setting.value == "--no-tags"));
  if (setting.section == "submodule") return name == "active";
  return is_harmless_git_setting(setting);  // git-lfs as it installs itself
}

bool is_printable(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7F; });
}

// May come and go.
bool is_free(const GitSetting& setting, const Settings& before) {
  constexpr size_t kLongest = 1024;
  if (setting.value.size() > kLongest || !is_printable(setting.value) ||
      !is_printable(setting.subsection))
    return false;
  if (!setting.has_subsection)
    return is_of_every_repository(setting) ||
           (is_harmless_git_setting(setting) && !is_decided_by_the_person(setting));
  // Of what is there already the address stays.
  const auto same = [&](const GitSetting& each) {
    return each.section == setting.section && each.subsection == setting.subsection &&
           each.name == setting.name;
  };
  if (is_address(setting) && std::any_of(before.begin(), before.end(), same)) return false;
  return is_harmless_of_one(setting);
}

Settings kept_of(const Settings& settings, const Settings& before) {
  Settings kept;
  std::copy_if(settings.begin(), settings.end(), std::back_inserter(kept),
               [&](const GitSetting& each) { return !is_free(each, before); });
  return kept;
}

bool is_same(const GitSetting& a, const GitSetting& b) {
  return a.section == b.section && a.has_subsection == b.has_subsection &&
         a.subsection == b.subsection && a.name == b.name && a.value == b.value;
}

std::string name_of(const GitSetting& setting) {
  return setting.has_subsection
             ? fmt::format("{}.{}.{}", setting.section,
                           escape_for_display(setting.subsection.substr(0, 100)), setting.name)
             : fmt::format("{}.{}", setting.section, setting.name);
}

// Signs and lines that readers have taken in different ways.
bool is_written_plainly(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7F) return false;
    if (c == '\\' && (i + 1 == text.size() || text[i + 1] == '\n')) return false;
  }
  return !text.starts_with("\xEF\xBB\xBF");
}

}  // namespace

Status judge_repository_config(std::string_view before, std::string_view after) {
  if (!is_written_plainly(after)) return Error{"it has signs that git does not write", EINVAL};
  auto old_settings = read_git_settings(before);
  if (!old_settings.ok()) return std::move(old_settings).error();
  auto new_settings = read_git_settings(after);
  if (!new_settings.ok()) return std::move(new_settings).error();
  const Settings were = kept_of(*old_settings, *old_settings);
  const Settings are = kept_of(*new_settings, *old_settings);
  const auto [was, is] = std::mismatch(were.begin(), were.end(), are.begin(), are.end(), is_same);
  if (was == were.end() && is == are.end()) return {};
  return Error{fmt::format("it changes {}", name_of(is != are.end() ? *is : *was)), EACCES};
}

}  // namespace bulkhead
