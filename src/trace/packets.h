// Packets: what several processes decide, kept in one journal by one of them. Each packet is one
// message of a SOCK_SEQPACKET pair, whole or not at all: a letter and texts, a zero byte before
// each. What was sent is there even where the writer is killed right after.
//
//   R subject command workspace                            whose journal that is; once, first
//   D kind verdict resource rule pid program detail count  a decision, as often as count says
//   W pid name                                             decisions of that process are name's
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "trace/journal.h"

namespace bulkhead {

// The writer: of a supervisor whose compartment is one among many. Only what was refused is sent.
// The first time at once: whoever is refused waits until it is told, a second at the most. How
// often again every 100 ms at most, by who is refused next. Bounded: beyond kMostDistinct refusals
// the rest is one.
class PacketJournal final : public Journal {
 public:
  static constexpr size_t kMostDistinct = 512;

  // Takes no ownership: `fd` outlives it.
  explicit PacketJournal(int fd) : fd_(fd) {}

  void record(Event event) override;
  Status flush() override;
  Status finish(const std::string& outcome) override;
  std::vector<Event> denied() const override { return {}; }

 private:
  using Clock = std::chrono::steady_clock;
  void send_pending();

  const int fd_;
  std::mutex mutex_;
  std::map<std::string, uint64_t> pending_;  // by packet: how often it is still to be told
  Clock::time_point told_;
  bool is_kept_ = true;  // there is somebody who takes packets
};

// The reader: until nobody writes any more. The file is opened with the first decision.
Status keep_journal(int fd, const std::string& file);

}  // namespace bulkhead
