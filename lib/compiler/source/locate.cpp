// JSON pointers to line and column, by parsing the text once more: faults are rare, positions for every value
// are not cheap.
#include "compiler/source/locate.h"

#include <algorithm>
#include <charconv>

#include "document/tree.h"

namespace ge {
namespace {

std::string unescaped(std::string_view part) {
  std::string text;
  for (size_t i = 0; i < part.size(); ++i) {
    const bool escape = part[i] == '~' && i + 1 < part.size() && (part[i + 1] == '0' || part[i + 1] == '1');
    text += escape ? (part[i + 1] == '1' ? '/' : '~') : part[i];
    i += escape ? 1 : 0;
  }
  return text;
}

std::optional<Value> child(Value parent, std::string_view part) {
  if (parent.is_object()) return parent.find(unescaped(part));
  int64_t index = 0;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), index);
  if (!parent.is_array() || error != std::errc() || end != part.data() + part.size()) return std::nullopt;
  if (index < 0 || index >= parent.size()) return std::nullopt;
  return parent.at(index);
}

Value deepest(Value at, std::string_view pointer) {
  while (!pointer.empty()) {
    pointer.remove_prefix(1);
    const size_t end = std::min(pointer.find('/'), pointer.size());
    const auto next = child(at, pointer.substr(0, end));
    if (!next) break;
    at = *next;
    pointer.remove_prefix(end);
  }
  return at;
}

// {14, 37} of "graph.json:14:37"; zeros where the text ends otherwise.
std::pair<int64_t, int64_t> line_and_column(const std::string& place) {
  const size_t second = place.rfind(':');
  const size_t first = second == std::string::npos || second == 0 ? second : place.rfind(':', second - 1);
  std::pair<int64_t, int64_t> found{0, 0};
  if (first == std::string::npos) return found;
  std::from_chars(place.data() + first + 1, place.data() + second, found.first);
  std::from_chars(place.data() + second + 1, place.data() + place.size(), found.second);
  return found;
}

}  // namespace

void sort_by_place(Error& error) {
  std::stable_sort(error.list().begin(), error.list().end(), [](const Diagnostic& a, const Diagnostic& b) {
    return line_and_column(a.place) < line_and_column(b.place);
  });
}

Error locate(Error error, ByteSpan text, const std::string& display_name) {
  const auto is_pointer = [](const Diagnostic& d) { return d.path.starts_with('/'); };
  if (std::none_of(error.list().begin(), error.list().end(), is_pointer)) return error;
  const auto document = parse_json(text, display_name);
  if (!document.ok()) return error;
  for (Diagnostic& d : error.list()) {
    if (is_pointer(d)) d.place = deepest(document->root(), d.path).place();
  }
  sort_by_place(error);
  return error;
}

}  // namespace ge
