// What verbs say: on standard output, and as "bulkhead: …" on standard error.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "terminal/display.h"  // IWYU pragma: export

namespace bulkhead {

// As escape_for_display, but for backslashes: they are a shell's or JSON's in text that was quoted
// to be copied, or stand for what was escaped before.
std::string escape_quoted(std::string_view text);

// Writes all of it; false where nobody reads any more.
bool write_all(int fd, std::string_view text);

// What a verb has to say, on standard output; complains and returns false where it cannot.
bool print(std::string_view text);

// "bulkhead: …" on standard error, escaped, one line per diagnostic.
void complain(std::string_view message);
void complain(const Error& error);

}  // namespace bulkhead
