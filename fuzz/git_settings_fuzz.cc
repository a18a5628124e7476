// Any bytes as ~/.gitconfig: what is handed on reads as itself, names what is known to be harmless,
// and no program, address or file of the user's choice but the two that are decided on when opened.

#include <cstdint>
#include <string>
#include <string_view>

#include "policy/git_settings.h"
#include "require.h"

using namespace bulkhead;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto kept = harmless_git_settings(text);
  if (!kept.ok()) return 0;
  const auto again = harmless_git_settings(*kept);
  require(again.ok() && *again == *kept, "what was written is read as what was meant");
  // Two lines for each: a section that is known, and a setting in it.
  std::string_view rest = *kept;
  for (bool header = true; !rest.empty(); header = !header) {
    const size_t end = rest.find('\n');
    require(end != rest.npos, "lines end");
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    if (header) {
      require(line.starts_with('[') && line.ends_with(']'), "a section's line");
      for (const std::string_view other : {"[url", "[credential", "[http", "[include", "[alias",
                                           "[remote", "[sendemail", "[includeif"})
        require(!line.starts_with(other), "a section of no secrets and no programs");
      require(!line.starts_with("[filter") || line == "[filter \"lfs\"]", "git-lfs alone");
    } else {
      require(line.starts_with('\t') && line.ends_with('"'), "a setting's line");
      for (const char c : line.substr(1))
        require(static_cast<unsigned char>(c) >= 0x20, "no control bytes");
    }
  }
  return 0;
}
