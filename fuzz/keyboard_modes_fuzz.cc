// What a program writes to its terminal: in whatever parts it comes, the same modes are told again,
// in few bytes; and telling them again changes nothing.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "require.h"
#include "terminal/keyboard_modes.h"

using namespace bulkhead;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const int set = ::setenv("TERM", "xterm", 1);
  static_cast<void>(set);
  const std::string_view output(reinterpret_cast<const char*>(data), size);
  KeyboardModes whole, parts;
  whole.follow(output);
  for (size_t at = 0; at < size; at += 3) parts.follow(output.substr(at, 3));
  require(whole.again() == parts.again(), "parts make no difference");
  require(whole.plain().size() + whole.again().size() < 512, "little is told");
  const std::string again = whole.again();
  whole.follow("\030" + whole.plain() + again);
  require(whole.again() == again, "what is told again is as before");
  return 0;
}
