// Pins, bounds and frozen inputs.
#include "compiler/source/bindings.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "tensor_file/npy.h"

namespace ge {
namespace {

// Replaces a symbol in every type, in subgraphs too.
void substitute(Graph& graph, const std::map<std::string, Dim>& values) {
  for (ValueId v = 0; v < graph.value_capacity(); ++v) {
    for (Dim& d : graph.value(v).type.dims) d = d.substitute(values);
  }
  for (NodeId id = 0; id < graph.node_capacity(); ++id) {
    for (auto& [name, attr] : graph.node(id).attrs) {
      if (auto* body = std::get_if<std::shared_ptr<Graph>>(&attr)) substitute(**body, values);
    }
  }
  for (const auto& [name, value] : values) graph.symbols.erase(name);
}

// ": batch - 100 is -99 .. -92 with batch 1 .. 8", of the first symbolic dim that is always negative.
std::string negative_text(const Type& type, const SymbolRanges& ranges) {
  for (const Dim& d : type.dims)
    if (!d.is_static() && d.bounds(ranges).max < 0)
      return ": " + d.to_string() + " is " + d.range_text(ranges);
  return "";
}

// Whether every size of the inputs can stay one when symbols are replaced, or have other ranges.
Status check_sizes(const Graph& graph, const std::map<std::string, Dim>& values, const SymbolRanges& ranges,
                   const std::string& text) {
  for (const ValueId v : graph.inputs) {
    Type type = graph.type(v);
    bool valid = true;
    for (Dim& d : type.dims) {
      d = d.substitute(values);
      valid = valid && d.bounds(ranges).max >= 0 && !d.overflowed();
    }
    if (valid) continue;
    return fail(Code::bad_dim)
        .say(text + " makes a size invalid")
        .because("input '" + visible_line(graph.value(v).name) + "' becomes " + to_string(type) +
                 negative_text(type, ranges));
  }
  return {};
}

Status pin(Graph& graph, const std::string& name, int64_t value, const std::string& text) {
  const SymbolRange range = range_of(graph.symbols, name);
  if (value < range.min || value > range.max) {
    return fail(Code::symbol_range)
        .say("dim '" + name + "' is outside its range")
        .because("found " + std::to_string(value) + " from " + text + ", allowed " +
                 range_text(range.min, range.max));
  }
  GE_TRY(check_sizes(graph, {{name, Dim(value)}}, graph.symbols, text));
  substitute(graph, {{name, Dim(value)}});
  return {};
}

std::optional<std::vector<int64_t>> parse_numbers(std::string_view text) {
  std::vector<int64_t> numbers;
  while (true) {
    int64_t value = 0;
    const size_t end = std::min(text.find(':'), text.size());
    const auto [stop, error] = std::from_chars(text.data(), text.data() + end, value);
    if (error != std::errc() || stop != text.data() + end || value < 0) return std::nullopt;
    numbers.push_back(value);
    if (end == text.size()) return numbers;
    text.remove_prefix(end + 1);
  }
}

Status bound(Graph& graph, const std::string& name, const std::vector<int64_t>& numbers,
             const std::string& text) {
  const SymbolRange outer = range_of(graph.symbols, name);
  SymbolRange range{numbers[0], numbers[1],
                    std::clamp(outer.opt, numbers[0], std::max(numbers[0], numbers[1]))};
  if (numbers.size() == 3) range.opt = numbers[2];
  if (range.min > range.max || range.opt < range.min || range.opt > range.max) {
    return fail(Code::bad_usage)
        .say("--dim " + text + ": the range is empty or does not hold its opt")
        .try_("write NAME=MIN:MAX:OPT with MIN <= OPT <= MAX");
  }
  if (range.min < outer.min || range.max > outer.max) {
    return fail(Code::symbol_range)
        .say("--dim " + text + " is wider than the model allows")
        .because("the model declares " + range_text(outer.min, outer.max));
  }
  SymbolRanges ranges = graph.symbols;
  ranges[name] = range;
  GE_TRY(check_sizes(graph, {}, ranges, "--dim " + text));
  graph.symbols = std::move(ranges);
  return {};
}

std::string near_text(const std::string& word, const std::vector<std::string>& known) {
  const std::string near = nearest(word, known);
  return near.empty() ? "" : "did you mean '" + near + "'?";
}

std::string list_text(const std::vector<std::string>& words, const std::string& none) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text.empty() ? none : text;
}

// "NAME=REST"; the name may hold '='.
std::optional<std::pair<std::string, std::string>> split_equals(const std::string& text) {
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) return std::nullopt;
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

}  // namespace

