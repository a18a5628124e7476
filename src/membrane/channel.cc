#include "membrane/channel.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>

namespace bulkhead {
namespace {

// A sleeping processor takes 75 µs to wake, an answer mostly one.
constexpr uint64_t kSpin = 50'000;
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

size_t whole_pages(size_t bytes) { return (bytes + kChannelPage - 1) & ~(kChannelPage - 1); }

}  // namespace

uint64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<uint64_t>(now.tv_nsec);
}

void pause_processor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

void futex_wait(std::atomic<uint32_t>& word, uint32_t value, uint64_t nanoseconds) {
  const timespec time{.tv_sec = static_cast<time_t>(nanoseconds / 1'000'000'000U),
                      .tv_nsec = static_cast<long>(nanoseconds % 1'000'000'000U)};
  ::syscall(SYS_futex, &word, FUTEX_WAIT, value, nanoseconds == 0 ? nullptr : &time, nullptr, 0);
}

void futex_wake(std::atomic<uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

int SharedChannel::make_memory(size_t slot, size_t shared) {
  slot = whole_pages(std::clamp(slot, kLeastSlot, kMostSlot) + sizeof(SlotHeader));
  shared = whole_pages(std::min(shared, kMostShared));
  ChannelControl control{};
  control.shared_pages.store(static_cast<uint32_t>(shared / kChannelPage));
  const int fd = ::memfd_create("bulkhead-channel", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return -1;
  if (::ftruncate(fd, static_cast<off_t>(kChannelPage + 2 * slot + shared)) != 0 ||
      ::pwrite(fd, &control, sizeof control, 0) != sizeof control ||
      ::fcntl(fd, F_ADD_SEALS, kSeals) != 0) {
    const int error = errno;
    ::close(fd);
    errno = error;
    return -1;
  }
  return fd;
}

SharedChannel::~SharedChannel() { detach(); }

void SharedChannel::detach() {
  if (base_ != nullptr) ::munmap(base_, size_);
  base_ = nullptr;
}

bool SharedChannel::attach(int fd, ChannelSide side) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return false;
  const auto size = static_cast<size_t>(status.st_size);
  uint32_t pages = 0;
  if (::pread(fd, &pages, sizeof pages, offsetof(ChannelControl, shared_pages)) != sizeof pages)
    return false;
  const size_t shared = pages * kChannelPage;
  const size_t slot = size > kChannelPage + shared ? (size - kChannelPage - shared) / 2 : 0;
  if (shared > kMostShared || slot < kLeastSlot || slot > kMostSlot + kChannelPage ||
      slot % kChannelPage != 0 || (::fcntl(fd, F_GET_SEALS) & kSeals) != kSeals) {
    errno = EINVAL;
    return false;
  }
  void* base = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) return false;
  base_ = static_cast<uint8_t*>(base);
  size_ = size;
  capacity_ = slot - sizeof(SlotHeader);
  shared_ = shared;
  side_ = side;
  auto* const host = reinterpret_cast<SlotHeader*>(base_ + kChannelPage);
  auto* const worker = reinterpret_cast<SlotHeader*>(base_ + kChannelPage + slot);
  out_ = side == ChannelSide::kHost ? host : worker;
  in_ = side == ChannelSide::kHost ? worker : host;
  cpu_set_t processors;
  alone_ =
      ::sched_getaffinity(0, sizeof processors, &processors) == 0 && CPU_COUNT(&processors) < 2;
  return true;
}

void SharedChannel::send(size_t length) {
  out_->length = static_cast<uint32_t>(length);
  out_->sequence.store(++sent_, std::memory_order_seq_cst);
  if (peer_sleeps().load(std::memory_order_seq_cst) != 0) futex_wake(out_->sequence);
}

bool SharedChannel::spin() {
  if (has_message()) return true;
  if (alone_) return false;
  if (skip_ > 0) {
    --skip_;
    return false;
  }
  // A short answer is there before the clock would have been read.
  for (uint64_t begin = 0;;) {
    for (int i = 0; i < 32; ++i) {
      if (has_message()) {
        misses_ = 0;
        return true;
      }
      pause_processor();
    }
    const uint64_t now = monotonic_ns();
    if (begin == 0) begin = now;
    if (now - begin >= kSpin) break;
  }
  // Whoever answers late, or never gets a processor beside us, is waited for asleep.
  misses_ = std::min(misses_ + 1, 6U);
  skip_ = (1U << misses_) - 1;
  return false;
}

void SharedChannel::sleep(uint64_t nanoseconds) {
  sleeps().store(1, std::memory_order_seq_cst);
  if (in_->sequence.load(std::memory_order_seq_cst) == received_)
    futex_wait(in_->sequence, received_, nanoseconds);
  sleeps().store(0, std::memory_order_relaxed);
}

void SharedChannel::nudge() { futex_wake(in_->sequence); }

size_t SharedChannel::receive() {
  received_ = in_->sequence.load(std::memory_order_acquire);
  const uint32_t length = *const_cast<volatile uint32_t*>(&in_->length);
  return length <= capacity_ ? length : SIZE_MAX;
}

}  // namespace bulkhead
