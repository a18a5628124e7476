// DNS messages: whatever the bytes, parsing ends and stays in bounds; what we build of what we
// understood, we understand again; and nothing of a query but its name and type is sent on.

#include <cstdint>
#include <string>
#include <vector>

#include "require.h"
#include "sandbox/network/dns.h"

namespace {

using namespace bulkhead;

void check_query(dns::View message) {
  const auto query = dns::parse_query(message);
  if (!query) {
    (void)dns::build_format_error(message);
    return;
  }
  require(query->question.end <= message.size(), "the question lies within the message");
  const auto error = dns::build_error(message, *query, dns::Rcode::kNameError);
  const auto understood = dns::parse_response(error);
  require(understood && understood->id == query->id &&
              understood->question.name == query->question.name &&
              understood->question.end == query->question.end,
          "an error answers its question");
  const auto name = normalize_host(query->question.name);
  if (!name) return;
  const std::vector<IpAddress> addresses = {*IpAddress::parse("192.0.2.1"),
                                            *IpAddress::parse("2001:db8::1")};
  auto answer = dns::build_addresses(message, *query, addresses, 60);
  const auto parsed = dns::parse_response(answer);
  require(parsed && dns::addresses_of(*parsed, *name).size() == 2, "addresses come back");
  require(dns::readdress(answer, message, *query), "an own answer fits its question");
  (void)dns::parse_reverse_name(*name);

  const auto sent = dns::build_query(query->id, *query, *name);
  const auto again = dns::parse_query(sent);
  require(again && again->question.name == *name && again->question.type == query->question.type,
          "what is sent asks the same");
  require(sent == dns::build_query(query->id, *again, *name) && sent.size() <= 12 + 255 + 4 + 11,
          "nothing else is sent");
}

void check_response(dns::View message) {
  const auto response = dns::parse_response(message);
  if (!response) return;
  require(response->question.end <= message.size(), "the question lies within the response");
  require(response->answers.size() <= dns::kMaxAnswers, "answers are bounded");
  for (const dns::Record& record : response->answers) {
    require(record.owner.size() <= 4 * 255 && record.target.size() <= 4 * 255, "names are bounded");
    (void)dns::addresses_of(*response, record.owner);
  }
  if (const auto name = normalize_host(response->question.name))
    (void)dns::addresses_of(*response, *name);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  check_query({data, size});
  check_response({data, size});
  return 0;
}
