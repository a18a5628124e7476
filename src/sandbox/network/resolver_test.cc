// The resolver between a client and name servers of the test's own, all by real sockets.
#include "sandbox/network/resolver.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "policy/policy_judge.h"
#include "sandbox/network/dns.h"
#include "sandbox/testing/without_new_threads.h"

namespace bulkhead {
namespace {

using dns::Bytes;
using dns::Rcode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Fd bound(int type, uint16_t port = 0) {
  Fd fd(::socket(AF_INET, type | SOCK_CLOEXEC, 0));
  const int one = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_port = htons(port);
  in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&in), sizeof in) != 0) fd.reset();
  return fd;
}
sockaddr_in name_of(const Fd& fd) {
  sockaddr_in in{};
  socklen_t size = sizeof in;
  ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&in), &size);
  return in;
}

// A name server whose answers a test chooses. It serves UDP and TCP on one port.
class NameServer {
 public:
  // Gives the answers to send, in order; none: silence.
  using Answerer = std::function<std::vector<Bytes>(const Bytes& message, const dns::Query& query)>;
  explicit NameServer(Answerer answerer) : answerer_(std::move(answerer)) {
    for (int i = 0; i < 100 && !tcp_; ++i) {  // until both kinds have the port free
      udp_ = bound(SOCK_DGRAM);
      tcp_ = bound(SOCK_STREAM, ntohs(name_of(udp_).sin_port));
    }
    EXPECT_EQ(::listen(tcp_.get(), 16), 0);
    thread_ = std::thread([this] { run(); });
  }
  ~NameServer() {
    ending_ = true;
    thread_.join();
  }
  std::string address() const { return fmt::format("127.0.0.1:{}", ntohs(name_of(udp_).sin_port)); }
  std::vector<std::string> asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

 private:
  void run() {
    while (!ending_) {
      pollfd fds[] = {{udp_.get(), POLLIN, 0}, {tcp_.get(), POLLIN, 0}};
      if (::poll(fds, 2, 10) <= 0) continue;
      if (fds[0].revents != 0) serve_datagram();
      if (fds[1].revents != 0) serve_connection();
    }
  }
  std::vector<Bytes> answer(const Bytes& message, const char* how) {
    const auto query = dns::parse_query(message);
    if (!query) return {};
    {
      const std::lock_guard lock(mutex_);
      asked_.push_back(how + query->question.name + " " + std::to_string(query->question.type));
    }
    return answerer_(message, *query);
  }
  void serve_datagram() {
    Bytes message(65536);
    sockaddr_in peer{};
    socklen_t size = sizeof peer;
    const ssize_t n = ::recvfrom(udp_.get(), message.data(), message.size(), 0,
                                 reinterpret_cast<sockaddr*>(&peer), &size);
    if (n < 0) return;
    message.resize(static_cast<size_t>(n));
    for (const Bytes& one : answer(message, ""))
      ::sendto(udp_.get(), one.data(), one.size(), 0, reinterpret_cast<sockaddr*>(&peer), size);
  }
  void serve_connection() {
    const Fd client(::accept4(tcp_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    uint8_t length[2];
    if (::recv(client.get(), length, 2, MSG_WAITALL) != 2) return;
    Bytes message(static_cast<size_t>(length[0]) * 256 + length[1]);
    if (::recv(client.get(), message.data(), message.size(), MSG_WAITALL) < 0) return;
    for (const Bytes& one : answer(message, "tcp ")) {
      const uint8_t size[2] = {static_cast<uint8_t>(one.size() >> 8U),
                               static_cast<uint8_t>(one.size())};
      ::send(client.get(), size, 2, MSG_NOSIGNAL);
      ::send(client.get(), one.data(), one.size(), MSG_NOSIGNAL);
    }
  }

  Answerer answerer_;
  Fd udp_, tcp_;
  std::atomic<bool> ending_ = false;
  mutable std::mutex mutex_;
  std::vector<std::string> asked_;
  std::thread thread_;
};

NameServer::Answerer always(const char* address) {
  return [address = *IpAddress::parse(address)](const Bytes& message, const dns::Query& query) {
    const std::vector<IpAddress> list = {address};
    const bool fits = (query.question.type == dns::kA) == address.is_v4();
    return std::vector<Bytes>{fits ? dns::build_addresses(message, query, list, 300)
                                   : dns::build_addresses(message, query, {}, 300)};
  };
}
std::vector<Bytes> silence(const Bytes&, const dns::Query&) { return {}; }

// What a person says to one question, when they do.
class Person {
 public:
  bool ask() {
    std::unique_lock lock(mutex_);
    asked_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return answered_ || gone_; });
    return !gone_;
  }
  void wait_until_asked() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return asked_; });
  }
  void say_yes() {
    const std::lock_guard lock(mutex_);
    answered_ = true;
    changed_.notify_all();
  }
  void leave() {
    const std::lock_guard lock(mutex_);
    gone_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool asked_ = false, answered_ = false, gone_ = false;
};

