// The DNS messages that the stub resolver meets (RFC 1035, EDNS of RFC 6891). Pure functions on
// untrusted bytes: whatever they get, they end, stay in bounds and allocate little.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/address.h"

namespace bulkhead::dns {

using Bytes = std::vector<uint8_t>;
using View = std::span<const uint8_t>;

inline constexpr size_t kHeaderSize = 12;
inline constexpr size_t kPlainLimit = 512;  // of an answer by UDP to a client without EDNS
inline constexpr size_t kMaxAnswers = 512;  // records that parse_response looks at

enum Type : uint16_t { kA = 1, kCname = 5, kSoa = 6, kPtr = 12, kAaaa = 28, kOpt = 41, kAny = 255 };
inline constexpr uint16_t kInternet = 1;

enum class Rcode : uint8_t {
  kOk = 0,
  kFormatError = 1,
  kServerFailure = 2,
  kNameError = 3,
  kNotImplemented = 4,
  kRefused = 5
};

struct Question {
  std::string name;  // dotted, as sent; a byte that no host name holds is written as \NNN
  uint16_t type = 0;
  uint16_t klass = 0;
  size_t end = 0;  // offset of what follows the question
};

struct Query {
  uint16_t id = 0;
  uint8_t opcode = 0;
  bool recursion_desired = false;
  bool authentic_data = false;
  bool checking_disabled = false;
  Question question;
  bool edns = false;
  uint16_t payload_limit = kPlainLimit;  // of the answer by UDP
  bool dnssec_ok = false;
};

// Exactly one question, whose name is not compressed; whatever follows may only be an OPT record.
std::optional<Query> parse_query(View message);

struct Record {
  std::string owner;
  uint16_t type = 0;
  uint32_t ttl = 0;
  std::optional<IpAddress> address;  // A and AAAA
  std::string target;                // CNAME
};

struct Response {
  uint16_t id = 0;
  bool truncated = false;
  Rcode rcode = Rcode::kOk;
  Question question;
  std::vector<Record> answers;  // class IN only; the first kMaxAnswers
};

// nullopt where it is no response to one question, or where any record does not parse. A truncated
// message gives the records that are whole.
std::optional<Response> parse_response(View message);

struct Resolved {
  IpAddress address;
  uint32_t ttl = 0;  // the smallest on the way
};
// The addresses that the answer gives for `name`, through CNAMEs. Records of other owners, which
// nobody asked for, do not count. `name` in normalize_host()'s form.
std::vector<Resolved> addresses_of(const Response& response, std::string_view name);

// A query made anew from what was understood of the client's: no bytes of its choice but the name
// (lower case), the type, and the flags RD, AD, CD and DO leave the compartment. The name must be
// in normalize_host()'s form.
Bytes build_query(uint16_t id, const Query& query, std::string_view name);

// Answers to `query`, whose bytes are `message` (the question is copied, its spelling included).
Bytes build_error(View message, const Query& query, Rcode rcode);
Bytes build_truncated(View message, const Query& query);
Bytes build_addresses(View message, const Query& query, std::span<const IpAddress> addresses,
                      uint32_t ttl);
Bytes build_names(View message, const Query& query, std::span<const std::string> names,
                  uint32_t ttl);
// For bytes that parse_query refuses; nullopt where not even an id can be read,
// or it is a response.
std::optional<Bytes> build_format_error(View message);

// True where the response answers the question of that normalised name, type and class.
bool answers(const Response& response, const Query& query, std::string_view name);
// Turns the upstream's answer into one to the client: its id and its spelling of the question,
// which has the same length (or false, and nothing is changed).
bool readdress(Bytes& response, View message, const Query& query);

// 4.3.2.1.in-addr.arpa and its ip6.arpa counterpart.
std::optional<IpAddress> parse_reverse_name(std::string_view normalized_name);

}  // namespace bulkhead::dns
