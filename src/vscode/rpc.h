// VS Code's extension host RPC, as it stands in the body of a regular protocol message:
// byte 0 type, bytes 1–4 request number, then by type. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "vscode/websocket.h"

namespace bulkhead {

enum class RpcType : uint8_t {
  kRequestJson = 1,
  kRequestJsonCancellable = 2,
  kRequestMixed = 3,
  kRequestMixedCancellable = 4,
  kAcknowledged = 5,
  kCancel = 6,
  kReplyOkEmpty = 7,
  kReplyOkBuffer = 8,
  kReplyOkJson = 9,
  kReplyOkJsonWithBuffers = 10,
  kReplyError = 11,
  kReplyErrorEmpty = 12,
};

// One argument of a request in mixed form. Views into the message.
struct RpcArgument {
  enum class Type : uint8_t { kJson = 1, kBuffer = 2, kJsonWithBuffers = 3, kUndefined = 4 };
  Type type = Type::kUndefined;
  std::string_view json;       // kJson, kJsonWithBuffers
  std::vector<Bytes> buffers;  // kBuffer (one), kJsonWithBuffers
};

struct RpcRequest {
  uint32_t number = 0;
  uint8_t proxy = 0;        // the actor, by its number in this version's table
  std::string_view method;  // "$tryOpenDocument"
  bool cancellable = false;
  bool mixed = false;
  std::string_view json;               // the arguments as one JSON array, unless mixed
  std::vector<RpcArgument> arguments;  // if mixed
};

struct RpcReply {
  RpcType type = RpcType::kReplyOkEmpty;
  uint32_t number = 0;
  std::string_view json;
  std::vector<Bytes> buffers;
};

struct RpcSignal {  // acknowledged or cancel
  RpcType type = RpcType::kAcknowledged;
  uint32_t number = 0;
};

using RpcMessage = std::variant<RpcRequest, RpcReply, RpcSignal>;

// Every byte must be accounted for: a message that is too short, too long or of unknown type is an
// error. The JSON inside is not parsed.
Result<RpcMessage> parse_rpc(Bytes body);

std::vector<uint8_t> write_request(const RpcRequest& request);
std::vector<uint8_t> write_reply(const RpcReply& reply);

}  // namespace bulkhead