Status apply_dim(Graph& graph, const std::string& text) {
  const auto parts = split_equals(text);
  const auto numbers = parts ? parse_numbers(parts->second) : std::nullopt;
  if (!numbers || numbers->size() > 3) {
    return fail(Code::bad_usage)
        .say("--dim " + text + " is not valid")
        .try_("write NAME=N, NAME=MIN:MAX or NAME=MIN:MAX:OPT");
  }
  const std::string& name = parts->first;
  const SymbolRanges symbols = graph.all_symbols();
  if (!symbols.contains(name)) {
    std::vector<std::string> known;
    for (const auto& [other, range] : symbols) known.push_back(other);
    return fail(Code::unknown_symbol)
        .say("no such dim '" + name + "'")
        .because("dims are: " + list_text(known, "none, every size is fixed"))
        .try_(near_text(name, known));
  }
  return numbers->size() == 1 ? pin(graph, name, (*numbers)[0], "--dim " + text)
                              : bound(graph, name, *numbers, text);
}

namespace {

std::optional<size_t> input_index(const Graph& graph, const std::string& name) {
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    if (graph.value(graph.inputs[i]).name == name) return i;
  }
  return std::nullopt;
}

Diagnostic unknown_input(const Graph& graph, const std::string& name) {
  std::vector<std::string> known;
  for (const ValueId v : graph.inputs) known.push_back(graph.value(v).name);
  return fail(Code::unknown_input)
      .say("no such input '" + name + "'")
      .because("inputs are: " + list_text(known, "none"))
      .try_(near_text(name, known));
}

// Pins the symbols that the input's shape names alone; what remains must be equal now, or at bind.
Status fit_shape(Graph& graph, ValueId input, const std::vector<int64_t>& found, const std::string& text) {
  const auto mismatch = [&]() {
    return fail(Code::input_shape)
        .say(text + ": the shape does not fit")
        .because("found " + dims_to_string(found) + ", the graph says " + to_string(graph.type(input).dims));
  };
  if (graph.type(input).dims.size() != found.size()) return mismatch();
  for (size_t i = 0; i < found.size(); ++i) {
    const Dim d = graph.type(input).dims[i];
    const auto names = d.symbols();
    if (names.size() == 1 && d == Dim::symbol(names[0])) GE_TRY(pin(graph, names[0], found[i], text));
  }
  for (size_t i = 0; i < found.size(); ++i) {
    const Dim d = graph.type(input).dims[i];
    if (Dim::never_equal(d, Dim(found[i]))) return mismatch();
    if (!d.is_static()) graph.add_assertion({d, Dim(found[i]), text + ": the shape must fit", {}});
  }
  return {};
}

}  // namespace

Status freeze_input(Graph& graph, const std::string& text) {
  const auto parts = split_equals(text);
  if (!parts)
    return fail(Code::bad_usage).say("--freeze " + text + " is not valid").try_("write NAME=FILE.npy");
  if (!input_index(graph, parts->first)) return unknown_input(graph, parts->first);
  GE_ASSIGN(HostTensor tensor, read_npy_file(parts->second));
  return freeze_input(graph, parts->first, std::move(tensor), "--freeze " + text);
}

Status freeze_input(Graph& graph, const std::string& name, HostTensor tensor, const std::string& text) {
  const auto index = input_index(graph, name);
  if (!index) return unknown_input(graph, name);
  const ValueId input = graph.inputs[*index];
  if (tensor.dtype != graph.type(input).dtype) {
    return fail(Code::input_dtype)
        .say(text + ": the dtype does not fit")
        .because("found " + std::string(name_of(tensor.dtype)) + ", the graph says " +
                 std::string(name_of(graph.type(input).dtype)));
  }
  GE_TRY(fit_shape(graph, input, tensor.dims, text));
  TensorData data{tensor.dtype, tensor.dims, std::make_shared<const ByteBuffer>(std::move(tensor.bytes)),
                  false, nullptr};
  const ValueId constant = graph.add_constant(std::move(data), {Source{"--freeze " + name, "", name}});
  graph.value(constant).name = std::exchange(graph.value(input).name, "");
  graph.replace_all_uses(input, constant);
  graph.inputs.erase(graph.inputs.begin() + static_cast<int64_t>(*index));
  graph.value(input).alive = false;
  return {};
}

}  // namespace ge
