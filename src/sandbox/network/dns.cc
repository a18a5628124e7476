#include "sandbox/network/dns.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace bulkhead::dns {

namespace {

constexpr size_t kMaxName = 255;        // RFC 1035 2.3.4, in wire form
constexpr size_t kFixedRecord = 10;     // type, class, ttl, length
constexpr uint16_t kOwnPayload = 1232;  // what we say we take (DNS flag day 2020)
constexpr uint32_t kDnssecOk = 0x8000;  // in the TTL field of an OPT record
constexpr int kMaxAliases = 16;

// Flags of the second header word.
constexpr uint16_t kResponse = 0x8000, kTruncated = 0x0200, kRecursionDesired = 0x0100,
                   kRecursionAvailable = 0x0080, kAuthentic = 0x0020, kCheckingDisabled = 0x0010;

uint16_t word(View message, size_t at) {
  return static_cast<uint16_t>((message[at] << 8U) | message[at + 1]);
}
uint32_t long_word(View message, size_t at) {
  return (static_cast<uint32_t>(word(message, at)) << 16U) | word(message, at + 2);
}
void put(Bytes& into, uint16_t value) {
  into.push_back(static_cast<uint8_t>(value >> 8U));
  into.push_back(static_cast<uint8_t>(value & 0xFFU));
}
void put_long(Bytes& into, uint32_t value) {
  put(into, static_cast<uint16_t>(value >> 16U));
  put(into, static_cast<uint16_t>(value & 0xFFFFU));
}

bool is_host_byte(uint8_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

void append_byte(std::string& text, uint8_t c) {
  if (is_host_byte(c)) {
    text += static_cast<char>(c);
    return;
  }
  text += '\\';
  text += static_cast<char>('0' + c / 100);
  text += static_cast<char>('0' + c / 10 % 10);
  text += static_cast<char>('0' + c % 10);
}

// The name at `*at`, which then stands behind it. A pointer must lead to before the place where the
// part that it ends began, so that following pointers ends.
std::optional<std::string> read_name(View message, size_t* at, bool pointers) {
  std::string text;
  size_t place = *at;
  size_t begin = place;
  size_t wire = 1;
  bool jumped = false;
  for (;;) {
    if (place >= message.size()) return std::nullopt;
    const uint8_t length = message[place];
    if (length == 0) {
      if (!jumped) *at = place + 1;
      return text;
    }
    if ((length & 0xC0U) == 0xC0U) {
      if (!pointers || place + 1 >= message.size()) return std::nullopt;
      const size_t target = word(message, place) & 0x3FFFU;
      if (target >= begin || target < kHeaderSize) return std::nullopt;
      if (!jumped) *at = place + 2;
      jumped = true;
      place = begin = target;
      continue;
    }
    if ((length & 0xC0U) != 0 || place + 1 + length > message.size()) return std::nullopt;
    wire += 1U + length;
    if (wire > kMaxName) return std::nullopt;
    if (!text.empty()) text += '.';
    for (size_t i = 1; i <= length; ++i) append_byte(text, message[place + i]);
    place += 1U + length;
  }
}

void lower(std::string& text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
}

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    const auto fold = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return fold(x) == fold(y);
  });
}

std::optional<Question> read_question(View message) {
  Question question;
  size_t at = kHeaderSize;
  auto name = read_name(message, &at, false);
  if (!name || at + 4 > message.size()) return std::nullopt;
  question.name = std::move(*name);
  question.type = word(message, at);
  question.klass = word(message, at + 2);
  question.end = at + 4;
  return question;
}

// `name` in normalize_host()'s form: labels of 1–63 bytes.
void put_name(Bytes& into, std::string_view name) {
  while (!name.empty()) {
    const size_t dot = std::min(name.find('.'), name.size());
    into.push_back(static_cast<uint8_t>(dot));
    for (const char c : name.substr(0, dot)) into.push_back(static_cast<uint8_t>(c));
    name.remove_prefix(std::min(dot + 1, name.size()));
  }
  into.push_back(0);
}

