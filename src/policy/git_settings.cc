#include "policy/git_settings.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <optional>

#include "base/fd.h"
#include "base/path.h"
#include "policy/git_reader.h"

namespace bulkhead {
namespace {

constexpr size_t kMostBytes = size_t{256} << 10U;
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

bool is_harmless(const GitSetting& setting) {
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

std::string quote(std::string_view value) {
  std::string result = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

}  // namespace

Result<std::string> harmless_git_settings(std::string_view text) {
  if (text.size() > kMostBytes) return Error{"larger than any git configuration", EFBIG};
  if (text.find('\0') != std::string_view::npos) return Error{"holds a NUL byte", EINVAL};
  GitReader reader(text);
  std::string result;
  for (;;) {
    BULKHEAD_TRY(const std::optional<GitSetting> setting, reader.next());
    if (!setting) return result;
    if (!is_harmless(*setting)) continue;
    result += setting->has_subsection
                  ? fmt::format("[{} {}]", setting->section, quote(setting->subsection))
                  : fmt::format("[{}]", setting->section);
    result += fmt::format("\n\t{} = {}\n", setting->name, quote(setting->value));
  }
}

namespace {

constexpr const char* kName = ".gitconfig";

// Empty where there is nothing that can be had.
std::string settings_in(const std::string& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  const auto text = read_file(file, kMostBytes);
  if (!text.ok()) return {};
  auto settings = harmless_git_settings(*text);
  return settings.ok() ? std::move(settings).value() : std::string();
}

// FNV-1a, with what git takes for a comment.
std::string with_mark(const std::string& settings) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : settings) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("# The user's settings, as long as nothing else is changed here ({:016x})\n{}",
                     hash, settings);
}

// The store's file; empty where there is no file that a program may have made for itself.
std::string text_there(int folder) {
  const Fd file(::openat(folder, kName, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  std::string text(std::min(static_cast<size_t>(status.st_size), 2 * kMostBytes), '\0');
  const ssize_t count = ::pread(file.get(), text.data(), text.size(), 0);
  text.resize(static_cast<size_t>(std::max<ssize_t>(count, 0)));
  return text;
}

// What a program has set for itself is its own to keep.
bool is_as_shared(const std::string& there) {
  const size_t end = there.find('\n');
  return end != std::string::npos && there == with_mark(there.substr(end + 1));
}

}  // namespace

Status share_git_settings(const std::string& home, const std::string& store) {
  // As git reads them: of two that name the same setting the later one holds.
  const std::string settings =
      settings_in(join(home, ".config/git/config")) + settings_in(join(home, kName));
  const Fd folder(::open(store.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder) return errno_error("open " + store);
  if (settings.empty()) return {};
  const std::string text = with_mark(settings), there = text_there(folder.get());
  if (there == text || (!there.empty() && !is_as_shared(there))) return {};
  const std::string beside = fmt::format("{}.{}", kName, ::getpid());
  (void)::unlinkat(folder.get(), beside.c_str(), 0);
  const Fd file(::openat(folder.get(), beside.c_str(),
                         O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return errno_error("make " + join(store, beside));
  const bool written =
      ::pwrite(file.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
  if (!written || ::renameat(folder.get(), beside.c_str(), folder.get(), kName) != 0) {
    const int error_number = errno;
    Error error = errno_error("write " + join(store, kName));
    (void)::unlinkat(folder.get(), beside.c_str(), 0);
    if (!written || error_number != EISDIR) return error;
  }
  return {};
}

}  // namespace bulkhead
