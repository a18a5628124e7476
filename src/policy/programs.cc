#include "policy/programs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "base/fd.h"
#include "base/path.h"
#include "policy/links.h"

namespace bulkhead {
namespace {

constexpr size_t kLineBytes = 256;  // BINPRM_BUF_SIZE of <linux/binfmts.h>
constexpr int kMaxDepth = 5;        // the kernel gives up there as well: execve(2), ELOOP

bool is_program(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         (status.st_mode & 0111U) != 0;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) break;
    line.remove_prefix(begin);
    const std::string_view word = line.substr(0, line.find_first_of(" \t\r"));
    words.push_back(word);
    line.remove_prefix(word.size());
  }
  return words;
}

// The first line behind "#!"; empty where the file is no script.
std::string script_line(const std::string& file) {
  // Never follows into a device or a FIFO: those are no scripts, and opening them may do something.
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  const Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!fd) return {};
  char buffer[kLineBytes];
  const ssize_t n = ::pread(fd.get(), buffer, sizeof buffer, 0);
  if (n < 2 || buffer[0] != '#' || buffer[1] != '!') return {};
  const std::string_view head(buffer + 2, static_cast<size_t>(n) - 2);
  return std::string(head.substr(0, head.find_first_of(std::string_view("\n\0", 2))));
}

// The program that env(1) starts with these words: the first that is no option and no assignment.
std::string_view program_of_env(const std::vector<std::string_view>& words) {
  for (size_t i = 1; i < words.size(); ++i) {
    std::string_view word = words[i];
    if (word == "-u" || word == "-C") {  // take a value
      ++i;
      continue;
    }
    if (word.substr(0, 2) == "-S" && word.size() > 2) word.remove_prefix(2);  // "-Snode"
    if (word[0] == '-' || word.find('=') != std::string_view::npos) continue;
    return word;
  }
  return {};
}

}  // namespace

std::optional<std::string> find_program(const std::string& name,
                                        const std::vector<std::string>& search_path) {
  for (const std::string& folder : search_path) {
    if (folder.empty() || folder[0] != '/') continue;
    const std::string path = join(folder, name);
    if (is_program(path)) return follow_links(path);
  }
  return std::nullopt;
}

std::vector<std::string> interpreters_of(const std::string& file,
                                         const std::vector<std::string>& search_path) {
  std::vector<std::string> result;
  std::vector<std::pair<std::string, int>> todo = {{file, 0}};
  while (!todo.empty()) {
    const std::string script = todo.back().first;
    const int depth = todo.back().second;  // no structured binding: clang 14 captures none
    todo.pop_back();
    if (depth >= kMaxDepth) continue;
    const std::string line = script_line(script);
    const std::vector<std::string_view> words = words_of(line);
    if (words.empty() || words[0][0] != '/') continue;
    const auto take = [&](const std::string& program) {
      if (!is_program(program) || std::find(result.begin(), result.end(), program) != result.end())
        return;
      result.push_back(program);
      todo.emplace_back(program, depth + 1);
    };
    const std::string interpreter = normalize(words[0]);
    take(follow_links(interpreter));
    if (last_of(interpreter) != "env") continue;
    const std::string name(program_of_env(words));
    if (name.empty()) continue;
    if (name[0] == '/') {
      take(follow_links(normalize(name)));
    } else if (const auto found = find_program(name, search_path)) {
      take(*found);
    }
  }
  return result;
}

std::vector<std::string> split_search_path(std::string_view text) {
  std::vector<std::string> folders;
  while (!text.empty()) {
    const size_t end = std::min(text.find(':'), text.size());
    // A relative or empty entry means the working folder, where untrusted files are: left out.
    if (end > 0 && text.front() == '/') {
      std::string folder = normalize(text.substr(0, end));
      if (std::find(folders.begin(), folders.end(), folder) == folders.end())
        folders.push_back(std::move(folder));
    }
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return folders;
}

}  // namespace bulkhead