class PersonsJudge final : public PolicyJudge {
 public:
  PersonsJudge(std::shared_ptr<const Policy> policy, Person* person)
      : PolicyJudge(std::move(policy)), person_(person) {}
  void stop_asking() override {
    PolicyJudge::stop_asking();
    if (person_ != nullptr) person_->leave();
  }

 private:
  bool answers() const noexcept override { return person_ != nullptr; }
  bool answer(Kind, const std::string&, const Attempt&) override { return person_->ask(); }

  Person* const person_;
};

class ResolverTest : public ::testing::Test {
 protected:
  void start(const std::vector<std::string>& grants, const std::string& server,
             Person* person = nullptr) {
    PolicyInputs inputs;
    for (const std::string& grant : grants) {
      Extra extra;
      extra.kind = Kind::kConnect;
      extra.entry.text = grant;
      inputs.extras.push_back(extra);
    }
    if (person != nullptr) inputs.manifest.otherwise = Otherwise::kAsk;
    auto policy = Policy::compile(inputs);
    ASSERT_TRUE(policy.ok()) << to_string(policy.error());
    judge_ = std::make_unique<PersonsJudge>(*policy, person);
    compartment_.dns_udp[0] = bound(SOCK_DGRAM);
    compartment_.dns_tcp[0] = bound(SOCK_STREAM);
    ResolverOptions options;
    options.server = server;
    options.configuration = configuration_;
    options.patience = std::chrono::milliseconds(patience_);
    auto resolver = Resolver::start(compartment_, *judge_, names_, *loop_, options);
    ASSERT_TRUE(resolver.ok()) << to_string(resolver.error());
    resolver_ = std::move(*resolver);
  }

