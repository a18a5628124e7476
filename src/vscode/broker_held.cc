// Requests that wait for a permission, one line for each: they come out in the order in which the
// host made them, for the later ones are about what the earlier ones make (a terminal is opened,
// shown, typed into).
//
// While its question is before a person a request stays in its line. The host is told after a
// moment that it is not decided yet, and goes on; what it asked for happens when the person says
// yes, judged anew at that moment. A no, the question's end and the host's end take it out.
#include <algorithm>
#include <memory>
#include <utility>

#include "vscode/broker_parts.h"

namespace bulkhead {

using namespace broker_parts;  // NOLINT(google-build-using-namespace): one class in several files

namespace {

constexpr size_t kMostHeld = 64;

// The host has its answer already.
class Unheard final : public Outbox {
 public:
  explicit Unheard(Outbox& outbox) : outbox_(outbox) {}
  void to_host(std::vector<uint8_t> body) override { static_cast<void>(body); }
  void to_workbench(std::vector<uint8_t> body) override { outbox_.to_workbench(std::move(body)); }

 private:
  Outbox& outbox_;
};

}  // namespace

bool Broker::stands_behind(const std::string& permission) const {
  const std::lock_guard lock(mutex_);
  const auto line = lines_.find(permission);
  return line != lines_.end() && !line->second.held.empty();
}

// False: too many wait.
bool Broker::hold(const RpcRequest& request, Bytes body, const std::string& permission,
                  Outbox& outbox) {
  std::string registers =
      request.method == "$registerCommand" ? text_of(argument_of(request, 0)) : "";
  const std::lock_guard lock(mutex_);
  if (stopping_) return true;
  size_t count = 0, bytes = body.size();
  for (const auto& [name, line] : lines_)
    for (const Held& each : line.held) {
      ++count;
      bytes += each.body.size();
    }
  if (count >= kMostHeld || (bytes > kMaxWaiting && count > 0)) return false;
  Line& line = lines_[permission];
  line.outbox = &outbox;
  line.held.push_back({request.number, copy(body), std::move(registers)});
  if (!line.at_work) start_on(permission, line);
  return true;
}

// With mutex_ held.
void Broker::start_on(const std::string& permission, Line& line) {
  std::erase_if(asking_, [](const Asking& each) { return each.done->load(); });
  line.at_work = true;
  auto done = std::make_shared<std::atomic<bool>>(false);
  asking_.push_back(Asking{done, 0, std::jthread([this, done, permission, to = line.outbox] {
                             work_off(permission, *to);
                             done->store(true);
                           })});
}

// A person has answered what somebody went on without.
void Broker::release() {
  const std::lock_guard lock(mutex_);
  ++settled_;
  settled_changed_.notify_all();
  if (stopping_) return;
  for (auto& [permission, line] : lines_)
    if (!line.held.empty() && !line.at_work) start_on(permission, line);
}

// Until all of the line is decided, or its first request waits for a person without being held.
void Broker::work_off(const std::string& permission, Outbox& outbox) {
  for (;;) {
    Held first;
    uint64_t settled = 0;
    {
      const std::lock_guard lock(mutex_);
      Line& line = lines_[permission];
      if (stopping_ || line.held.empty()) {
        line.at_work = false;
        return;
      }
      first = line.held.front();
      settled = settled_;
    }
    const auto message = parse_rpc(first.body);
    if (!message.ok()) return;  // it was read before
    const auto& request = std::get<RpcRequest>(*message);
    const Ruling ruling = judge(request, true);
    if (!ruling.passes()) forget(request.number);
    std::vector<uint32_t> told;
    {
      const std::lock_guard lock(mutex_);
      Line& line = lines_[permission];
      if (ruling.way == Ruling::Way::kLater) {
        if (settled_ != settled) continue;  // answered meanwhile
        line.at_work = false;
        for (Held& each : line.held)
          if (!std::exchange(each.answered, true)) told.push_back(each.number);
      } else {
        // It may have been let go meanwhile.
        if (line.held.empty() || line.held.front().number != first.number) continue;
        first.answered = line.held.front().answered;
        line.held.pop_front();
        if (first.answered && ruling.passes()) late_.insert(first.number);
      }
    }
    if (ruling.way == Ruling::Way::kLater) {
      for (const uint32_t number : told) {
        outbox.to_host(acknowledgement(number));
        outbox.to_host(error_reply(number, ruling.error_name, ruling.message));
      }
      return;
    }
    Unheard unheard(outbox);
    if (!first.answered)
      act(request, first.body, ruling, outbox);
    else if (ruling.passes())
      pass(request, first.body, ruling, unheard);
  }
}

// For another answer than those that there were. False: the host ends.
bool Broker::wait_for_answer(uint64_t settled) {
  std::unique_lock lock(mutex_);
  settled_changed_.wait(lock, [&] { return settled_ != settled || stopping_; });
  return !stopping_;
}

// The host takes a command back that it has not been given: given later, it would answer nothing.
void Broker::let_go(const std::string& command) {
  const std::lock_guard lock(mutex_);
  for (auto& [permission, line] : lines_)
    std::erase_if(line.held, [&, to = line.outbox](const Held& each) {
      if (command.empty() || each.registers != command) return false;
      if (!each.answered) {
        to->to_host(acknowledgement(each.number));
        to->to_host(empty_reply(each.number));
      }
      return true;
    });
}

}  // namespace bulkhead
