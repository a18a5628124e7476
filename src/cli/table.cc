#include "cli/table.h"

#include <algorithm>
#include <numeric>

#include "base/path.h"

namespace bulkhead {
namespace {

constexpr size_t kGap = 2;

void fit(const std::vector<Table::Column>& columns, std::vector<size_t>& widths, size_t available) {
  const auto total = [&] { return std::accumulate(widths.begin(), widths.end(), size_t{0}); };
  while (total() > available) {
    size_t widest = widths.size();
    for (size_t i = 0; i < widths.size(); ++i) {
      if (columns[i].shrink_to == 0 || widths[i] <= columns[i].shrink_to) continue;
      if (widest == widths.size() || widths[i] > widths[widest]) widest = i;
    }
    if (widest == widths.size()) return;
    --widths[widest];
  }
}

}  // namespace

void Table::add(std::vector<Cell> row) {
  row.resize(columns_.size());
  for (Cell& cell : row)
    cell.text = cell.quoted ? escape_quoted(cell.text) : escape_for_display(cell.text);
  rows_.push_back(std::move(row));
}

std::string Table::to_string(size_t width, bool colour, bool titles, size_t indent) const {
  std::vector<size_t> widths(columns_.size(), 0);
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (titles) widths[i] = display_width(columns_[i].title);
    for (const auto& row : rows_) widths[i] = std::max(widths[i], display_width(row[i].text));
  }
  const size_t gaps = indent + (columns_.empty() ? 0 : kGap * (columns_.size() - 1));
  if (width != 0) fit(columns_, widths, width > gaps ? width - gaps : 0);

  std::string out;
  const auto print_line = [&](const std::vector<Cell>& row) {
    out.append(indent, ' ');
    size_t pending = 0;  // padding is written only before something: no trailing spaces
    for (size_t i = 0; i < columns_.size(); ++i) {
      const std::string& text = row[i].text;
      const size_t padding = widths[i] - std::min(widths[i], display_width(text));
      if (columns_[i].right) pending += padding;
      if (!text.empty()) {
        out.append(pending, ' ');
        pending = 0;
        out += paint(text, row[i].colour, colour);
      } else {
        pending += display_width(text);
      }
      if (!columns_[i].right) pending += padding;
      pending += kGap;
    }
    out += '\n';
  };
  const auto print = [&](const std::vector<Cell>& row) {
    std::vector<std::vector<std::string>> lines;
    size_t most = 1;
    for (size_t i = 0; i < columns_.size(); ++i) {
      const std::string& text = row[i].text;
      lines.push_back(columns_[i].wraps ? wrap(text, widths[i])
                                        : std::vector{shorten(text, widths[i])});
      most = std::max(most, lines.back().size());
    }
    std::vector<Cell> line = row;
    for (size_t n = 0; n < most; ++n) {
      for (size_t i = 0; i < columns_.size(); ++i)
        line[i].text = n < lines[i].size() ? lines[i][n] : "";
      print_line(line);
    }
  };
  if (titles) {
    std::vector<Cell> head;
    for (const Column& column : columns_) head.push_back({column.title, Colour::kBold});
    print(head);
  }
  for (const auto& row : rows_) print(row);
  return out;
}

}  // namespace bulkhead
