#include "policy/homes.h"

#include <dirent.h>
#include <fmt/core.h>
#include <pwd.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "base/path.h"
#include "policy/links.h"

namespace bulkhead {
namespace {

constexpr uid_t kFirstPerson = 1000;  // of Debian, Fedora and others (login.defs)
constexpr size_t kMostListed = 4096;  // a machine of more people has their homes elsewhere

// Nobody means the whole of them by "this project". Programs of the machine, and what all users
// share: in /tmp programs outside leave sockets to be commanded by.
constexpr std::array<std::string_view, 24> kShared = {
    "/",      "/bin",   "/boot",      "/dev",  "/dev/shm",   "/etc",      "/home",    "/lib",
    "/lib64", "/media", "/mnt",       "/proc", "/run",       "/run/user", "/sbin",    "/sys",
    "/tmp",   "/usr",   "/usr/local", "/var",  "/var/cache", "/var/lib",  "/var/log", "/var/tmp"};

void add_home(const struct passwd& entry, std::vector<std::string>& homes) {
  if (entry.pw_dir == nullptr || entry.pw_dir[0] != '/') return;
  struct stat status {};
  if (::stat(entry.pw_dir, &status) != 0 || !S_ISDIR(status.st_mode)) return;
  const bool person = entry.pw_uid == 0 || entry.pw_uid >= kFirstPerson;
  if (person || status.st_uid == entry.pw_uid)
    homes.push_back(follow_links(normalize(entry.pw_dir)));
}

}  // namespace

HomeSources home_sources() {
  HomeSources sources;
  if (const char* user = std::getenv("SUDO_USER"); user != nullptr) sources.user = user;
  return sources;
}

std::vector<std::string> find_homes(const HomeSources& sources) {
  std::vector<std::string> homes;
  std::array<char, 16384> buffer{};
  struct passwd entry {};
  struct passwd* found = nullptr;
  bool knows_user = sources.user.empty();
  const auto close_file = [](FILE* open) { std::fclose(open); };
  const std::unique_ptr<FILE, decltype(close_file)> file(std::fopen(sources.passwd.c_str(), "re"),
                                                         close_file);
  while (file && ::fgetpwent_r(file.get(), &entry, buffer.data(), buffer.size(), &found) == 0) {
    add_home(entry, homes);
    knows_user = knows_user || entry.pw_name == sources.user;
  }
  if (!knows_user &&
      ::getpwnam_r(sources.user.c_str(), &entry, buffer.data(), buffer.size(), &found) == 0 &&
      found != nullptr)
    add_home(entry, homes);
  const auto close_folder = [](DIR* open) { ::closedir(open); };
  const std::unique_ptr<DIR, decltype(close_folder)> folder(::opendir(sources.homes.c_str()),
                                                            close_folder);
  size_t listed = 0;
  while (folder && listed++ < kMostListed) {
    const struct dirent* each = ::readdir(folder.get());
    if (each == nullptr) break;
    const std::string name = each->d_name;
    if (name == "." || name == ".." || each->d_type == DT_REG) continue;
    const std::string path = follow_links(join(sources.homes, name));
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) homes.push_back(path);
  }
  std::sort(homes.begin(), homes.end());
  homes.erase(std::unique(homes.begin(), homes.end()), homes.end());
  std::erase(homes, "/");
  return homes;
}

std::vector<std::string> homes_with(const std::string& own) {
  std::vector<std::string> homes = find_homes(home_sources());
  homes.push_back(own);
  return homes;
}

std::string why_no_project(std::string_view folder, std::span<const std::string> homes) {
  if (std::find(kShared.begin(), kShared.end(), folder) != kShared.end())
    return "is shared by all of the machine";
  for (const std::string& home : homes)
    if (is_within(home, folder))
      return home == folder ? "is a home folder" : fmt::format("holds the home folder {}", home);
  return {};
}

}  // namespace bulkhead
