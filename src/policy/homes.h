// Homes: the home folders of this machine's people, whoever runs bulkhead, and the folders that
// nobody means by "this project". Reads the password file and /home: root, and programs in
// containers, work in the home of somebody else.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bulkhead {

// Where to look; tests look elsewhere.
struct HomeSources {
  std::string passwd = "/etc/passwd";
  std::string homes = "/home";  // each folder in it is taken for a home
  std::string user;             // one more, whom another name service may know: SUDO_USER
};
HomeSources home_sources();

// Canonical, sorted, each once, never "/". Of those in the password file the ones of people and of
// root, and those that belong to the user whose they are (a database's). What other name services
// know is not listed, which can take long and is mostly not allowed; their homes are in /home too.
std::vector<std::string> find_homes(const HomeSources& sources);

// The machine's, and `own` (canonical), which it may not list.
std::vector<std::string> homes_with(const std::string& own);

// Why `folder` (canonical) is no project unless somebody says so: "holds the home folder /home/me",
// "is shared by all of the machine". Empty where it may be one. `homes`: as of find_homes(), and
// whichever else counts.
std::string why_no_project(std::string_view folder, std::span<const std::string> homes);

}  // namespace bulkhead
