// JsonText: what can be told of a JSON text without building a tree of it: cheap, and safe against
// texts that are made to be costly. Pure.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bulkhead {

// Building, copying and writing a tree recurse, and looking a member up is linear in an object: a
// text beyond these is not built. VS Code's own messages stay far below.
inline constexpr size_t kMaxJsonDepth = 200;
inline constexpr size_t kMaxJsonMembers = 20000;     // of one object
inline constexpr size_t kMaxJsonValues = 4U << 20U;  // "{}," is three bytes, and sixty in a tree

// True where no value is nested deeper, no object larger and all together no more than that. The
// text need not be valid otherwise: whoever parses it will tell.
bool is_moderate(std::string_view json) noexcept;

// The elements of the array that the text is, without the space around them; nullopt where it is no
// array, is not moderate or ends within. An element may be invalid itself, and where the whole is
// valid JSON, the elements are those that every reader sees.
std::optional<std::vector<std::string_view>> split_array(std::string_view json);

// Whether `word` stands anywhere in the text.
bool holds(std::string_view text, std::string_view word) noexcept;

// VS Code's own writer has an escape ("\\ud83d") for half of a surrogate pair, as a text may be cut
// off to; no UTF-8 has it, and what holds one cannot be built. Makes each the sign for what is
// none, in its place and as long. False where there is none. Not for what a host says: to VS Code
// two such halves are two names.
bool replace_halves(std::span<char> json) noexcept;

// True where a member of some object may be called one of the keys, which are letters only: as it
// is, or with a letter written as \u00XX, which is the same to a reader.
bool may_name(std::string_view json, std::initializer_list<std::string_view> keys) noexcept;

}  // namespace bulkhead