void put_opt(Bytes& into, bool dnssec_ok, uint16_t payload) {
  into.push_back(0);
  put(into, kOpt);
  put(into, payload);
  put_long(into, dnssec_ok ? kDnssecOk : 0);
  put(into, 0);
}

// Header, question; the caller appends `answers` records and finishes.
Bytes begin_answer(View message, const Query& query, Rcode rcode, uint16_t extra, size_t answers) {
  Bytes bytes;
  bytes.reserve(query.question.end + answers * 28 + 16);
  put(bytes, query.id);
  uint16_t flags =
      static_cast<uint16_t>(kResponse | kRecursionAvailable | extra |
                            ((query.opcode & 0x0FU) << 11U) | static_cast<uint16_t>(rcode));
  if (query.recursion_desired) flags |= kRecursionDesired;
  if (query.checking_disabled) flags |= kCheckingDisabled;
  put(bytes, flags);
  put(bytes, 1);
  put(bytes, static_cast<uint16_t>(answers));
  put(bytes, 0);
  put(bytes, query.edns ? 1 : 0);
  const View question = message.subspan(kHeaderSize, query.question.end - kHeaderSize);
  bytes.insert(bytes.end(), question.begin(), question.end());
  return bytes;
}

Bytes finish_answer(Bytes bytes, const Query& query) {
  if (query.edns) put_opt(bytes, query.dnssec_ok, kOwnPayload);
  return bytes;
}

// Owner: a pointer to the question's name.
void put_record(Bytes& into, uint16_t type, uint32_t ttl, size_t length) {
  put(into, static_cast<uint16_t>(0xC000U | kHeaderSize));
  put(into, type);
  put(into, kInternet);
  put_long(into, ttl);
  put(into, static_cast<uint16_t>(length));
}

IpAddress read_v4(View data) {
  std::array<uint8_t, 4> bytes{};
  std::copy_n(data.begin(), bytes.size(), bytes.begin());
  return IpAddress::v4(bytes);
}
IpAddress read_v6(View data) {
  std::array<uint8_t, 16> bytes{};
  std::copy_n(data.begin(), bytes.size(), bytes.begin());
  return IpAddress::v6(bytes);
}

// The record at `*at`, which then stands behind it.
std::optional<Record> read_record(View message, size_t* at, uint16_t* klass) {
  Record record;
  auto owner = read_name(message, at, true);
  if (!owner || *at + kFixedRecord > message.size()) return std::nullopt;
  record.owner = std::move(*owner);
  lower(record.owner);
  record.type = word(message, *at);
  *klass = word(message, *at + 2);
  record.ttl = long_word(message, *at + 4);
  if (record.ttl > 0x7FFFFFFFU) record.ttl = 0;  // RFC 2181 8
  const size_t length = word(message, *at + 8);
  size_t data = *at + kFixedRecord;
  if (data + length > message.size()) return std::nullopt;
  *at = data + length;
  if (*klass != kInternet) return record;
  if (record.type == kA) {
    if (length != 4) return std::nullopt;
    record.address = read_v4(message.subspan(data, 4));
  } else if (record.type == kAaaa) {
    if (length != 16) return std::nullopt;
    record.address = read_v6(message.subspan(data, 16));
  } else if (record.type == kCname) {
    auto target = read_name(message, &data, true);
    if (!target || data != *at) return std::nullopt;
    record.target = std::move(*target);
    lower(record.target);
  }
  return record;
}

}  // namespace

