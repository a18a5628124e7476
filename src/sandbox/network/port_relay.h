// PortRelay: carries bytes between programs of the machine and servers inside, by a thread of its
// own that lives while something is published.
//
//   browser ── TCP, the machine's loopback ── relay ── TCP, the compartment's loopback ── server
//
// It reads from one end what the other end takes: what that does not take at once is kept, at most
// kChunk for each direction of a connection, and nothing more is read meanwhile. The end of one
// direction is passed on alone; what breaks at one end is reset at the other.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "sandbox/network/inside_sockets.h"
#include "sandbox/threads/workers.h"

namespace bulkhead {

class PortRelay {
 public:
  static constexpr size_t kChunk = size_t{64} << 10U;
  static constexpr size_t kMostConnections = 512;  // more wait to be accepted
  // What the kernel keeps for a socket of ours at either end.
  static constexpr int kSocketBuffer = 256 << 10;
  // After stop(), for what is on its way.
  static constexpr std::chrono::milliseconds kPatience{300};

  // `init`: its pidfd. `refused` is called, by the relay's thread, when nobody inside listens any
  // more where somebody was to be connected to.
  static Result<std::unique_ptr<PortRelay>> start(int init, Workers& workers,
                                                  std::function<void()> refused);
  ~PortRelay();
  PortRelay(const PortRelay&) = delete;
  PortRelay& operator=(const PortRelay&) = delete;

  // Whoever connects to one of these listening sockets reaches `port` inside.
  void publish(uint16_t port, std::vector<Fd> listeners);
  // They are closed when this returns. Connections go on.
  void withdraw(uint16_t port);
  // Accepts nobody any more, and carries what is on its way for a moment.
  void stop();

 private:
  using Clock = std::chrono::steady_clock;
  enum Side : uint8_t { kOutside, kInside };
  // From one side to the other.
  struct Way {
    std::unique_ptr<char[]> kept;  // what the other side did not take
    size_t begin = 0, end = 0;     // of kept
    bool ended = false;            // nothing more comes
    bool empty() const { return begin == end; }
  };
  struct Connection {
    uint16_t port = 0;
    bool by_v6 = false, tried_other = false, connecting = true;
    Fd ends[2];
    Way ways[2];                   // by the side where bytes come from
    uint32_t watched[2] = {0, 0};  // events; 0: not in the epoll set
  };
  struct Listener {
    uint16_t port = 0;
    Fd socket;
    bool watched = false;
  };

  PortRelay(int init, Workers& workers, std::function<void()> refused);
  void run();
  void serve(uint64_t key, uint32_t events);
  bool obey();  // false: it is over
  void watch_listeners();
  void accept_from(Listener& listener);
  bool connect_inside(uint64_t id, Connection& connection);
  bool settle_connect(uint64_t id, Connection& connection);
  bool carry(Connection& connection, Side from);
  static bool flush(Connection& connection, Side from);
  bool watch(uint64_t id, Connection& connection);
  static void reset(Connection& connection);

  InsideSockets sockets_;
  const std::function<void()> refused_;
  const Fd events_, wake_;

  // The thread's:
  uint64_t next_ = 1;
  std::unordered_map<uint64_t, Connection> connections_;
  std::map<uint64_t, Listener> listeners_;
  std::map<uint16_t, bool> by_v6_;  // where the server was found the last time
  std::unique_ptr<char[]> buffer_;
  Clock::time_point paused_until_ = Clock::time_point::min();  // no descriptors: none is accepted
  Clock::time_point over_ = Clock::time_point::max();

  std::mutex mutex_;
  std::condition_variable done_;
  std::vector<std::pair<uint16_t, Fd>> added_;
  std::vector<uint16_t> removed_;
  bool stopping_ = false, running_ = false;
  std::optional<Workers::Owner> thread_;  // last: it uses all else
};

}  // namespace bulkhead
