#include "policy/package.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <memory>

#include "base/fd.h"
#include "base/hex.h"
#include "base/json.h"
#include "base/path.h"
#include "policy/digest_cache.h"

namespace bulkhead {
namespace {

// One line of the list that the package's digest is made of.
struct Item {
  std::string path;  // below the folder
  char kind = 'f';   // 'f' file, 'x' executable file, 'l' symbolic link
  Digest digest{};
};

Digest sha256(std::string_view bytes) {
  Digest digest;
  crypto_hash_sha256(digest.data(), reinterpret_cast<const unsigned char*>(bytes.data()),
                     bytes.size());
  return digest;
}

// VS Code notes in package.json when it installed a package. The same package, installed
// again, is the same for who reviewed it: the digits of that note count as one zero, and
// nothing else differs.
std::string without_time_of_installation(std::string text) {
  constexpr std::string_view kMember = "\"installedTimestamp\":";
  constexpr size_t kMostDigits = 16;
  const size_t at = text.rfind(kMember);
  if (at == std::string::npos) return text;
  size_t start = at + kMember.size();
  if (start < text.size() && text[start] == ' ') ++start;
  size_t end = start;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  if (end > start && end - start <= kMostDigits) text.replace(start, end - start, "0");
  return text;
}

bool same_file(const struct stat& a, const struct stat& b) { return key_of(a) == key_of(b); }

class Walker {
 public:
  Walker(const std::string& folder, const PackageLimits& limits, DigestCache& cache)
      : folder_(folder), limits_(limits), cache_(cache) {}

  Status walk() {
    Fd fd(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!fd) return errno_error("open the extension's folder " + folder_);
    return walk_folder(std::move(fd), "", 0);
  }

  // The bytes of a file at the top of the package; nullopt where there is none.
  const std::optional<std::string>& package_json() const { return package_json_; }
  const std::optional<std::string>& translations() const { return translations_; }
  const std::optional<std::string>& manifest() const { return manifest_; }

  std::string digest() {
    std::sort(items_.begin(), items_.end(),
              [](const Item& a, const Item& b) { return a.path < b.path; });
    // Each part has a fixed length or is preceded by it, so that no two lists have one text.
    std::string text = "bulkhead package 1\n";
    for (const Item& item : items_) {
      const uint64_t size = item.path.size();
      for (unsigned shift = 0; shift < 64; shift += 8)
        text += static_cast<char>(static_cast<unsigned char>(size >> shift));
      text += item.path;
      text += item.kind;
      text.append(reinterpret_cast<const char*>(item.digest.data()), item.digest.size());
    }
    return hex(sha256(text));
  }
  size_t files() const { return items_.size(); }
  uint64_t bytes() const { return bytes_; }
  size_t hashed() const { return hashed_; }

 private:
  Error error(const std::string& path, std::string_view what, int number) const {
    return Error{fmt::format("cannot read the package {}: {} {}", folder_,
                             escape_for_display(path.empty() ? "." : path), what),
                 number};
  }
  Error system_error(const std::string& path, const char* verb) const {
    return errno_error(
        fmt::format("{} {} in the package {}", verb, escape_for_display(path), folder_));
  }

  Status walk_folder(Fd fd, const std::string& prefix, int depth) {
    if (depth > limits_.depth)
      return error(prefix, fmt::format("lies deeper than {} folders", limits_.depth), ELOOP);
    const auto close = [](DIR* dir) { ::closedir(dir); };
    const std::unique_ptr<DIR, decltype(close)> dir(::fdopendir(fd.get()), close);
    if (!dir) return system_error(prefix, "list");
    const int at = fd.release();  // `dir` owns it
    for (;;) {
      errno = 0;
      const struct dirent* entry = ::readdir(dir.get());
      if (entry == nullptr) break;
      const char* name = entry->d_name;
      if (std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0) continue;
      if (++seen_ > limits_.files)
        return error(prefix, fmt::format("has more than {} files", limits_.files), E2BIG);
      BULKHEAD_CHECK(visit(at, name, prefix.empty() ? name : prefix + "/" + name, depth));
    }
    if (errno != 0) return system_error(prefix, "list");
    return {};
  }

