#include "vscode/rpc.h"

#include <fmt/core.h>

namespace bulkhead {
namespace {

class Reader {
 public:
  explicit Reader(Bytes bytes) : bytes_(bytes) {}

  bool u8(uint8_t* into) {
    if (bytes_.empty()) return false;
    *into = bytes_[0];
    bytes_ = bytes_.subspan(1);
    return true;
  }
  bool u32(uint32_t* into) {
    if (bytes_.size() < 4) return false;
    *into = 0;
    for (size_t i = 0; i < 4; ++i) *into = (*into << 8U) | bytes_[i];
    bytes_ = bytes_.subspan(4);
    return true;
  }
  bool bytes(size_t length, Bytes* into) {
    if (bytes_.size() < length) return false;
    *into = bytes_.first(length);
    bytes_ = bytes_.subspan(length);
    return true;
  }
  bool short_string(std::string_view* into) {
    uint8_t length = 0;
    Bytes text;
    if (!u8(&length) || !bytes(length, &text)) return false;
    *into = as_text(text);
    return true;
  }
  bool long_bytes(Bytes* into) {
    uint32_t length = 0;
    return u32(&length) && bytes(length, into);
  }
  bool long_string(std::string_view* into) {
    Bytes text;
    if (!long_bytes(&text)) return false;
    *into = as_text(text);
    return true;
  }
  bool at_end() const { return bytes_.empty(); }
  size_t left() const { return bytes_.size(); }

