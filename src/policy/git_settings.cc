#include "policy/git_settings.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/path.h"
#include "policy/git_reader.h"
#include "policy/shared_settings.h"

namespace bulkhead {
namespace {

constexpr size_t kMostBytes = kMostGitSettings;
constexpr size_t kLongestValue = 1024;

// By section, in lower case, as git compares them. None of them names a program, a host or a file
// to be read, but core.excludesfile and core.attributesfile, which are decided on when they are
// opened.
constexpr std::array<std::pair<std::string_view, std::string_view>, 26> kHarmless = {{
    {"author", " email name "},
    {"branch", " autosetupmerge autosetuprebase sort "},
    {"color", " ui "},
    {"column", " ui "},
    {"commit", " cleanup gpgsign status verbose "},
    {"committer", " email name "},
    {"core",
     " abbrev attributesfile autocrlf commentchar eol excludesfile filemode ignorecase longpaths "
     "precomposeunicode preloadindex quotepath safecrlf symlinks untrackedcache whitespace "},
    {"diff",
     " algorithm colormoved context mnemonicprefix noprefix renames submodule wserrorhighlight "},
    {"feature", " manyfiles "},
    {"fetch", " parallel prune prunetags "},
    {"gc", " auto "},
    {"gpg", " format "},
    {"help", " autocorrect "},
    {"i18n", " commitencoding logoutputencoding "},
    {"init", " defaultbranch "},
    {"log", " abbrevcommit date decorate follow "},
    {"merge", " conflictstyle ff renames "},
    {"pull", " ff rebase "},
    {"push", " autosetupremote default followtags "},
    {"rebase", " autosquash autostash updaterefs "},
    {"rerere", " enabled "},
    {"safe", " directory "},
    {"status", " showuntrackedfiles submodulesummary "},
    {"submodule", " recurse "},
    {"tag", " gpgsign sort "},
    {"user", " email name signingkey useconfigonly "},
}};

// Without these `git add` would store a large file's content in place of its pointer.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kLfs = {
    {{"clean", "git-lfs clean -- %f"},
     {"smudge", "git-lfs smudge -- %f"},
     {"process", "git-lfs filter-process"},
     {"required", "true"}}};

}  // namespace

bool is_harmless_git_setting(const GitSetting& setting) {
  const auto plain = [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7F; };
  if (setting.value.size() > kLongestValue ||
      !std::all_of(setting.value.begin(), setting.value.end(), plain))
    return false;
  if (setting.has_subsection)
    return setting.section == "filter" && setting.subsection == "lfs" &&
           std::find(kLfs.begin(), kLfs.end(),
                     std::pair(std::string_view(setting.name), std::string_view(setting.value))) !=
               kLfs.end();
  const auto* const known = std::find_if(kHarmless.begin(), kHarmless.end(), [&](const auto& each) {
    return each.first == setting.section;
  });
  return known != kHarmless.end() &&
         known->second.find(fmt::format(" {} ", setting.name)) != std::string_view::npos;
}

namespace {

std::string quote(std::string_view value) {
  std::string result = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

}  // namespace

Result<std::vector<GitSetting>> read_git_settings(std::string_view text) {
  if (text.size() > kMostGitSettings) return Error{"larger than any git configuration", EFBIG};
  if (text.find('\0') != std::string_view::npos) return Error{"holds a NUL byte", EINVAL};
  GitReader reader(text);
  std::vector<GitSetting> settings;
  for (;;) {
    BULKHEAD_TRY(std::optional<GitSetting> setting, reader.next());
    if (!setting) return settings;
    settings.push_back(std::move(*setting));
  }
}

Result<std::string> harmless_git_settings(std::string_view text) {
  BULKHEAD_TRY(const std::vector<GitSetting> settings, read_git_settings(text));
  std::string result;
  for (const GitSetting& setting : settings) {
    if (!is_harmless_git_setting(setting)) continue;
    result += setting.has_subsection
                  ? fmt::format("[{} {}]", setting.section, quote(setting.subsection))
                  : fmt::format("[{}]", setting.section);
    result += fmt::format("\n\t{} = {}\n", setting.name, quote(setting.value));
  }
  return result;
}

namespace {

constexpr const char* kName = ".gitconfig";

// Empty where there is nothing that can be had.
std::string settings_in(const std::string& file) {
  const auto text = read_settings(file, kMostBytes);
  if (!text) return {};
  auto settings = harmless_git_settings(*text);
  return settings.ok() ? std::move(settings).value() : std::string();
}

}  // namespace

Status share_git_settings(const std::string& home, const std::string& store) {
  // As git reads them: of two that name the same setting the later one holds.
  return share_settings(
      settings_in(join(home, ".config/git/config")) + settings_in(join(home, kName)), store, kName);
}

}  // namespace bulkhead
