// Paths as bytes, by component. Pure: nothing here touches the file system.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bulkhead {

// Removes "//", "." and trailing slashes and folds ".." against the component before it.
// `path` must be absolute; "/.." is "/". Only right where no component is a symlink, so its
// callers either know that (openat2 RESOLVE_NO_SYMLINKS) or treat the result as a spelling.
std::string normalize(std::string_view path);

// True for "/" and for absolute paths without "//", ".", ".." and trailing slash.
bool is_canonical(std::string_view path) noexcept;

// base + "/" + name, then normalize(); an absolute name stands alone.
std::string join(std::string_view base, std::string_view name);

// True where `path` is `tree` or below it, by components: "/a/bc" is not within "/a/b".
// Both canonical.
bool is_within(std::string_view path, std::string_view tree) noexcept;

// Splits off the first component of "/a/b" or "a/b": "a", and leaves "/b". Empty where nothing but
// slashes is left.
std::string_view take_component(std::string_view* path) noexcept;

// "/a/b" → "/a"; "/a" and "/" → "/".
std::string_view parent_of(std::string_view path) noexcept;

// "/a/b" → "b"; "/" → "".
std::string_view last_of(std::string_view path) noexcept;

// How many symlinks the kernel follows on the way along one path: MAXSYMLINKS, path_resolution(7).
inline constexpr int kMostLinks = 40;

// Control bytes, DEL, invalid UTF-8 and bidirectional or invisible code points as \xNN or \u{N},
// so that a path cannot move the cursor or reorder a prompt.
std::string escape_for_display(std::string_view text);

}  // namespace bulkhead
