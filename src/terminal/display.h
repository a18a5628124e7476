// Display: how wide a terminal is, whether it wants colours, how many columns a text takes, and
// what undoes what a program told it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bulkhead {

// Columns of the terminal behind `fd`; 0 where it is none, which means: do not fit or wrap.
// COLUMNS wins, so that scripts and tests can choose.
size_t terminal_width(int fd);

// True where `fd` is a terminal that shows colours, and NO_COLOR is unset or empty.
bool wants_colour(int fd);

// What TERM names; empty where it is unset or "dumb", where control strings would be shown as they
// are.
std::string_view terminal_kind();

// What a program may have told the terminal, undone, as far as it would hide or change our words:
// an open control string, output that goes elsewhere, pictures, colours, hidden or overwritten
// text, another character set, margins. The cursor stays. Empty where TERM is unset or "dumb". See
// https://invisible-island.net/xterm/ctlseqs/ctlseqs.html.
std::string plain_screen();

enum class Colour { kNone, kRed, kGreen, kYellow, kDim, kBold };
std::string paint(std::string_view text, Colour colour, bool on);

// Columns that UTF-8 text takes: combining marks none, East Asian wide characters two. `text` has
// been through escape_for_display, so it holds no control characters.
size_t display_width(std::string_view text);

// At most `width` columns, the middle replaced by "…": the ends of a path say most.
std::string shorten(std::string_view text, size_t width);

// Lines of at most `width` columns, broken at spaces where there are some, else anywhere.
std::vector<std::string> wrap(std::string_view text, size_t width);

}  // namespace bulkhead
