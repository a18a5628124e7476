// What a supervisor says to the person who started the editor. It goes to the server's log, which
// may be read where the person's files may, beside what the compartment writes there: so each line
// begins with a seal, and the key, which only the launcher has (vscode/launcher/said.mjs), stays.
#pragma once

#include <string>

namespace bulkhead {

// SHA-256 of both, in hexadecimal, before the text; the text alone where there is no key.
std::string sealed(const std::string& key, const std::string& text);

// The same on standard error, as one line.
void say_sealed(const std::string& key, const std::string& text);

}  // namespace bulkhead
