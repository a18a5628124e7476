#include "sandbox/home/home_size.h"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>

#include "sandbox/home/kept_content.h"

namespace bulkhead {

namespace {

using std::chrono::seconds;

constexpr uint64_t kMiB = uint64_t{1} << 20U;
constexpr uint64_t kNoticed = 16 * kMiB;  // less room than before, so that it is worth a look
constexpr seconds kAtMost{60};            // between two looks
constexpr seconds kFirst{2};              // until the first
constexpr int kShare = 50;                // at most so much of the time is spent with looking

}  // namespace

std::optional<LimitBreached> HomeSize::look() {
  const Clock::time_point now = Clock::now();
  if (now - asked_ < seconds(1)) return std::nullopt;
  asked_ = now;
  struct statvfs about {};
  if (::statvfs(store_.c_str(), &about) != 0) return std::nullopt;
  const uint64_t room = uint64_t{about.f_bfree} * about.f_frsize;
  const auto since = now - measured_;
  if (measured_ == Clock::time_point()) {  // not while the program starts
    room_ = room;
    measured_ = now - kAtMost + kFirst;
    return std::nullopt;
  }
  const bool due = room + std::min(kNoticed, most_ / 4) <= room_ || full() || since >= kAtMost;
  if (!due || since < took_ * kShare) return std::nullopt;
  room_ = room;
  auto breach = measure();
  measured_ = Clock::now();
  took_ = measured_ - now;
  return breach;
}

std::optional<LimitBreached> HomeSize::measure() {
  const auto bytes = size_of_content(store_, kMostHomeFiles);
  full_.store(!bytes || *bytes > most_, std::memory_order_relaxed);
  if (told_ != nullptr && bytes) told_->store(*bytes, std::memory_order_relaxed);
  const uint64_t end = most_ + std::max(most_ / 4, 256 * kMiB);
  if (bytes && *bytes <= end) return std::nullopt;
  if (!bytes)
    return LimitBreached{
        LimitBreached::Which::kWritten,
        fmt::format("private home: more than {} files in {}, or folders that cannot be listed",
                    kMostHomeFiles, store_)};
  return LimitBreached{LimitBreached::Which::kWritten,
                       fmt::format("private home: {} MiB in {}, {} MiB allowed", *bytes / kMiB,
                                   store_, most_ / kMiB)};
}

}  // namespace bulkhead
