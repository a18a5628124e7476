#include "trace/packets.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

namespace bulkhead {
namespace {

using namespace std::chrono_literals;

constexpr size_t kMostText = 2048;
constexpr size_t kMostPacket = 12 << 10;
constexpr size_t kMostWorkers = 8192;
constexpr auto kPause = 100ms;
// How what a sandbox itself decided begins (js/lib/journal.cjs): of kind "system", as what no
// manifest grants.
constexpr std::string_view kSandbox = "sandbox ";

void add(std::string& packet, std::string_view text) {
  packet += '\0';
  text = text.substr(0, std::min(kMostText, text.find('\0')));
  packet += text;
}

// All but how often.
std::string decision_of(const Event& event) {
  std::string packet = "D";
  for (const std::string_view text :
       {label(event.kind), label(event.verdict), std::string_view(event.resource),
        std::string_view(event.rule)})
    add(packet, text);
  add(packet, std::to_string(event.pid));
  add(packet, event.program);
  add(packet, event.detail);
  return packet;
}

// False where it is full.
bool send_now(int fd, const std::string& packet) {
  ssize_t sent = 0;
  do {
    sent = ::send(fd, packet.data(), packet.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  // Nobody keeps it any more: there is nobody to tell either.
  return sent >= 0 || errno != EAGAIN;
}

bool has_room(int fd, std::chrono::milliseconds within) {
  pollfd room{.fd = fd, .events = POLLOUT, .revents = 0};
  return ::poll(&room, 1, static_cast<int>(within.count())) > 0;
}

std::vector<std::string_view> texts_of(std::string_view packet) {
  std::vector<std::string_view> texts;
  for (size_t at = 0; at <= packet.size();) {
    const size_t end = std::min(packet.find('\0', at), packet.size());
    texts.push_back(packet.substr(at, end - at));
    at = end + 1;
  }
  return texts;
}

template <typename Number>
std::optional<Number> number_of(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

class Keeper {
 public:
  explicit Keeper(std::string file) : file_(std::move(file)) {}

  Status take(std::string_view packet) {
    const std::vector<std::string_view> texts = texts_of(packet);
    if (texts[0] == "R" && texts.size() == 4) {
      run_.subject = texts[1];
      run_.command = texts[2];
      run_.workspace = texts[3];
      return {};
    }
    if (texts[0] == "W" && texts.size() == 3) return name_worker(texts[1], texts[2]);
    if (texts[0] == "D" && texts.size() == 9) return note(texts);
    return Error{"a packet for the journal is none"};
  }
  Status finish() { return journal_ ? journal_->finish("ended") : Status(); }

 private:
  Status name_worker(std::string_view pid, std::string_view name) {
    const auto number = number_of<int32_t>(pid);
    if (!number) return Error{"a packet for the journal names no process"};
    if (names_.size() >= kMostWorkers) names_.clear();
    names_[*number] = name;
    return {};
  }
  Status note(const std::vector<std::string_view>& texts) {
    const auto kind = kind_of(texts[1]);
    const auto pid = number_of<int32_t>(texts[5]);
    const auto count = number_of<uint64_t>(texts[8]);
    const bool allowed = texts[2] == label(Verdict::kAllow);
    if (!kind || !pid || !count || (!allowed && texts[2] != label(Verdict::kDeny)))
      return Error{"a packet for the journal is no decision"};
    if (!journal_) {
      BULKHEAD_TRY(run_.id, new_run_id());
      BULKHEAD_TRY(journal_, Journal::open(file_, run_));
    }
    Event event;
    event.time = std::chrono::system_clock::now();
    event.kind = *kind;
    event.verdict = allowed ? Verdict::kAllow : Verdict::kDeny;
    event.resource = texts[3];
    event.rule = texts[4];
    event.pid = *pid;
    event.program = texts[6];
    event.detail = texts[7];
    event.count = *count;
    // A worker's executable is the same in all of them; a sandbox says its name itself.
    if (const auto name = names_.find(*pid);
        !event.resource.starts_with(kSandbox) && name != names_.end())
      event.program = name->second;
    journal_->record(std::move(event));
    return {};
  }

  const std::string file_;
  Run run_;
  std::unique_ptr<Journal> journal_;
  std::unordered_map<int32_t, std::string> names_;
};

}  // namespace

void PacketJournal::record(Event event) {
  if (event.verdict != Verdict::kDeny) return;
  std::string packet = decision_of(event);
  const std::lock_guard guard(mutex_);
  if (pending_.size() >= kMostDistinct && !pending_.contains(packet)) {
    event.resource = "(further resources)";
    event.rule = "(more distinct accesses than the journal keeps of one worker)";
    event.detail.clear();
    packet = decision_of(event);
  }
  const auto [at, is_new] = pending_.try_emplace(std::move(packet), 0);
  at->second += event.count;
  if (is_new || Clock::now() - told_ >= kPause) send_pending();
}

void PacketJournal::send_pending() {
  told_ = Clock::now();
  for (auto& [packet, count] : pending_) {
    if (count == 0) continue;
    std::string whole = packet;
    add(whole, std::to_string(count));
    // Full, because who keeps it is behind. Once it was so for a whole second nobody waits any
    // more, until it takes something again.
    const bool sent =
        send_now(fd_, whole) || (is_kept_ && has_room(fd_, 1s) && send_now(fd_, whole));
    is_kept_ = sent;
    if (!sent) return;
    count = 0;
  }
}

Status PacketJournal::flush() {
  const std::lock_guard guard(mutex_);
  send_pending();
  if (is_kept_) return {};
  return Error{"what was refused is not recorded: the process that keeps the journal takes no more",
               EAGAIN};
}

Status PacketJournal::finish(const std::string&) { return flush(); }

Status keep_journal(int fd, const std::string& file) {
  Keeper keeper(file);
  std::vector<char> packet(kMostPacket);
  for (;;) {
    const ssize_t size = ::recv(fd, packet.data(), packet.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return errno_error("read what is for the journal");
    if (size == 0) return keeper.finish();
    BULKHEAD_CHECK(keeper.take({packet.data(), static_cast<size_t>(size)}));
  }
}

}  // namespace bulkhead
