// Ports: which servers inside are reached from the machine's loopback.
//
// A program that listens is always served, inside. Whether other programs of the machine reach its
// port is decided apart, and the program waits for nothing: a port that is granted is published at
// once, another one when it has stayed for a while, so that a test's server asks nobody.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "policy/judge.h"
#include "sandbox/launch/compartment.h"
#include "sandbox/network/port_relay.h"
#include "sandbox/threads/loop.h"

namespace bulkhead {

// What a person may want to know of a port.
struct PortNews {
  enum class What : uint8_t {
    kInside,     // a server stays inside, because nobody granted its port
    kElsewhere,  // it is published at another one, `outside`, because of `why`
    kFailed,     // it cannot be published: `why`
  };
  What what = What::kInside;
  uint16_t port = 0, outside = 0;
  std::string program, why;
};

// The kernel's to give, where a program names none (ip_local_port_range of a new namespace): nobody
// looks for a server there who was not told the number. Published where granted, never asked about.
constexpr bool is_passing_port(uint16_t port) { return port >= 32768 && port <= 60999; }

class Ports final : private Task {
 public:
  // Compartment, judge and loop outlive it. `tell` is called by any thread, once for each port.
  Ports(const Compartment& compartment, Judge& judge, Loop& loop,
        std::function<void(const PortNews&)> tell);
  ~Ports() override { stop(); }
  Ports(const Ports&) = delete;
  Ports& operator=(const Ports&) = delete;

  // A program inside listens there, at a loopback address or at all. Waits for nobody.
  void listens(uint16_t port, const Attempt& attempt);
  // Closes what is published. Nobody may be asked any more (Judge::stop_asking). Safe twice.
  void stop();

 private:
  static constexpr std::chrono::seconds kLookEvery{1}, kStays{2};
  // Of one run; a program that listens at more is not asked about them.
  static constexpr size_t kMostPorts = 64;

  enum class State : uint8_t {
    kNew,        // not decided yet
    kDeciding,   // by a thread that may wait
    kInside,     // refused
    kPublished,  // reached from outside
    kAway,       // granted, and nobody listens at the moment
  };
  struct Port {
    State state = State::kNew;
    Clock::time_point since;
    int32_t pid = 0;
    std::string program;
    bool told = false;
  };

  Clock::time_point turn(bool briefly) override;
  void decide_one();
  void publish(uint16_t number, Port& port);  // with the lock
  void tell(Port& port, PortNews news);

  const Compartment& compartment_;
  Judge& judge_;
  Loop& loop_;
  const std::function<void(const PortNews&)> tell_;
  const Loop::Key key_;
  std::mutex mutex_;
  std::map<uint16_t, Port> ports_;
  std::vector<uint16_t> undecided_;
  std::unique_ptr<PortRelay> relay_;
  bool stopped_ = false;
  std::optional<Workers::Owner> deciding_;  // from the first question on
};

}  // namespace bulkhead
