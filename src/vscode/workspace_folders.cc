#include "vscode/workspace_folders.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/fd.h"
#include "base/nlohmann.h"
#include "base/path.h"
#include "policy/homes.h"
#include "vscode/json_tree.h"
#include "vscode/resource.h"

namespace bulkhead {
namespace {

constexpr size_t kMaxFile = 1U << 20U;

// Takes comments away, and a comma before a closing bracket; a string is stepped over.
std::string plain_json(const std::string& text) {
  std::string out;
  out.reserve(text.size());
  size_t comma = std::string::npos;  // a comma in `out` with nothing but space and comments since
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      const size_t start = i;
      for (++i; i < text.size() && text[i] != '"'; ++i)
        if (text[i] == '\\') ++i;
      out.append(text, start, i - start + 1);
      comma = std::string::npos;
      continue;
    }
    if (c == '/' && i + 1 < text.size() && (text[i + 1] == '/' || text[i + 1] == '*')) {
      const bool line = text[i + 1] == '/';
      const size_t end = line ? text.find('\n', i) : text.find("*/", i + 2);
      if (end == std::string::npos) break;
      i = line ? end : end + 1;
      out += ' ';
      continue;
    }
    if ((c == ']' || c == '}') && comma != std::string::npos) out[comma] = ' ';
    if (c == ',')
      comma = out.size();
    else if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
      comma = std::string::npos;
    out += c;
  }
  return out;
}

// The path of a "vscode-remote://authority/path" or "file:///path" URI; empty for others.
std::string path_of_uri(const std::string& uri) {
  const size_t scheme = uri.find("://");
  if (scheme == std::string::npos ||
      (!uri.starts_with("vscode-remote://") && !uri.starts_with("file://")))
    return {};
  const size_t slash = uri.find('/', scheme + 3);
  if (slash == std::string::npos) return {};
  std::string path;
  for (size_t i = slash; i < uri.size() && uri[i] != '?' && uri[i] != '#'; ++i) {
    unsigned value = 0;
    if (uri[i] == '%' && i + 2 < uri.size() &&
        std::isxdigit(static_cast<unsigned char>(uri[i + 1])) &&
        std::isxdigit(static_cast<unsigned char>(uri[i + 2]))) {
      value = static_cast<unsigned>(std::stoul(uri.substr(i + 1, 2), nullptr, 16));
      path += static_cast<char>(value);
      i += 2;
    } else {
      path += uri[i];
    }
  }
  return path;
}

Result<std::vector<std::string>> named_in(const std::string& workspace) {
  BULKHEAD_TRY(std::string text, read_file(workspace, kMaxFile));
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);  // as VS Code reads files
  const auto json = parse_json<nlohmann::json>(plain_json(text));
  const auto folders = json.is_object() ? json.find("folders") : json.end();
  if (!json.is_object() || folders == json.end() || !folders->is_array())
    return Error{fmt::format("{} is no workspace file: it has no list \"folders\"",
                             escape_for_display(workspace))};
  std::vector<std::string> found;
  for (const auto& each : *folders) {
    if (!each.is_object()) continue;
    std::string path;
    if (each.contains("path") && each["path"].is_string()) {
      path = each["path"].get<std::string>();
      if (!path.starts_with('/')) path = join(parent_of(workspace), path);
    } else if (each.contains("uri") && each["uri"].is_string()) {
      path = path_of_uri(each["uri"].get<std::string>());
    }
    if (!path.empty()) found.push_back(std::move(path));
  }
  return found;
}

}  // namespace

Result<std::vector<std::string>> workspace_folders(const std::string& folder,
                                                   const std::string& workspace,
                                                   const WholeFolders& whole) {
  std::vector<std::string> named;
  if (!workspace.empty()) {
    BULKHEAD_TRY(named, named_in(workspace));
  } else if (!folder.empty()) {
    named.push_back(folder);
  }
  std::vector<std::string> found;
  for (const std::string& each : named) {
    const auto canonical = canonical_file(normalize(each));
    struct stat status {};
    if (!canonical || ::stat(canonical->c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
      continue;
    const std::string why_not = why_no_project(*canonical, whole.homes);
    if (!why_not.empty() && *canonical != whole.named) {
      const std::string shown = escape_for_display(*canonical);
      return Error{fmt::format(
          "the workspace {} {}, and would be granted to extensions whole: open the project's "
          "folder, or start `bulkhead code --workspace {}`",
          shown, why_not, shown)};
    }
    if (std::find(found.begin(), found.end(), *canonical) == found.end())
      found.push_back(*canonical);
  }
  return found;
}

}  // namespace bulkhead
