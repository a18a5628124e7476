// Table: rows of text in columns that fit a width.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal.h"

namespace bulkhead {

class Table {
 public:
  struct Column {
    std::string title;
    bool right = false;    // numbers
    size_t shrink_to = 0;  // may be shortened to this many columns; 0: never
    bool wraps = false;    // its texts then go on in the next line, rather than lose their middle
  };
  struct Cell {
    std::string text;
    Colour colour = Colour::kNone;
    bool quoted = false;  // its backslashes are a shell's: escape_quoted()
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  // As many cells as columns. Texts are escaped here.
  void add(std::vector<Cell> row);
  bool empty() const { return rows_.empty(); }

  // width 0: as wide as the texts are. Columns that may shrink give way, the widest first, until
  // the line fits or all are at their least.
  std::string to_string(size_t width, bool colour, bool titles = true, size_t indent = 0) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace bulkhead
