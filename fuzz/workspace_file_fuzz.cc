// A .code-workspace file, which anybody may have written: what it names is canonical, is there, and
// never the home folder or what holds it.

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/path.h"
#include "require.h"
#include "vscode/workspace_folders.h"

namespace {

using namespace bulkhead;

// A folder of this process, with two folders in it.
struct Place {
  std::string root;
  Place() {
    std::string name = "/dev/shm/workspace-XXXXXX";
    root = ::mkdtemp(name.data());
    std::filesystem::create_directories(root + "/users/a/b");
    std::filesystem::create_directories(root + "/c");
  }
  ~Place() { std::filesystem::remove_all(root); }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Place place;
  const std::string file = place.root + "/users/w", home = place.root + "/users";
  {
    std::ofstream out(file, std::ios::trunc);
    out.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  }
  const auto folders = workspace_folders("", file, {{home}, ""});
  if (!folders.ok()) return 0;
  for (const std::string& each : *folders) {
    require(is_canonical(each), "a folder is canonical", each);
    require(std::filesystem::is_directory(each), "a folder is there", each);
    require(!is_within(home, each), "the home folder is not handed over", each);
  }
  return 0;
}
