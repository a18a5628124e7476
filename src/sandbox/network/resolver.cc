#include "sandbox/network/resolver.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "sandbox/network/dns.h"
#include "sandbox/network/upstreams.h"

namespace bulkhead {

namespace {

using Clock = std::chrono::steady_clock;
using dns::Bytes;
using dns::Rcode;

constexpr size_t kMaxInFlight = 256;
constexpr size_t kMaxAsking = 16;
constexpr size_t kMaxClients = 32;  // connections by TCP
constexpr size_t kMaxMessage = 65535;
constexpr size_t kMaxBacklog = 256U << 10U;  // bytes of answers that a TCP client has not read
constexpr size_t kMaxLocalAnswers = 8;       // addresses that fit a plain UDP answer
constexpr int kMessagesPerTurn = 32;  // so that one socket's flood does not starve the others
constexpr auto kClientPatience = std::chrono::seconds(15);
constexpr auto kShort = std::chrono::milliseconds(100);
constexpr uint32_t kLocalTtl = 60;

uint16_t random_id() {
  uint16_t id = 0;
  // Never fails or blocks for so few bytes once the machine has started (getrandom(2)).
  while (::getrandom(&id, sizeof id, 0) != static_cast<ssize_t>(sizeof id)) {
  }
  return id;
}

// Where a query came from, and where its answer goes.
struct Origin {
  int udp = -1;  // the compartment's socket; -1 for TCP
  sockaddr_storage peer{};
  socklen_t peer_size = 0;
  uint64_t client = 0;

  bool same_as(const Origin& other) const {
    const auto* a = reinterpret_cast<const uint8_t*>(&peer);
    const auto* b = reinterpret_cast<const uint8_t*>(&other.peer);
    return udp == other.udp && client == other.client && peer_size == other.peer_size &&
           std::equal(a, a + peer_size, b);
  }
};

struct Client {
  Fd fd;
  Bytes in, out;
  Clock::time_point last;
};

struct Pending {
  Origin origin;
  Bytes message;
  dns::Query query;
  std::string name;
  std::thread asking;  // joinable while a person is asked
  // What was sent upstream:
  uint16_t id = 0;
  Fd socket;
  bool connecting = false;
  Bytes out, in;  // by TCP only
  size_t tries = 0;
  Clock::time_point deadline = Clock::time_point::max();
  std::optional<Bytes> last_resort;  // a server's refusal, given where no server does better
};

bool is_loopback_name(std::string_view name) {
  return name == "localhost" || name.ends_with(".localhost");  // RFC 6761 6.3
}

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

class Resolver::Answerer final : private Task {
 public:
  Answerer(Judge& judge, NameCache& names, Loop& loop, ResolverOptions options,
           std::vector<Upstream> upstreams)
      : judge_(judge),
        names_(names),
        loop_(loop),
        options_(std::move(options)),
        upstreams_(std::move(upstreams)),
        key_(loop.add(*this)) {}
  ~Answerer() { stop(); }
  Answerer(const Answerer&) = delete;
  Answerer& operator=(const Answerer&) = delete;

  Status listen_on(const Compartment& compartment);
  void stop();

 private:
  enum class Watch : uint8_t { kUdp, kAccept, kClient, kPending };
  struct Watched {
    Watch what;
    uint64_t key;  // descriptor, client or query
  };

  Clock::time_point turn(bool briefly) override;
  bool serve_ready();
  void collect_rulings();
  void expire(Clock::time_point now);
  Clock::time_point next_deadline() const;

  void receive(int socket);
  void accept(int socket);
  void serve_client(uint64_t key, short events);
  void close_client(uint64_t key);
  void handle(Bytes message, const Origin& origin);
  void ask(uint64_t key);
  void rule(uint64_t key, Judge::Ruling ruling);
  bool answer_here(const Pending& pending);
  void answer_reverse(const Bytes& message, const dns::Query& query, const IpAddress& address,
                      const Origin& origin);
  void forward(uint64_t key);
  bool send_upstream(Pending& pending, const Upstream& upstream);
  void serve_upstream(uint64_t key);
  std::optional<Bytes> read_upstream(Pending& pending, bool* failed);
  void finish(uint64_t key, const Bytes& answer);
  void fail(uint64_t key, Rcode rcode);
  void reply(const Origin& origin, const dns::Query* query, const Bytes& message,
             const Bytes& answer);