  Bytes query(const std::string& name, uint16_t type, uint16_t id = 77) {
    dns::Query query;
    query.recursion_desired = true;
    query.question.type = type;
    return dns::build_query(id, query, name);
  }
  Fd client() {
    Fd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const sockaddr_in to = name_of(compartment_.dns_udp[0]);
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
    return fd;
  }
  static Bytes receive(const Fd& fd) {
    Bytes answer(65536);
    pollfd polled{fd.get(), POLLIN, 0};
    if (::poll(&polled, 1, 20'000) != 1) return {};
    const ssize_t n = ::recv(fd.get(), answer.data(), answer.size(), 0);
    answer.resize(n < 0 ? 0 : static_cast<size_t>(n));
    return answer;
  }
  Bytes exchange(const Bytes& message) {
    const Fd fd = client();
    EXPECT_GT(::send(fd.get(), message.data(), message.size(), 0), 0);
    return receive(fd);
  }
  static std::string describe(const Bytes& bytes, const std::string& name) {
    const auto response = dns::parse_response(bytes);
    if (!response) return "no answer";
    std::string text = fmt::format("{}{}", static_cast<int>(response->rcode),
                                   response->truncated ? " truncated" : "");
    for (const auto& one : dns::addresses_of(*response, name))
      text += " " + one.address.to_string();
    return text;
  }
  std::string ask(const std::string& name, uint16_t type = dns::kA) {
    return describe(exchange(query(name, type)), name);
  }

  Person person_;  // outlives the judge
  Compartment compartment_;
  NameCache names_;
  std::unique_ptr<PersonsJudge> judge_;
  std::unique_ptr<Loop> loop_ = std::move(Loop::make()).value();
  std::unique_ptr<Resolver> resolver_;
  std::string configuration_ = "/nonexistent";
  int patience_ = 10'000;
};

TEST_F(ResolverTest, GrantedNamesAreAskedAndRemembered) {
  NameServer server(always("192.0.2.7"));
  start({"api.example.com:443"}, server.address());
  EXPECT_EQ(ask("api.example.com"), "0 192.0.2.7");
  EXPECT_EQ(ask("api.example.com", dns::kAaaa), "0");
  EXPECT_THAT(names_.names(*IpAddress::parse("192.0.2.7")), ElementsAre("api.example.com"));
  EXPECT_THAT(server.asked(), ElementsAre("api.example.com 1", "api.example.com 28"));
}

TEST_F(ResolverTest, OtherNamesNeverLeave) {
  NameServer server(always("192.0.2.7"));
  start({"api.example.com:443"}, server.address());
  EXPECT_EQ(ask("secret.evil.example"), "3");
  EXPECT_EQ(ask("x.api.example.com"), "3");
  EXPECT_EQ(ask("9.2.0.192.in-addr.arpa", dns::kPtr), "3");
  EXPECT_EQ(ask("secret.arpa"), "3");
  EXPECT_THAT(server.asked(), IsEmpty());
}

TEST_F(ResolverTest, TheSpellingComesBackAndStaysHere) {
  NameServer server(always("192.0.2.7"));
  start({"api.example.com:443"}, server.address());
  Bytes message = query("api.example.com", dns::kA, 4711);
  message[13] = 'A';  // "Api", as clients do that mix case against forgery
  const Bytes answer = exchange(message);
  const auto response = dns::parse_response(answer);
  ASSERT_TRUE(response);
  EXPECT_EQ(response->id, 4711);
  EXPECT_EQ(response->question.name, "Api.example.com");
  EXPECT_THAT(server.asked(), ElementsAre("api.example.com 1"));
}

TEST_F(ResolverTest, LoopbackNamesAndTheHostsFileAreAnsweredHere) {
  NameServer server(always("192.0.2.7"));
  names_.load_hosts("192.0.2.33 build.example\n");
  start({"build.example:80"}, server.address());
  EXPECT_EQ(ask("localhost"), "0 127.0.0.1");
  EXPECT_EQ(ask("app.localhost"), "0 127.0.0.1");
  EXPECT_EQ(ask("build.example"), "0 192.0.2.33");
  EXPECT_EQ(ask("build.example", dns::kAaaa), "0");
  EXPECT_THAT(server.asked(), IsEmpty());
}

TEST_F(ResolverTest, ReverseLookupsKnowWhatWasResolved) {
  NameServer server(always("192.0.2.7"));
  start({"api.example.com:443"}, server.address());
  EXPECT_EQ(ask("7.2.0.192.in-addr.arpa", dns::kPtr), "3");
  ask("api.example.com");
  const auto response = dns::parse_response(exchange(query("7.2.0.192.in-addr.arpa", dns::kPtr)));
  ASSERT_TRUE(response);
  EXPECT_EQ(response->rcode, Rcode::kOk);
  ASSERT_EQ(response->answers.size(), 1U);
  EXPECT_EQ(response->answers[0].type, dns::kPtr);
}

TEST_F(ResolverTest, ReverseLookupsTellOnlyWhatMayBeLookedUp) {
  NameServer server(always("192.0.2.7"));
  names_.load_hosts("192.0.2.33 intranet.example\n192.0.2.34 intranet.example build.example\n");
  start({"build.example:80"}, server.address());
  EXPECT_EQ(ask("33.2.0.192.in-addr.arpa", dns::kPtr), "3");
  const Bytes answer = exchange(query("34.2.0.192.in-addr.arpa", dns::kPtr));
  const auto response = dns::parse_response(answer);
  ASSERT_TRUE(response);
  EXPECT_EQ(response->answers.size(), 1U);
  EXPECT_THAT(std::string(answer.begin(), answer.end()), Not(HasSubstr("intranet")));
}

TEST_F(ResolverTest, ForgedAnswersDoNotCount) {
  const auto forging = [](const Bytes& message, const dns::Query& query) {
    const std::vector<IpAddress> wrong = {*IpAddress::parse("192.0.2.66")};
    const std::vector<IpAddress> right = {*IpAddress::parse("192.0.2.7")};
    Bytes other_id = dns::build_addresses(message, query, wrong, 300);
    other_id[0] ^= 0xFF;
    Bytes other_name = dns::build_addresses(message, query, wrong, 300);
    other_name[13] ^= 1;
    Bytes other_type = dns::build_addresses(message, query, wrong, 300);
    other_type[query.question.end - 3] ^= 1;
    return std::vector<Bytes>{other_id,   other_name,
                              other_type, {1, 2, 3},
                              message,    dns::build_addresses(message, query, right, 300)};
  };
  NameServer server(forging);
  start({"api.example.com:443"}, server.address());
  EXPECT_EQ(ask("api.example.com"), "0 192.0.2.7");
  EXPECT_THAT(names_.names(*IpAddress::parse("192.0.2.66")), IsEmpty());
}

TEST_F(ResolverTest, ASilentServerIsAskedAgainAndThenGivenUp) {
  patience_ = 30;
  NameServer server(silence);
  start({"api.example.com:443"}, server.address());
  EXPECT_EQ(ask("api.example.com"), "2");
  EXPECT_THAT(server.asked(), ElementsAre("api.example.com 1", "api.example.com 1"));
}

TEST_F(ResolverTest, AServersFailureIsTheAnswerWhenNoneDoesBetter) {
  NameServer server([](const Bytes& message, const dns::Query& query) {
    return std::vector<Bytes>{dns::build_error(message, query, Rcode::kRefused)};
  });
  start({"api.example.com:443"}, server.address());
  EXPECT_EQ(ask("api.example.com"), "5");
}

TEST_F(ResolverTest, WithoutServersTheAnswerIsAFailure) {
  start({"api.example.com:443"}, "");
  EXPECT_EQ(ask("api.example.com"), "2");
  EXPECT_EQ(ask("localhost"), "0 127.0.0.1");
}

TEST_F(ResolverTest, LongAnswersComeByTcp) {
  std::vector<IpAddress> many;
  for (int i = 1; i <= 60; ++i) many.push_back(*IpAddress::parse(fmt::format("192.0.2.{}", i)));
  NameServer server([&](const Bytes& message, const dns::Query& query) {
    return std::vector<Bytes>{dns::build_addresses(message, query, many, 300)};
  });
  start({"api.example.com:443"}, server.address());
  EXPECT_EQ(ask("api.example.com"), "0 truncated");
  const Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in to = name_of(compartment_.dns_tcp[0]);
  ASSERT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  const Bytes message = query("api.example.com", dns::kA);
  // In two parts, twice: lengths and messages need not come in one piece.
  for (int i = 0; i < 2; ++i) {
    Bytes framed = {0, static_cast<uint8_t>(message.size())};
    framed.insert(framed.end(), message.begin(), message.end());
    ASSERT_EQ(::send(fd.get(), framed.data(), 5, 0), 5);
    ASSERT_GT(::send(fd.get(), framed.data() + 5, framed.size() - 5, 0), 0);
    uint8_t length[2];
    ASSERT_EQ(::recv(fd.get(), length, 2, MSG_WAITALL), 2);
    Bytes answer(static_cast<size_t>(length[0]) * 256 + length[1]);
    ASSERT_EQ(::recv(fd.get(), answer.data(), answer.size(), MSG_WAITALL),
              static_cast<ssize_t>(answer.size()));
    const auto response = dns::parse_response(answer);
    ASSERT_TRUE(response);
    EXPECT_EQ(dns::addresses_of(*response, "api.example.com").size(), 60U);
  }
  EXPECT_THAT(server.asked(),
              ElementsAre("api.example.com 1", "tcp api.example.com 1", "tcp api.example.com 1"));
}

TEST_F(ResolverTest, OddMessagesAreAnsweredOrDropped) {
  NameServer server(always("192.0.2.7"));
  start({"api.example.com:443"}, server.address());
  const Fd fd = client();
  ASSERT_EQ(::send(fd.get(), "x", 1, 0), 1);
  Bytes bad = query("api.example.com", dns::kA);
  bad.push_back(0);
  const Bytes error = exchange(bad);
  ASSERT_EQ(error.size(), dns::kHeaderSize);
  EXPECT_EQ(error[3] & 0x0F, 1);
  Bytes opcode = query("api.example.com", dns::kA);
  opcode[2] |= 0x28;  // UPDATE
  EXPECT_EQ(describe(exchange(opcode), ""), "4");
  Bytes chaos = query("api.example.com", dns::kA);
  chaos.back() = 3;
  EXPECT_EQ(describe(exchange(chaos), ""), "5");
  EXPECT_THAT(server.asked(), IsEmpty());
}

TEST_F(ResolverTest, AQuestionHoldsUpNobodyElse) {
  NameServer server(always("192.0.2.7"));
  start({"api.example.com:443"}, server.address(), &person_);
  const Fd waiting = client();
  const Bytes message = query("new.example.com", dns::kA);
  ASSERT_GT(::send(waiting.get(), message.data(), message.size(), 0), 0);
  ASSERT_GT(::send(waiting.get(), message.data(), message.size(), 0), 0) << "asked again meanwhile";
  person_.wait_until_asked();
  EXPECT_EQ(ask("api.example.com"), "0 192.0.2.7");
  person_.say_yes();
  EXPECT_EQ(describe(receive(waiting), "new.example.com"), "0 192.0.2.7");
}

TEST_F(ResolverTest, StoppingEndsAnOpenQuestion) {
  NameServer server(always("192.0.2.7"));
  start({}, server.address(), &person_);
  const Fd waiting = client();
  const Bytes message = query("new.example.com", dns::kA);
  ASSERT_GT(::send(waiting.get(), message.data(), message.size(), 0), 0);
  person_.wait_until_asked();
  resolver_->stop();
  resolver_->stop();
}

TEST_F(ResolverTest, WhereNoThreadCanBeMadeNobodyIsAsked) {
  NameServer server(always("192.0.2.7"));
  start({"api.example.com:443"}, server.address(), &person_);
  {
    const testing::WithoutNewThreads none;
    EXPECT_EQ(ask("new.example.com"), "2");
    EXPECT_EQ(ask("api.example.com"), "0 192.0.2.7");
  }
  const Fd fd = client();
  const Bytes message = query("new.example.com", dns::kA);
  ASSERT_GT(::send(fd.get(), message.data(), message.size(), 0), 0);
  person_.wait_until_asked();
  person_.say_yes();
  EXPECT_EQ(describe(receive(fd), "new.example.com"), "0 192.0.2.7");
}

TEST_F(ResolverTest, AFloodIsBoundedAndOthersAreStillServed) {
  patience_ = 50;
  NameServer server(silence);
  start({"*.example.com:443"}, server.address());
  const Fd fd = client();
  for (int i = 0; i < 2000; ++i) {
    const Bytes message =
        query(fmt::format("n{}.example.com", i), dns::kA, static_cast<uint16_t>(i));
    (void)!::send(fd.get(), message.data(), message.size(), MSG_DONTWAIT);
  }
  // The flood may have filled the socket's buffer: a client asks again, as all of them do.
  const Fd other = client();
  const Bytes message = query("localhost", dns::kA);
  std::string answer;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while ((answer.empty() || answer == "2" /* SERVFAIL: too many */) &&
         std::chrono::steady_clock::now() < until) {
    ASSERT_GT(::send(other.get(), message.data(), message.size(), 0), 0);
    pollfd polled{other.get(), POLLIN, 0};
    if (::poll(&polled, 1, 100) == 1) answer = describe(receive(other), "localhost");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(answer, "0 127.0.0.1");
}

TEST_F(ResolverTest, AWrongServerIsAnError) {
  PolicyInputs inputs;
  auto policy = Policy::compile(inputs);
  ASSERT_TRUE(policy.ok());
  PolicyJudge judge(*policy);
  ResolverOptions options;
  options.server = "dns.example";
  EXPECT_FALSE(Resolver::start(compartment_, judge, names_, *loop_, options).ok());
}

}  // namespace
}  // namespace bulkhead
