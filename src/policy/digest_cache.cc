#include "policy/digest_cache.h"

#include <fcntl.h>
#include <sodium.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <string_view>

#include "base/fd.h"
#include "base/path.h"

namespace bulkhead {
namespace {

// The file: kMagic, records, a hash of both. In this machine's byte order: it never leaves it.
constexpr std::string_view kMagic = "bulkhead digests 1\n";
constexpr size_t kRecord = 5 * sizeof(uint64_t) + sizeof(Digest);
constexpr size_t kCheck = crypto_generichash_BYTES;
constexpr size_t kMaxFile = size_t{64} << 20U;

int64_t nanoseconds(const struct timespec& time) {
  return static_cast<int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

// Tells a truncated or damaged file apart; against forgery there are its mode and the blocklist.
std::array<unsigned char, kCheck> check_of(std::string_view bytes) {
  std::array<unsigned char, kCheck> check{};
  crypto_generichash(check.data(), check.size(),
                     reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), nullptr,
                     0);
  return check;
}

void put(std::string* out, const void* data, size_t size) {
  out->append(static_cast<const char*>(data), size);
}

}  // namespace

FileKey key_of(const struct stat& status) {
  return {.device = status.st_dev,
          .inode = status.st_ino,
          .size = static_cast<uint64_t>(status.st_size),
          .modified = nanoseconds(status.st_mtim),
          .changed = nanoseconds(status.st_ctim)};
}

DigestCache::DigestCache(std::string file, std::chrono::nanoseconds settle)
    : file_(std::move(file)) {
  struct timespec now {};
  ::clock_gettime(CLOCK_REALTIME, &now);
  settled_before_ = nanoseconds(now) - settle.count();
  if (!file_.empty()) load();
}

void DigestCache::load() {
  const Fd fd(::open(file_.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  if (status.st_uid != ::geteuid() || (status.st_mode & 0077U) != 0) return;
  const auto size = static_cast<size_t>(status.st_size);
  if (size < kMagic.size() + kCheck || size > kMaxFile ||
      (size - kMagic.size() - kCheck) % kRecord != 0)
    return;
  std::string bytes(size, '\0');
  size_t got = 0;
  while (got < size) {
    const ssize_t n = ::read(fd.get(), bytes.data() + got, size - got);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    got += static_cast<size_t>(n);
  }
  const std::string_view body = std::string_view(bytes).substr(0, size - kCheck);
  const auto check = check_of(body);
  if (!body.starts_with(kMagic) || std::memcmp(check.data(), body.end(), kCheck) != 0) return;
  const char* at = body.data() + kMagic.size();
  const auto take = [&at](void* into, size_t length) {
    std::memcpy(into, at, length);
    at += length;
  };
  std::vector<Record> records((body.size() - kMagic.size()) / kRecord);
  for (Record& record : records) {
    take(&record.key.device, sizeof record.key.device);
    take(&record.key.inode, sizeof record.key.inode);
    take(&record.key.size, sizeof record.key.size);
    take(&record.key.modified, sizeof record.key.modified);
    take(&record.key.changed, sizeof record.key.changed);
    take(record.digest.data(), record.digest.size());
  }
  const auto less = [](const Record& a, const Record& b) { return a.key < b.key; };
  if (std::is_sorted(records.begin(), records.end(), less)) records_ = std::move(records);
}

const Digest* DigestCache::find(const FileKey& key) {
  const auto found = std::lower_bound(
      records_.begin(), records_.end(), key,
      [](const Record& record, const FileKey& wanted) { return record.key < wanted; });
  if (found == records_.end() || found->key != key) return nullptr;
  found->used = true;
  return &found->digest;
}

void DigestCache::add(const FileKey& key, const Digest& digest) {
  if (key.changed <= settled_before_) added_.push_back({key, digest, true});
}

void DigestCache::save() {
  const bool stale = std::any_of(records_.begin(), records_.end(),
                                 [](const Record& record) { return !record.used; });
  if (file_.empty() || (added_.empty() && !stale)) return;
  std::erase_if(records_, [](const Record& record) { return !record.used; });
  records_.insert(records_.end(), added_.begin(), added_.end());
  added_.clear();
  std::sort(records_.begin(), records_.end(),
            [](const Record& a, const Record& b) { return a.key < b.key; });
  // Two names of one file.
  records_.erase(std::unique(records_.begin(), records_.end(),
                             [](const Record& a, const Record& b) { return a.key == b.key; }),
                 records_.end());
  std::string bytes(kMagic);
  bytes.reserve(kMagic.size() + records_.size() * kRecord + kCheck);
  for (const Record& record : records_) {
    put(&bytes, &record.key.device, sizeof record.key.device);
    put(&bytes, &record.key.inode, sizeof record.key.inode);
    put(&bytes, &record.key.size, sizeof record.key.size);
    put(&bytes, &record.key.modified, sizeof record.key.modified);
    put(&bytes, &record.key.changed, sizeof record.key.changed);
    put(&bytes, record.digest.data(), record.digest.size());
  }
  const auto check = check_of(bytes);
  put(&bytes, check.data(), check.size());
  if (!make_directories(std::string(parent_of(file_)), 0700).ok()) return;
  static_cast<void>(write_file_atomically(file_, bytes, 0600));
}

}  // namespace bulkhead