 private:
  static std::string_view as_text(Bytes text) {
    return {reinterpret_cast<const char*>(text.data()), text.size()};
  }
  Bytes bytes_;
};

class Writer {
 public:
  void u8(uint8_t value) { out_.push_back(value); }
  void u32(uint32_t value) {
    for (unsigned i = 0; i < 4; ++i) u8(static_cast<uint8_t>(value >> (24U - 8U * i)));
  }
  void bytes(Bytes bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }
  void long_bytes(Bytes part) {
    u32(static_cast<uint32_t>(part.size()));
    bytes(part);
  }
  void long_string(std::string_view text) {
    long_bytes(Bytes(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
  }
  void short_string(std::string_view text) {
    u8(static_cast<uint8_t>(text.size()));
    bytes(Bytes(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
  }
  std::vector<uint8_t> take() { return std::move(out_); }

 private:
  std::vector<uint8_t> out_;
};

Error broken(std::string_view what) { return Error{fmt::format("broken RPC message: {}", what)}; }

bool read_buffers(Reader& in, uint32_t count, std::vector<Bytes>* into) {
  // Each buffer takes four bytes at least: a count beyond that is a lie, not a reason to reserve.
  if (count > in.left() / 4) return false;
  into->resize(count);
  for (Bytes& buffer : *into)
    if (!in.long_bytes(&buffer)) return false;
  return true;
}

bool read_argument(Reader& in, RpcArgument* argument) {
  uint8_t type = 0;
  if (!in.u8(&type)) return false;
  argument->type = static_cast<RpcArgument::Type>(type);
  switch (argument->type) {
    case RpcArgument::Type::kJson:
      return in.long_string(&argument->json);
    case RpcArgument::Type::kBuffer:
      return read_buffers(in, 1, &argument->buffers);
    case RpcArgument::Type::kJsonWithBuffers: {
      uint32_t count = 0;
      return in.u32(&count) && in.long_string(&argument->json) &&
             read_buffers(in, count, &argument->buffers);
    }
    case RpcArgument::Type::kUndefined:
      return true;
  }
  return false;
}

Result<RpcMessage> parse_request(RpcType type, uint32_t number, Reader& in) {
  RpcRequest request;
  request.number = number;
  request.cancellable =
      type == RpcType::kRequestJsonCancellable || type == RpcType::kRequestMixedCancellable;
  request.mixed = type == RpcType::kRequestMixed || type == RpcType::kRequestMixedCancellable;
  if (!in.u8(&request.proxy) || !in.short_string(&request.method)) return broken("cut short");
  if (!request.mixed) {
    if (!in.long_string(&request.json)) return broken("arguments cut short");
  } else {
    uint8_t count = 0;
    if (!in.u8(&count)) return broken("cut short");
    request.arguments.resize(count);
    for (RpcArgument& argument : request.arguments)
      if (!read_argument(in, &argument))
        return broken("an argument is cut short or of unknown type");
  }
  if (!in.at_end()) return broken("bytes after its end");
  return RpcMessage(std::move(request));
}

Result<RpcMessage> parse_reply(RpcType type, uint32_t number, Reader& in) {
  RpcReply reply;
  reply.type = type;
  reply.number = number;
  bool whole = true;
  uint32_t count = 0;
  switch (type) {
    case RpcType::kReplyOkBuffer:
      whole = read_buffers(in, 1, &reply.buffers);
      break;
    case RpcType::kReplyOkJson:
    case RpcType::kReplyError:
      whole = in.long_string(&reply.json);
      break;
    case RpcType::kReplyOkJsonWithBuffers:
      whole =
          in.u32(&count) && in.long_string(&reply.json) && read_buffers(in, count, &reply.buffers);
      break;
    default:
      break;
  }
  if (!whole) return broken("reply cut short");
  if (!in.at_end()) return broken("bytes after its end");
  return RpcMessage(std::move(reply));
}

}  // namespace

Result<RpcMessage> parse_rpc(Bytes body) {
  Reader in(body);
  uint8_t type = 0;
  uint32_t number = 0;
  if (!in.u8(&type) || !in.u32(&number)) return broken("shorter than its head");
  if (type < 1 || type > 12) return broken(fmt::format("unknown type {}", type));
  const auto kind = static_cast<RpcType>(type);
  if (kind <= RpcType::kRequestMixedCancellable) return parse_request(kind, number, in);
  if (kind == RpcType::kAcknowledged || kind == RpcType::kCancel) {
    if (!in.at_end()) return broken("bytes after its end");
    return RpcMessage(RpcSignal{kind, number});
  }
  return parse_reply(kind, number, in);
}

std::vector<uint8_t> write_request(const RpcRequest& request) {
  Writer out;
  const RpcType type =
      request.mixed
          ? (request.cancellable ? RpcType::kRequestMixedCancellable : RpcType::kRequestMixed)
          : (request.cancellable ? RpcType::kRequestJsonCancellable : RpcType::kRequestJson);
  out.u8(static_cast<uint8_t>(type));
  out.u32(request.number);
  out.u8(request.proxy);
  out.short_string(request.method);
  if (!request.mixed) {
    out.long_string(request.json);
    return out.take();
  }
  out.u8(static_cast<uint8_t>(request.arguments.size()));
  for (const RpcArgument& argument : request.arguments) {
    out.u8(static_cast<uint8_t>(argument.type));
    switch (argument.type) {
      case RpcArgument::Type::kJson:
        out.long_string(argument.json);
        break;
      case RpcArgument::Type::kBuffer:
        out.long_bytes(argument.buffers.at(0));
        break;
      case RpcArgument::Type::kJsonWithBuffers:
        out.u32(static_cast<uint32_t>(argument.buffers.size()));
        out.long_string(argument.json);
        for (const Bytes& buffer : argument.buffers) out.long_bytes(buffer);
        break;
      case RpcArgument::Type::kUndefined:
        break;
    }
  }
  return out.take();
}

std::vector<uint8_t> write_reply(const RpcReply& reply) {
  Writer out;
  out.u8(static_cast<uint8_t>(reply.type));
  out.u32(reply.number);
  switch (reply.type) {
    case RpcType::kReplyOkBuffer:
      out.long_bytes(reply.buffers.at(0));
      break;
    case RpcType::kReplyOkJson:
    case RpcType::kReplyError:
      out.long_string(reply.json);
      break;
    case RpcType::kReplyOkJsonWithBuffers:
      out.u32(static_cast<uint32_t>(reply.buffers.size()));
      out.long_string(reply.json);
      for (const Bytes& buffer : reply.buffers) out.long_bytes(buffer);
      break;
    default:
      break;
  }
  return out.take();
}

}  // namespace bulkhead
