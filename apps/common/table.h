// Aligned text tables for terminals and logs. Entry: Table. Invariant: no trailing spaces; a column's width
// is its widest cell; a cell is one line, whatever names stand in it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace ge {

class Table {
 public:
  // A heading that starts with '>' aligns its column to the right: {"node", ">time us"}.
  explicit Table(std::vector<std::string> headings);
  void add(std::vector<std::string> cells);  // as many as headings
  // One line per row, headings first, two spaces between columns, a space before the first.
  std::string text() const;

 private:
  std::vector<std::string> headings_;
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

// "1.5 KiB", "12 B", "3.2 GiB".
std::string human_bytes(double bytes);
// Three or four significant digits without an exponent where that is short: "0.0123", "41.2", "1234".
std::string number_text(double value);

}  // namespace ge
