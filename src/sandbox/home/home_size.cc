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
  const uint64_t end = most_ + std::max(most_ / 4, 256 * kMiB);
  const uint64_t end_files = most_files_ + std::max(most_files_ / 4, kHomeFilesAbove);
  const auto size = size_of_content(store_, end_files);
  full_.store(!size || size->bytes > most_ || size->files > most_files_, std::memory_order_relaxed);
  if (told_ != nullptr && size) told_->store(size->bytes, std::memory_order_relaxed);
  if (size && size->bytes <= end && size->files <= end_files) return std::nullopt;
  std::string what = fmt::format("folders in {} that cannot be listed", store_);
  if (size && size->files > end_files)
    what = fmt::format("more than {} files in {}, {} allowed", end_files, store_, most_files_);
  else if (size)
    what = fmt::format("{} MiB in {}, {} MiB allowed", size->bytes / kMiB, store_, most_ / kMiB);
  return LimitBreached{LimitBreached::Which::kWritten, "private home: " + what};
}

}  // namespace bulkhead
