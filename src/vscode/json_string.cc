#include "vscode/json_string.h"

#include "base/nlohmann.h"

namespace bulkhead {
namespace {

template <class Tree>
std::string line_of(const Tree& tree) {
  return tree.dump(-1, ' ', false, Tree::error_handler_t::replace);
}

}  // namespace

std::string json_string(const nlohmann::ordered_json& tree) { return line_of(tree); }
std::string json_string(const nlohmann::json& tree) { return line_of(tree); }

}  // namespace bulkhead
