// Any bytes as package.json and, after a NUL, as its translations; and as a list of approvals. What
// is taken over is an id that can name a file, and nothing without a bound.

#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/fd.h"
#include "policy/extension_id.h"
#include "policy/package.h"
#include "policy/reviews.h"
#include "require.h"

namespace {

using namespace bulkhead;

// One file for all inputs of a process.
const std::string& approvals_file() {
  static const std::string file = [] {
    std::string folder = "/dev/shm/bulkhead-fuzz-XXXXXX";
    require(::mkdtemp(folder.data()) != nullptr, "a folder can be made");
    static std::string made = folder + "/reviews.json";
    std::atexit([] {
      ::unlink(made.c_str());
      ::rmdir(made.substr(0, made.rfind('/')).c_str());
    });
    return made;
  }();
  return file;
}

void write_file(const std::string& file, const std::string& text) {
  std::FILE* out = std::fopen(file.c_str(), "wb");
  require(out != nullptr, "the file can be opened");
  std::fwrite(text.data(), 1, text.size(), out);
  std::fclose(out);
  ::chmod(file.c_str(), 0600);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const size_t cut = text.find('\0');
  const std::string bytes = text.substr(0, cut);
  const auto read = parse_package_json(
      "f", bytes, cut == std::string::npos ? std::string() : text.substr(cut + 1));
  if (read.ok()) {
    require(is_extension_id(read->id) && lower_case(read->spelling) == read->id, "it has an id");
    require(read->id.find('/') == std::string::npos && read->id[0] != '.', "it can name a file");
    require(!read->display_name.empty() && read->display_name.size() <= 256, "it has a name");
    require(read->version.size() <= 256, "its version is short");
    require(read->main.size() <= 4096 && read->browser.size() <= 4096, "its entries are short");
    for (const std::string& each : read->dependencies)
      require(is_extension_id(each) && lower_case(each) == each, "dependencies are ids");
    require(read->dependencies.size() <= 1000 && read->typescript_plugins.size() <= 1000,
            "lists are bounded");
  } else {
    for (const char c : to_string(read.error()))
      require(c == '\n' || static_cast<unsigned char>(c) >= 0x20, "messages hold no control bytes");
  }

  write_file(approvals_file(), text);
  const auto approvals = ReviewStore(approvals_file()).list();
  if (approvals.ok())
    for (const Approval& each : *approvals) {
      require(is_extension_id(each.id), "an approval has an id");
      require(each.package.size() == 64, "an approval is of one package");
      require(each.manifest.digest() == ManifestBytes::of("", each.manifest.bytes()).digest(),
              "an approval's digest is that of its bytes");
    }
  return 0;
}