std::optional<Query> parse_query(View message) {
  if (message.size() < kHeaderSize) return std::nullopt;
  Query query;
  query.id = word(message, 0);
  const uint16_t flags = word(message, 2);
  if ((flags & kResponse) != 0) return std::nullopt;
  query.opcode = static_cast<uint8_t>((flags >> 11U) & 0x0FU);
  query.recursion_desired = (flags & kRecursionDesired) != 0;
  query.authentic_data = (flags & kAuthentic) != 0;
  query.checking_disabled = (flags & kCheckingDisabled) != 0;
  const uint16_t additional = word(message, 10);
  if (word(message, 4) != 1 || word(message, 6) != 0 || word(message, 8) != 0 || additional > 1)
    return std::nullopt;
  auto question = read_question(message);
  if (!question) return std::nullopt;
  query.question = std::move(*question);
  size_t at = query.question.end;
  if (additional == 1) {
    if (at + 1 + kFixedRecord > message.size() || message[at] != 0 || word(message, at + 1) != kOpt)
      return std::nullopt;
    query.edns = true;
    query.payload_limit = std::clamp<uint16_t>(word(message, at + 3), kPlainLimit, 4096);
    query.dnssec_ok = (long_word(message, at + 5) & kDnssecOk) != 0;
    at += 1 + kFixedRecord + word(message, at + 9);
  }
  if (at != message.size()) return std::nullopt;
  return query;
}

std::optional<Response> parse_response(View message) {
  if (message.size() < kHeaderSize) return std::nullopt;
  Response response;
  response.id = word(message, 0);
  const uint16_t flags = word(message, 2);
  if ((flags & kResponse) == 0 || word(message, 4) != 1) return std::nullopt;
  response.truncated = (flags & kTruncated) != 0;
  response.rcode = static_cast<Rcode>(flags & 0x0FU);
  auto question = read_question(message);
  if (!question) return std::nullopt;
  response.question = std::move(*question);
  size_t at = response.question.end;
  const size_t count = std::min<size_t>(word(message, 6), kMaxAnswers);
  for (size_t i = 0; i < count; ++i) {
    uint16_t klass = 0;
    auto record = read_record(message, &at, &klass);
    if (!record) {
      if (response.truncated) break;
      return std::nullopt;
    }
    if (klass == kInternet) response.answers.push_back(std::move(*record));
  }
  return response;
}

std::vector<Resolved> addresses_of(const Response& response, std::string_view name) {
  std::vector<Resolved> result;
  std::string_view owner = name;
  uint32_t ttl = 0x7FFFFFFFU;
  for (int i = 0; i <= kMaxAliases; ++i) {
    const Record* alias = nullptr;
    for (const Record& record : response.answers) {
      if (record.owner != owner) continue;
      if (record.address) result.push_back({*record.address, std::min(ttl, record.ttl)});
      if (record.type == kCname && alias == nullptr) alias = &record;
    }
    if (!result.empty() || alias == nullptr) break;
    ttl = std::min(ttl, alias->ttl);
    owner = alias->target;
  }
  return result;
}

Bytes build_query(uint16_t id, const Query& query, std::string_view name) {
  Bytes bytes;
  put(bytes, id);
  uint16_t flags = 0;
  if (query.recursion_desired) flags |= kRecursionDesired;
  if (query.authentic_data) flags |= kAuthentic;
  if (query.checking_disabled) flags |= kCheckingDisabled;
  put(bytes, flags);
  put(bytes, 1);
  put(bytes, 0);
  put(bytes, 0);
  put(bytes, query.edns ? 1 : 0);
  put_name(bytes, name);
  put(bytes, query.question.type);
  put(bytes, kInternet);
  if (query.edns) put_opt(bytes, query.dnssec_ok, query.payload_limit);
  return bytes;
}

Bytes build_error(View message, const Query& query, Rcode rcode) {
  return finish_answer(begin_answer(message, query, rcode, 0, 0), query);
}

Bytes build_truncated(View message, const Query& query) {
  return finish_answer(begin_answer(message, query, Rcode::kOk, kTruncated, 0), query);
}