  Status visit(int at, const char* name, std::string path, int depth) {
    struct stat status {};
    if (::fstatat(at, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return system_error(path, "stat");
    if (S_ISDIR(status.st_mode)) {
      Fd fd(::openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (!fd) return system_error(path, "open");
      return walk_folder(std::move(fd), path, depth + 1);
    }
    Item item;
    if (S_ISLNK(status.st_mode)) {
      std::array<char, PATH_MAX> target{};
      const ssize_t size = ::readlinkat(at, name, target.data(), target.size());
      if (size < 0) return system_error(path, "read the link");
      item.kind = 'l';
      item.digest = sha256({target.data(), static_cast<size_t>(size)});
    } else if (S_ISREG(status.st_mode)) {
      item.kind = (status.st_mode & 0111U) != 0 ? 'x' : 'f';
      BULKHEAD_TRY(item.digest, digest_of(at, name, path, status));
    } else {
      return error(path, "is neither a file nor a folder nor a symbolic link", EINVAL);
    }
    item.path = std::move(path);
    items_.push_back(std::move(item));
    return {};
  }

  // Where the bytes are wanted, not their digest alone.
  std::optional<std::string>* wanted(const std::string& path) {
    if (path == "package.json") return &package_json_;
    if (path == "package.nls.json") return &translations_;
    if (path == "bulkhead.json") return &manifest_;
    return nullptr;
  }

  Result<Digest> digest_of(int at, const char* name, const std::string& path,
                           const struct stat& status) {
    const auto size = static_cast<uint64_t>(status.st_size);
    bytes_ += size;
    if (bytes_ > limits_.bytes || size > limits_.bytes)
      return error(".", fmt::format("holds more than {} bytes", limits_.bytes), EFBIG);
    std::optional<std::string>* content = wanted(path);
    if (content == nullptr)
      if (const Digest* known = cache_.find(key_of(status)); known != nullptr) return *known;

    const Fd fd(::openat(at, name, O_RDONLY | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
    if (!fd) return system_error(path, "open");
    struct stat before {
    }, after{};
    if (::fstat(fd.get(), &before) != 0) return system_error(path, "stat");
    if (!S_ISREG(before.st_mode) || !same_file(status, before))
      return error(path, "changed while it was read", EAGAIN);
    const size_t limit = path == "bulkhead.json" ? json::kMaxBytes : kMaxPackageJson;
    if (content != nullptr && size > limit)
      return error(path, fmt::format("is larger than {} bytes", limit), EFBIG);
    if (content != nullptr) content->emplace();
    crypto_hash_sha256_state state;
    crypto_hash_sha256_init(&state);
    uint64_t left = size;
    for (;;) {
      const ssize_t n = ::read(fd.get(), buffer_.data(), buffer_.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return system_error(path, "read");
      if (n == 0) break;
      const auto got = static_cast<size_t>(n);
      if (got > left) return error(path, "changed while it was read", EAGAIN);
      left -= got;
      crypto_hash_sha256_update(&state, buffer_.data(), got);
      if (content != nullptr)
        (*content)->append(reinterpret_cast<const char*>(buffer_.data()), got);
    }
    if (::fstat(fd.get(), &after) != 0) return system_error(path, "stat");
    if (left != 0 || !same_file(before, after))
      return error(path, "changed while it was read", EAGAIN);
    Digest digest;
    crypto_hash_sha256_final(&state, digest.data());
    if (content == nullptr) {
      ++hashed_;
      cache_.add(key_of(before), digest);
    } else if (content == &package_json_) {
      digest = sha256(without_time_of_installation(*package_json_));
    }
    return digest;
  }

  const std::string& folder_;
  const PackageLimits& limits_;
  DigestCache& cache_;
  std::vector<Item> items_;
  std::optional<std::string> package_json_, translations_, manifest_;
  size_t seen_ = 0, hashed_ = 0;
  uint64_t bytes_ = 0;
  std::vector<unsigned char> buffer_ = std::vector<unsigned char>(size_t{1} << 18U);
};

}  // namespace

Result<Package> read_package(const std::string& folder, const std::string& cache_file,
                             const PackageLimits& limits) {
  if (!is_canonical(folder))
    return Error{
        fmt::format("cannot read the package {}: no canonical path", escape_for_display(folder)),
        EINVAL};
  const auto no_extension = [&] {
    return Error{fmt::format("{} is no extension: it has no package.json of its own",
                             escape_for_display(folder)),
                 ENOENT};
  };
  // Before all of somebody's disk is read for the folder that was named by mistake.
  struct stat status {};
  if (::stat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
      ::lstat((folder + "/package.json").c_str(), &status) != 0 && errno == ENOENT)
    return no_extension();
  DigestCache cache(cache_file, limits.settle);
  Walker walker(folder, limits, cache);
  BULKHEAD_CHECK(walker.walk());
  if (!walker.package_json()) return no_extension();
  Package package;
  BULKHEAD_TRY(static_cast<PackageJson&>(package),
               parse_package_json(folder + "/package.json", *walker.package_json(),
                                  walker.translations().value_or("")));
  package.folder = folder;
  package.digest = walker.digest();
  package.files = walker.files();
  package.bytes = walker.bytes();
  package.hashed = walker.hashed();
  if (walker.manifest())
    package.manifest = ManifestBytes::of(folder + "/bulkhead.json", *walker.manifest());
  cache.save();
  return package;
}

std::string package_cache_file(const Places& places, const std::string& folder) {
  const std::string name = ManifestBytes::of("", folder).digest();
  return places.state + "/packages/" + name.substr(0, 32);
}

}  // namespace bulkhead
