#include "policy/git_named.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/path.h"
#include "policy/git_reader.h"
#include "policy/pattern.h"

namespace bulkhead {
namespace {

constexpr size_t kMostBytes = size_t{256} << 10U;
constexpr int kMostFiles = 64;  // of one repository, included ones too
constexpr size_t kMostNamed = 256;

// A regular file's text; nothing where there is none, or it is no configuration of anybody's.
std::optional<std::string> text_of(const std::string& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  auto text = read_file(file, kMostBytes);
  if (!text.ok() || text->find('\0') != std::string::npos) return std::nullopt;
  return std::move(text).value();
}

bool exists(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

std::string first_line(const std::string& text) {
  std::string line = text.substr(0, text.find('\n'));
  while (!line.empty() && line.back() == '\r') line.pop_back();
  return line;
}

// A repository, as git finds it for a folder: in it or above it.
struct Repository {
  std::string top;     // the working tree's
  std::string folder;  // .git, or where that file leads
  std::string common;  // whose configuration it has
};

std::optional<Repository> repository_of(std::string_view folder) {
  for (std::string_view at = folder; at.size() > 1; at = parent_of(at)) {
    const std::string git = join(at, ".git");
    struct stat status {};
    if (::stat(git.c_str(), &status) != 0) continue;
    Repository found{std::string(at), git, git};
    if (!S_ISDIR(status.st_mode)) {
      constexpr std::string_view kLeads = "gitdir: ";
      const std::string line = first_line(text_of(git).value_or(""));
      if (!line.starts_with(kLeads)) return std::nullopt;
      found.folder = found.common = join(at, line.substr(kLeads.size()));
    }
    if (const auto common = text_of(join(found.folder, "commondir")))
      found.common = join(found.folder, first_line(*common));
    return found;
  }
  return std::nullopt;
}

// Settings that are a command line, by section and name: " *" is any name.
bool is_command(const GitSetting& setting) {
  constexpr std::pair<std::string_view, std::string_view> kCommands[] = {
      {"core", " askpass editor fsmonitor gitproxy pager sshcommand "},
      {"credential", " helper "},
      {"diff", " command external textconv "},
      {"difftool", " cmd path "},
      {"filter", " clean process smudge "},
      {"gpg", " program defaultkeycommand "},
      {"guitool", " cmd "},
      {"interactive", " difffilter "},
      {"merge", " driver "},
      {"mergetool", " cmd path "},
      {"remote", " receivepack uploadpack "},
      {"sequence", " editor "},
      {"ssh", " variant "},
      {"submodule", " update "},
      {"tar", " command "},
      {"trailer", " cmd command "},
      {"uploadpack", " packobjectshook "},
  };
  if (setting.section == "alias" || setting.section == "pager" || setting.section == "browser" ||
      setting.section == "man")
    return true;
  return std::any_of(std::begin(kCommands), std::end(kCommands), [&](const auto& each) {
    return each.first == setting.section &&
           each.second.find(fmt::format(" {} ", setting.name)) != std::string_view::npos;
  });
}

bool is_include(const GitSetting& setting) {
  return setting.name == "path" && (setting.section == "include" || setting.section == "includeif");
}

// The words of a command line that a shell is given: where one ends matters, not what it means.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words(1);
  for (const char c : line) {
    if (c == '"' || c == '\'' || c == '\\') continue;
    const bool ends =
        c == '=' || std::string_view(" \t\n;|&()<>`$!").find(c) != std::string_view::npos;
    if (ends && !words.back().empty())
      words.emplace_back();
    else if (!ends)
      words.back() += c;
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

class Finder {
 public:
  Finder(std::span<const std::string> workspace, const std::string& home, BlockGroup& group)
      : workspace_(workspace), home_(home), group_(group) {}

  void look_through(const Repository& repository) {
    top_ = repository.top;
    read_.clear();
    for (const std::string& file :
         {join(home_, ".config/git/config"), join(home_, ".gitconfig"),
          join(repository.common, "config"), join(repository.folder, "config.worktree")})
      read(file);
  }

 private:
  void read(const std::string& file) {
    if (read_.size() >= kMostFiles || !read_.insert(file).second) return;
    const auto text = text_of(file);
    if (!text) return;
    GitReader reader(*text);
    for (;;) {
      const auto next = reader.next();
      if (!next.ok() || !*next) return;  // git stops there, too
      const GitSetting& setting = **next;
      const Location where{file, setting.line, 0, setting.section + "." + setting.name};
      if (is_include(setting)) {
        const std::string included = place_of(setting.value, std::string(parent_of(file)));
        add(included, where);
        read(included);
      } else if (setting.section == "core" && setting.name == "hookspath") {
        add(place_of(setting.value, top_), where);
      } else if (is_command(setting)) {
        for (const std::string& word : words_of(setting.value))
          if (const std::string path = place_of(word, top_);
              word.find('/') != std::string::npos || exists(path))
            add(path, where);
      }
    }
  }

  std::string place_of(const std::string& value, const std::string& base) const {
    if (value.starts_with("~/")) return join(home_, value.substr(2));
    return join(base, value);
  }

  void add(const std::string& path, const Location& where) {
    // A folder that is the workspace, or above it, would be all of it.
    const auto inside = [&](const std::string& folder) {
      return is_within(path, folder) && path != folder;
    };
    const auto holds = [&](const std::string& folder) { return is_within(folder, path); };
    if (std::none_of(workspace_.begin(), workspace_.end(), inside) ||
        std::any_of(workspace_.begin(), workspace_.end(), holds))
      return;
    if (group_.block_write.size() < kMostNamed && named_.insert(path).second)
      group_.block_write.push_back({quote_path(path), where});
  }

  std::span<const std::string> workspace_;
  const std::string& home_;
  BlockGroup& group_;
  std::string top_;
  std::set<std::string> read_, named_;
};

}  // namespace

Blocklist git_named(std::span<const std::string> workspace, const std::string& home) {
  Blocklist list;
  BlockGroup group;
  group.name = "git-hooks";
  group.reason =
      "The configuration of git names it: git runs it, or obeys it, outside the compartment.";
  Finder finder(workspace, home, group);
  for (const std::string& folder : workspace)
    if (const auto repository = repository_of(folder)) finder.look_through(*repository);
  if (!group.block_write.empty()) list.groups.push_back(std::move(group));
  return list;
}

}  // namespace bulkhead