Bytes build_addresses(View message, const Query& query, std::span<const IpAddress> addresses,
                      uint32_t ttl) {
  Bytes bytes = begin_answer(message, query, Rcode::kOk, 0, addresses.size());
  for (const IpAddress& address : addresses) {
    const size_t size = address.is_v4() ? 4 : 16;
    put_record(bytes, address.is_v4() ? kA : kAaaa, ttl, size);
    const auto& data = address.bytes();
    bytes.insert(bytes.end(), data.begin(), data.begin() + static_cast<ptrdiff_t>(size));
  }
  return finish_answer(std::move(bytes), query);
}

Bytes build_names(View message, const Query& query, std::span<const std::string> names,
                  uint32_t ttl) {
  Bytes bytes = begin_answer(message, query, Rcode::kOk, 0, names.size());
  for (const std::string& name : names) {
    Bytes data;
    put_name(data, name);
    put_record(bytes, kPtr, ttl, data.size());
    bytes.insert(bytes.end(), data.begin(), data.end());
  }
  return finish_answer(std::move(bytes), query);
}

std::optional<Bytes> build_format_error(View message) {
  if (message.size() < kHeaderSize || (word(message, 2) & kResponse) != 0) return std::nullopt;
  Bytes bytes;
  put(bytes, word(message, 0));
  put(bytes, static_cast<uint16_t>(kResponse | static_cast<uint16_t>(Rcode::kFormatError)));
  bytes.resize(kHeaderSize, 0);
  return bytes;
}

bool answers(const Response& response, const Query& query, std::string_view name) {
  return same_name(response.question.name, name) && response.question.type == query.question.type &&
         response.question.klass == kInternet;
}

bool readdress(Bytes& response, View message, const Query& query) {
  const View own(response);
  if (own.size() < kHeaderSize) return false;
  const auto question = read_question(own);
  if (!question || question->end != query.question.end ||
      !same_name(question->name, query.question.name))
    return false;
  response[0] = static_cast<uint8_t>(query.id >> 8U);
  response[1] = static_cast<uint8_t>(query.id & 0xFFU);
  std::copy(message.begin() + kHeaderSize,
            message.begin() + static_cast<ptrdiff_t>(query.question.end),
            response.begin() + kHeaderSize);
  return true;
}

std::optional<IpAddress> parse_reverse_name(std::string_view name) {
  const auto ends_with = [&](std::string_view suffix) {
    return name.size() > suffix.size() && name.substr(name.size() - suffix.size()) == suffix;
  };
  constexpr std::string_view kV4 = ".in-addr.arpa";
  constexpr std::string_view kV6 = ".ip6.arpa";
  if (ends_with(kV4)) {
    // The octets stand the other way round; the strict parser judges the rest.
    std::string_view rest = name.substr(0, name.size() - kV4.size());
    std::string text;
    while (!rest.empty()) {
      const size_t dot = rest.rfind('.');
      const size_t from = dot == std::string_view::npos ? 0 : dot + 1;
      if (!text.empty()) text += '.';
      text += rest.substr(from);
      rest = rest.substr(0, dot == std::string_view::npos ? 0 : dot);
    }
    auto address = IpAddress::parse(text);
    return address && address->is_v4() ? address : std::nullopt;
  }
  if (!ends_with(kV6)) return std::nullopt;
  const std::string_view nibbles = name.substr(0, name.size() - kV6.size());
  if (nibbles.size() != 63) return std::nullopt;
  std::array<uint8_t, 16> bytes{};
  for (size_t i = 0; i < 32; ++i) {
    const char c = nibbles[62 - 2 * i];
    if (i < 31 && nibbles[61 - 2 * i] != '.') return std::nullopt;
    unsigned value = 0;
    if (c >= '0' && c <= '9') {
      value = static_cast<unsigned>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      value = static_cast<unsigned>(c - 'a') + 10;
    } else {
      return std::nullopt;
    }
    bytes[i / 2] = static_cast<uint8_t>(bytes[i / 2] | (i % 2 == 0 ? value << 4U : value));
  }
  return IpAddress::v6(bytes);
}

}  // namespace bulkhead::dns
