// RPC messages: what is understood is written back the same, byte by byte, so that nothing passes
// that was not understood; JSON arguments are split where every reader splits them; and our reader
// of JSON makes the trees that the library's makes, and no others.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/nlohmann.h"
#include "require.h"
#include "vscode/json_text.h"
#include "vscode/json_tree.h"
#include "vscode/resource.h"
#include "vscode/rpc.h"

namespace {

using namespace bulkhead;
using Json = nlohmann::ordered_json;

size_t depth_of(const Json& value) {
  size_t deepest = 0;
  if (value.is_structured())
    for (const Json& child : value) deepest = std::max(deepest, depth_of(child));
  return value.is_structured() ? deepest + 1 : 0;
}

bool names_spelling(const Json& value) {
  if (value.is_object() && value.contains("scheme") &&
      (value.contains("fsPath") || value.contains("external") || value.contains("_sep")))
    return true;
  if (value.is_structured())
    for (const Json& child : value)
      if (names_spelling(child)) return true;
  return false;
}

// Also where == says so: 1 and 1.0, 0 and -0 have the type of one only.
template <class Tree>
bool is_same(const Tree& one, const Tree& other) {
  if (one.type() != other.type() || one.size() != other.size()) return false;
  if (!one.is_structured()) return one.dump() == other.dump();
  const auto both = [](const auto& a, const auto& b) { return is_same(a, b); };
  return std::equal(one.begin(), one.end(), other.begin(), both) && one.dump() == other.dump();
}

template <class Tree>
void check_tree(const Tree& ours, const Tree& theirs, std::string_view text) {
  // That reader takes a zero byte for the end, and steps over a byte order mark.
  const bool refused = theirs.is_discarded() || !is_moderate(text) ||
                       text.starts_with("\xEF\xBB\xBF") ||
                       (ours.is_discarded() && text.find('\0') != std::string_view::npos);
  require(ours.is_discarded() == refused, "both readers refuse the same");
  if (refused) return;
  require(is_same(ours, theirs), "both readers see the same");
}

void check_json(std::string_view text) {
  const auto elements = split_array(text);
  Json value = parse_json(text);
  check_tree(value, Json::parse(text, nullptr, false), text);
  check_tree(parse_json<nlohmann::json>(text), nlohmann::json::parse(text, nullptr, false), text);
  if (!is_moderate(text)) {
    require(!elements, "what is not moderate is not split");
    return;
  }
  if (value.is_discarded()) return;
  require(depth_of(value) <= kMaxJsonDepth, "what is moderate is not deep");
  require(elements.has_value() == value.is_array(), "every array is split, and nothing else");
  if (elements) {
    require(elements->size() == value.size(), "as many elements as a reader sees");
    for (size_t i = 0; i < elements->size(); ++i)
      require(parse_json((*elements)[i]) == value[i], "each element is the same");
  }
  if (!may_name(text, {"fsPath", "external", "_sep"}))
    require(!names_spelling(value), "a name that is there is found");
  strip_cached_spellings(value);
  require(!names_spelling(value), "no cached spelling is left");
  for (const Json& each : value) (void)parse_resource(each, "host:1");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Bytes bytes(data, size);
  check_json({reinterpret_cast<const char*>(data), size});
  const auto message = parse_rpc(bytes);
  if (!message.ok()) return 0;
  if (const auto* request = std::get_if<RpcRequest>(&*message)) {
    require(std::ranges::equal(write_request(*request), bytes), "a request is written the same");
    if (!request->mixed) check_json(request->json);
    for (const RpcArgument& argument : request->arguments) check_json(argument.json);
  } else if (const auto* reply = std::get_if<RpcReply>(&*message)) {
    require(std::ranges::equal(write_reply(*reply), bytes), "a reply is written the same");
  } else {
    require(size == 5, "a signal is its head");
  }
  return 0;
}