  Judge& judge_;
  NameCache& names_;
  Loop& loop_;
  const ResolverOptions options_;
  const std::vector<Upstream> upstreams_;
  const Loop::Key key_;
  std::vector<int> udp_, tcp_;  // the compartment's
  std::atomic<bool> stopping_ = false;

  std::mutex mutex_;  // guards rulings_
  std::vector<std::pair<uint64_t, Judge::Ruling>> rulings_;

  // Turns only:
  std::map<uint64_t, Pending> pending_;
  std::map<uint64_t, Client> clients_;
  uint64_t next_key_ = 1;
  size_t asking_ = 0;
  std::optional<Clock::time_point> accepts_again_;  // where something is short
};

Status Resolver::Answerer::listen_on(const Compartment& compartment) {
  const auto take = [](const Fd& fd, std::vector<int>& into) {
    ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
    into.push_back(fd.get());
  };
  for (const Fd& fd : compartment.dns_udp)
    if (fd) take(fd, udp_);
  for (const Fd& fd : compartment.dns_tcp) {
    // Listening already, or only bound: both are fine.
    if (fd && ::listen(fd.get(), 16) == 0) take(fd, tcp_);
  }
  // Last: from here on turns may come.
  for (const auto* sockets : {&udp_, &tcp_})
    for (const int fd : *sockets) BULKHEAD_CHECK(loop_.watch(key_, fd, EPOLLIN));
  return {};
}

void Resolver::Answerer::stop() {
  if (stopping_.exchange(true)) return;
  judge_.stop_asking();
  loop_.remove(key_);
  for (const auto* sockets : {&udp_, &tcp_})
    for (const int fd : *sockets) loop_.forget(fd);
  // Asking has ended, so these end by themselves.
  for (auto& [key, pending] : pending_)
    if (pending.asking.joinable()) pending.asking.join();
  pending_.clear();
  clients_.clear();
}

Task::Clock::time_point Resolver::Answerer::turn(bool briefly) {
  // What is ready is told once: until nothing is.
  for (;;) {
    if (stopping_) return kNever;
    collect_rulings();
    expire(Clock::now());
    if (!serve_ready()) return next_deadline();
    if (briefly) return Clock::now();
  }
}

// False: there was nothing.
bool Resolver::Answerer::serve_ready() {
  std::vector<pollfd> polled;
  std::vector<Watched> watched;
  const auto watch = [&](int fd, short events, Watch what, uint64_t key) {
    polled.push_back({fd, events, 0});
    watched.push_back({what, key});
  };
  for (const int fd : udp_) watch(fd, POLLIN, Watch::kUdp, static_cast<uint64_t>(fd));
  if (accepts_again_ && *accepts_again_ <= Clock::now()) accepts_again_.reset();
  if (clients_.size() < kMaxClients && !accepts_again_)
    for (const int fd : tcp_) watch(fd, POLLIN, Watch::kAccept, static_cast<uint64_t>(fd));
  for (const auto& [key, client] : clients_) {
    short events = 0;
    if (client.out.size() < kMaxBacklog) events |= POLLIN;
    if (!client.out.empty()) events |= POLLOUT;
    watch(client.fd.get(), events, Watch::kClient, key);
  }
  for (const auto& [key, pending] : pending_) {
    if (!pending.socket) continue;
    const bool writes = pending.connecting || !pending.out.empty();
    watch(pending.socket.get(), writes ? POLLOUT : POLLIN, Watch::kPending, key);
  }
  const int ready = ::poll(polled.data(), polled.size(), 0);
  if (ready < 0) accepts_again_ = Clock::now() + kShort;  // no memory: a turn comes by then
  if (ready <= 0) return false;
  for (size_t i = 0; i < polled.size(); ++i) {
    if (polled[i].revents == 0) continue;
    const uint64_t key = watched[i].key;
    switch (watched[i].what) {
      case Watch::kUdp:
        receive(static_cast<int>(key));
        break;
      case Watch::kAccept:
        accept(static_cast<int>(key));
        break;
      case Watch::kClient:
        serve_client(key, polled[i].revents);
        break;
      case Watch::kPending:
        serve_upstream(key);
        break;
    }
  }
  return true;
}

Clock::time_point Resolver::Answerer::next_deadline() const {
  auto first = accepts_again_.value_or(Clock::time_point::max());
  for (const auto& [key, pending] : pending_) first = std::min(first, pending.deadline);
  for (const auto& [key, client] : clients_) first = std::min(first, client.last + kClientPatience);
  return first;
}

void Resolver::Answerer::expire(Clock::time_point now) {
  std::vector<uint64_t> late;
  for (const auto& [key, pending] : pending_)
    if (pending.deadline <= now) late.push_back(key);
  for (const uint64_t key : late) forward(key);
  // A client that waits for an answer is not idle.
  std::vector<uint64_t> idle;
  for (auto& [key, client] : clients_) {
    if (client.last + kClientPatience > now) continue;
    // By name: clang 14 captures no structured binding.
    const auto waits_for = [id = key](const auto& entry) {
      return entry.second.origin.udp < 0 && entry.second.origin.client == id;
    };
    const bool waits = std::any_of(pending_.begin(), pending_.end(), waits_for);
    if (waits)
      client.last = now;
    else
      idle.push_back(key);
  }
  for (const uint64_t key : idle) close_client(key);
}

void Resolver::Answerer::collect_rulings() {
  std::vector<std::pair<uint64_t, Judge::Ruling>> rulings;
  {
    const std::lock_guard lock(mutex_);
    rulings.swap(rulings_);
  }
  for (const auto& [key, ruling] : rulings) {
    const auto found = pending_.find(key);
    if (found == pending_.end()) continue;
    found->second.asking.join();
    --asking_;
    rule(key, ruling);
  }
}

void Resolver::Answerer::receive(int socket) {
  Bytes buffer(kMaxMessage);
  for (int i = 0; i < kMessagesPerTurn; ++i) {
    Origin origin;
    origin.udp = socket;
    origin.peer_size = sizeof origin.peer;
    const ssize_t n = ::recvfrom(socket, buffer.data(), buffer.size(), 0,
                                 reinterpret_cast<sockaddr*>(&origin.peer), &origin.peer_size);
    if (n < 0) return;
    handle(Bytes(buffer.begin(), buffer.begin() + n), origin);
  }
}

void Resolver::Answerer::accept(int socket) {
  Fd accepted(::accept4(socket, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  // Without descriptors it stays ready, and is left alone for a moment.
  if (!accepted && !would_block()) accepts_again_ = Clock::now() + kShort;
  if (!accepted || clients_.size() >= kMaxClients) return;
  if (!loop_.watch(key_, accepted.get(), EPOLLIN | EPOLLOUT).ok()) return;
  clients_[next_key_++] = Client{std::move(accepted), {}, {}, Clock::now()};
}

// Queries stay with a closed client: their answers find nobody.
void Resolver::Answerer::close_client(uint64_t key) { clients_.erase(key); }

void Resolver::Answerer::serve_client(uint64_t key, short events) {
  auto found = clients_.find(key);
  if (found == clients_.end()) return;
  Client& client = found->second;
  if ((events & POLLOUT) != 0) {
    const ssize_t n = ::send(client.fd.get(), client.out.data(), client.out.size(), MSG_NOSIGNAL);
    if (n < 0 && !would_block()) return close_client(key);
    if (n > 0) {
      client.out.erase(client.out.begin(), client.out.begin() + n);
      client.last = Clock::now();
    }
  }
  if ((events & (POLLIN | POLLHUP | POLLERR)) == 0) return;
  uint8_t buffer[16384];
  const ssize_t n = ::recv(client.fd.get(), buffer, sizeof buffer, 0);
  if (n < 0 && would_block()) return;
  if (n <= 0) return close_client(key);
  client.last = Clock::now();
  client.in.insert(client.in.end(), buffer, buffer + n);
  // Each message stands behind its length in two bytes (RFC 1035 4.2.2).
  std::vector<Bytes> messages;
  size_t at = 0;
  while (client.in.size() - at >= 2) {
    const size_t size = static_cast<size_t>(client.in[at]) * 256 + client.in[at + 1];
    if (client.in.size() - at - 2 < size) break;
    const auto begin = client.in.begin() + static_cast<ptrdiff_t>(at + 2);
    messages.emplace_back(begin, begin + static_cast<ptrdiff_t>(size));
    at += 2 + size;
  }
  client.in.erase(client.in.begin(), client.in.begin() + static_cast<ptrdiff_t>(at));
  Origin origin;
  origin.client = key;
  for (Bytes& message : messages) handle(std::move(message), origin);  // may close the client
}

void Resolver::Answerer::handle(Bytes message, const Origin& origin) {
  const auto query = dns::parse_query(message);
  if (!query) {
    if (const auto error = dns::build_format_error(message))
      reply(origin, nullptr, message, *error);
    return;
  }
  const auto refuse = [&](Rcode rcode) {
    reply(origin, &*query, message, dns::build_error(message, *query, rcode));
  };
  if (query->opcode != 0) return refuse(Rcode::kNotImplemented);
  if (query->question.klass != dns::kInternet) return refuse(Rcode::kRefused);
  const auto name = normalize_host(query->question.name);
  // The root, service types with odd bytes and the like: nothing that a manifest could name.
  if (!name) return refuse(Rcode::kRefused);
  if (name->ends_with(".arpa")) {
    // Reverse lookups are answered from what is known and never leave: an address that was never
    // resolved would be a message to its owner.
    const auto address = dns::parse_reverse_name(*name);
    if (!address) return refuse(Rcode::kNameError);
    return answer_reverse(message, *query, *address, origin);
  }
  for (const auto& [key, other] : pending_) {
    // The client's repetition of what is under way.
    if (other.query.id == query->id && other.origin.same_as(origin) && other.message == message)
      return;
  }
  if (pending_.size() >= kMaxInFlight) return refuse(Rcode::kServerFailure);
  const uint64_t key = next_key_++;
  Pending& pending = pending_[key];
  pending.origin = origin;
  pending.message = std::move(message);
  pending.query = *query;
  pending.name = *name;
  if (is_loopback_name(*name)) {
    answer_here(pending);
    pending_.erase(key);
    return;
  }
  Attempt attempt;
  attempt.detail = "dns";
  rule(key, judge_.lookup(pending.name, attempt, false));
}

void Resolver::Answerer::rule(uint64_t key, Judge::Ruling ruling) {
  switch (ruling) {
    case Judge::Ruling::kWouldAsk:
      return ask(key);
    // Not REFUSED: to a C library that is a server's trouble, which it meets by trying again; a
    // name that does not exist ends the matter at once.
    case Judge::Ruling::kDeny:
      return fail(key, Rcode::kNameError);
    case Judge::Ruling::kAllow:
      break;
  }
  if (answer_here(pending_.at(key))) {
    pending_.erase(key);
    return;
  }
  forward(key);
}

void Resolver::Answerer::ask(uint64_t key) {
  if (asking_ >= kMaxAsking) return fail(key, Rcode::kServerFailure);
  Pending& pending = pending_.at(key);
  const auto wait_for_ruling = [this, key, name = pending.name] {
    Attempt attempt;
    attempt.detail = "dns";
    // The host's judge must not find, nor leave, what is another thread's.
    const auto ruling =
        own_thread_settings() ? judge_.lookup(name, attempt, true) : Judge::Ruling::kDeny;
    {
      const std::lock_guard lock(mutex_);
      // Who may block is never told to ask; were it told so, nobody could answer.
      rulings_.emplace_back(key,
                            ruling == Judge::Ruling::kWouldAsk ? Judge::Ruling::kDeny : ruling);
    }
    loop_.call(key_);
  };
  try {
    pending.asking = std::thread(wait_for_ruling);
  } catch (const std::system_error&) {  // the program may have used up its user's processes
    return fail(key, Rcode::kServerFailure);
  }
  ++asking_;
}

// From the hosts file, and for localhost; false where the upstream servers must be asked.
bool Resolver::Answerer::answer_here(const Pending& pending) {
  const uint16_t type = pending.query.question.type;
  const bool loopback = is_loopback_name(pending.name);
  std::vector<IpAddress> known = names_.hosts(pending.name);
  if (loopback) {
    known = {*IpAddress::parse("127.0.0.1")};
    if (udp_.size() > 1) known.push_back(*IpAddress::parse("::1"));  // where IPv6 exists inside
  }
  if (known.empty()) return false;
  if (!loopback && type != dns::kA && type != dns::kAaaa) return false;
  // A name that the file knows in the other family only has no address in this
  // one, as with nss_files.
  std::erase_if(known, [&](const IpAddress& address) {
    return type != dns::kAny && type != (address.is_v4() ? dns::kA : dns::kAaaa);
  });
  if (known.size() > kMaxLocalAnswers) known.resize(kMaxLocalAnswers);
  reply(pending.origin, &pending.query, pending.message,
        dns::build_addresses(pending.message, pending.query, known, kLocalTtl));
  return true;
}

void Resolver::Answerer::answer_reverse(const Bytes& message, const dns::Query& query,
                                        const IpAddress& address, const Origin& origin) {
  // The hosts file may name what nobody granted.
  std::vector<std::string> names = names_.names(address);
  std::erase_if(
      names, [this](const std::string& name) { return !judge_.would_allow(Kind::kLookup, name); });
  if (names.empty() && address.is_loopback()) names.emplace_back("localhost");
  if (names.size() > 1) names.resize(1);
  const bool pointer = query.question.type == dns::kPtr || query.question.type == dns::kAny;
  reply(origin, &query, message,
        names.empty() || !pointer ? dns::build_error(message, query, Rcode::kNameError)
                                  : dns::build_names(message, query, names, kLocalTtl));
}

// The next try, or the end of trying.
void Resolver::Answerer::forward(uint64_t key) {
  Pending& pending = pending_.at(key);
  const size_t most = upstreams_.size() * static_cast<size_t>(std::max(1, options_.rounds));
  while (pending.tries < most) {
    const Upstream& upstream = upstreams_[pending.tries % upstreams_.size()];
    ++pending.tries;
    if (!send_upstream(pending, upstream)) continue;
    pending.deadline = Clock::now() + options_.patience;
    return;
  }
  if (pending.last_resort) return finish(key, Bytes(*pending.last_resort));
  fail(key, Rcode::kServerFailure);
}

// A fresh socket for each try: the kernel picks the port at random, and a connected one takes
// answers from that server only (RFC 5452).
bool Resolver::Answerer::send_upstream(Pending& pending, const Upstream& upstream) {
  const bool tcp = pending.origin.udp < 0;
  pending.socket.reset();
  pending.in.clear();
  pending.out.clear();
  pending.connecting = false;
  Fd socket(::socket(upstream.address.ss_family,
                     (tcp ? SOCK_STREAM : SOCK_DGRAM) | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return false;
  const auto* address = reinterpret_cast<const sockaddr*>(&upstream.address);
  const int connected = ::connect(socket.get(), address, upstream.size);
  if (connected != 0 && errno != EINPROGRESS) return false;
  const uint32_t events = tcp ? uint32_t{EPOLLIN | EPOLLOUT} : uint32_t{EPOLLIN};
  if (!loop_.watch(key_, socket.get(), events).ok()) return false;
  pending.id = random_id();
  Bytes query = dns::build_query(pending.id, pending.query, pending.name);
  if (tcp) {
    pending.connecting = true;
    pending.out = {static_cast<uint8_t>(query.size() >> 8U), static_cast<uint8_t>(query.size())};
    pending.out.insert(pending.out.end(), query.begin(), query.end());
  } else if (::send(socket.get(), query.data(), query.size(), MSG_NOSIGNAL) < 0) {
    return false;
  }
  pending.socket = std::move(socket);
  return true;
}

// A whole message, nullopt where there is none yet; `failed` where this try is over.
std::optional<Bytes> Resolver::Answerer::read_upstream(Pending& pending, bool* failed) {
  const int fd = pending.socket.get();
  if (pending.origin.udp >= 0) {
    Bytes buffer(kMaxMessage);
    const ssize_t n = ::recv(fd, buffer.data(), buffer.size(), 0);
    if (n < 0) {
      *failed = !would_block();
      return std::nullopt;
    }
    buffer.resize(static_cast<size_t>(n));
    return buffer;
  }
  if (pending.connecting) {
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    *failed = error != 0;
    pending.connecting = false;
    if (*failed) return std::nullopt;
  }
  if (!pending.out.empty()) {
    const ssize_t n = ::send(fd, pending.out.data(), pending.out.size(), MSG_NOSIGNAL);
    if (n > 0) pending.out.erase(pending.out.begin(), pending.out.begin() + n);
    *failed = n < 0 && !would_block();
    return std::nullopt;
  }
  uint8_t buffer[16384];
  const ssize_t n = ::recv(fd, buffer, sizeof buffer, 0);
  if (n <= 0) {
    *failed = n == 0 || !would_block();
    return std::nullopt;
  }
  pending.in.insert(pending.in.end(), buffer, buffer + n);
  if (pending.in.size() < 2) return std::nullopt;
  const size_t size = static_cast<size_t>(pending.in[0]) * 256 + pending.in[1];
  if (pending.in.size() < 2 + size) return std::nullopt;
  return Bytes(pending.in.begin() + 2, pending.in.begin() + static_cast<ptrdiff_t>(2 + size));
}

void Resolver::Answerer::serve_upstream(uint64_t key) {
  const auto found = pending_.find(key);
  if (found == pending_.end() || !found->second.socket) return;
  Pending& pending = found->second;
  bool failed = false;
  auto answer = read_upstream(pending, &failed);
  if (failed) return forward(key);
  if (!answer) return;
  const auto response = dns::parse_response(*answer);
  const bool ours = response && response->id == pending.id &&
                    dns::answers(*response, pending.query, pending.name) &&
                    dns::readdress(*answer, pending.message, pending.query);
  if (!ours) {
    // By UDP it may be forged, and the right one still comes; by TCP nothing else does.
    if (pending.origin.udp < 0) forward(key);
    return;
  }
  if (response->rcode != Rcode::kOk && response->rcode != Rcode::kNameError) {
    pending.last_resort = std::move(*answer);
    return forward(key);
  }
  for (const auto& [address, ttl] : dns::addresses_of(*response, pending.name))
    names_.add(address, pending.name, std::chrono::seconds(ttl));
  finish(key, *answer);
}

void Resolver::Answerer::finish(uint64_t key, const Bytes& answer) {
  const auto found = pending_.find(key);
  const Pending& pending = found->second;
  reply(pending.origin, &pending.query, pending.message, answer);
  pending_.erase(found);
}

void Resolver::Answerer::fail(uint64_t key, Rcode rcode) {
  const Pending& pending = pending_.at(key);
  finish(key, dns::build_error(pending.message, pending.query, rcode));
}

void Resolver::Answerer::reply(const Origin& origin, const dns::Query* query, const Bytes& message,
                               const Bytes& answer) {
  if (origin.udp >= 0) {
    const bool fits = query == nullptr || answer.size() <= query->payload_limit;
    const Bytes& sent = fits ? answer : dns::build_truncated(message, *query);
    // A full buffer of the client's is the client's loss: it asks again.
    ::sendto(origin.udp, sent.data(), sent.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
             reinterpret_cast<const sockaddr*>(&origin.peer), origin.peer_size);
    return;
  }
  const auto found = clients_.find(origin.client);
  if (found == clients_.end() || answer.size() > kMaxMessage) return;
  Client& client = found->second;
  if (client.out.size() > kMaxBacklog) return;
  client.out.push_back(static_cast<uint8_t>(answer.size() >> 8U));
  client.out.push_back(static_cast<uint8_t>(answer.size() & 0xFFU));
  client.out.insert(client.out.end(), answer.begin(), answer.end());
}

Resolver::Resolver(std::unique_ptr<Answerer> answerer) : answerer_(std::move(answerer)) {}
Resolver::~Resolver() = default;
void Resolver::stop() { answerer_->stop(); }

Result<std::unique_ptr<Resolver>> Resolver::start(const Compartment& compartment, Judge& judge,
                                                  NameCache& names, Loop& loop,
                                                  const ResolverOptions& options) {
  std::vector<Upstream> upstreams;
  if (!options.server.empty()) {
    BULKHEAD_TRY(const Upstream upstream, parse_upstream(options.server));
    upstreams.push_back(upstream);
  } else {
    const auto text = read_file(options.configuration, size_t{1} << 20U);
    if (text.ok()) upstreams = parse_resolv_conf(text.value());
  }
  auto answerer = std::make_unique<Answerer>(judge, names, loop, options, std::move(upstreams));
  BULKHEAD_CHECK(answerer->listen_on(compartment));
  return std::unique_ptr<Resolver>(new Resolver(std::move(answerer)));
}

}  // namespace bulkhead
