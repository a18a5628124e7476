// SharedChannel: two processes that take turns in one shared memory. No engine here, and no meaning
// of what is said: one slot for each direction, a sequence number that a futex waits for, a length.
//
//   page 0: Control    host's slot: SlotHeader, bytes    worker's slot: SlotHeader, bytes    shared
//
// `shared` is memory that the host's and the guest's programs both want to have, and mostly
// nothing.
//
// The memory is a memfd sealed against growing and shrinking, so that neither side can make the
// other fault. Nothing that the other side writes is read twice: a message's length is read once,
// compared with the slot, and its bytes are copied before anybody looks at them (`receive`).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bulkhead {

enum class ChannelSide : uint8_t { kHost, kWorker };

struct ChannelControl {
  alignas(64) std::atomic<uint32_t> host_sleeps;
  alignas(64) std::atomic<uint32_t> worker_sleeps;
  // The number of the turn that the host wants ended; the worker's watchdog waits for it.
  alignas(64) std::atomic<uint32_t> terminate;
  alignas(64) std::atomic<uint32_t> ready;
  // What the worker says of its own end, before it. A hint for an error's class, never more.
  std::atomic<uint32_t> last_words;
  // Pages behind the slots. The host writes it, once, and does not read it again.
  std::atomic<uint32_t> shared_pages;
};

enum class LastWords : uint32_t { kNone = 0, kMemory = 1, kProtocol = 2 };

struct SlotHeader {
  std::atomic<uint32_t> sequence;
  uint32_t length;
};

inline constexpr size_t kChannelPage = 4096;
inline constexpr size_t kLeastSlot = 64 << 10;
inline constexpr size_t kMostSlot = 1 << 30;
inline constexpr size_t kMostShared = 1 << 30;

uint64_t monotonic_ns();
void pause_processor();

class SharedChannel {
 public:
  SharedChannel() = default;
  SharedChannel(const SharedChannel&) = delete;
  SharedChannel& operator=(const SharedChannel&) = delete;
  ~SharedChannel();

  // A sealed memfd for messages of up to `slot` bytes, and `shared` bytes more, in whole pages; -1
  // and errno.
  static int make_memory(size_t slot, size_t shared = 0);

  // Maps it. False (errno tells) where it is not a channel's memory. `fd` stays the caller's.
  bool attach(int fd, ChannelSide side);
  void detach();
  bool attached() const { return base_ != nullptr; }

  size_t capacity() const { return capacity_; }
  std::span<uint8_t> shared() const { return {base_ + size_ - shared_, shared_}; }
  ChannelControl& control() { return *reinterpret_cast<ChannelControl*>(base_); }

  // Where a message of ours is written; nobody reads it before send().
  std::span<uint8_t> outgoing() { return {bytes_of(out_), capacity_}; }
  void send(size_t length);

  // Did the other side send since the last receive()?
  bool has_message() const { return in_->sequence.load(std::memory_order_acquire) != received_; }
  // Spins for a message while that promises to be shorter than sleeping.
  bool spin();
  // Sleeps until there is a message, somebody calls nudge(), or the time is over.
  void sleep(uint64_t nanoseconds);
  // Wakes a thread of this process that sleeps here.
  void nudge();
  // Takes note of the message: its length, or SIZE_MAX where it cannot be one.
  size_t receive();
  const uint8_t* incoming() const { return bytes_of(in_); }

 private:
  static uint8_t* bytes_of(SlotHeader* slot) {
    return reinterpret_cast<uint8_t*>(slot) + sizeof(SlotHeader);
  }
  std::atomic<uint32_t>& sleeps() {
    return side_ == ChannelSide::kHost ? control().host_sleeps : control().worker_sleeps;
  }
  std::atomic<uint32_t>& peer_sleeps() {
    return side_ == ChannelSide::kHost ? control().worker_sleeps : control().host_sleeps;
  }

  uint8_t* base_ = nullptr;
  size_t size_ = 0, capacity_ = 0, shared_ = 0;
  SlotHeader* out_ = nullptr;
  SlotHeader* in_ = nullptr;
  ChannelSide side_ = ChannelSide::kHost;
  uint32_t sent_ = 0, received_ = 0;
  bool alone_ = false;   // one processor: whoever spins keeps the other from answering
  uint32_t misses_ = 0;  // in a row
  uint32_t skip_ = 0;    // this many waits more without spinning
};

// futex(2) between processes; `nanoseconds` 0: no end.
void futex_wait(std::atomic<uint32_t>& word, uint32_t value, uint64_t nanoseconds);
void futex_wake(std::atomic<uint32_t>& word);

}  // namespace bulkhead
