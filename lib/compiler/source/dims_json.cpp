// Shapes and declared dims.
#include <algorithm>

#include "compiler/source/body_reader.h"
#include "compiler/source/graph_json.h"

namespace ge {

std::optional<Dim> read_dim(const Value& json, ErrorList& errors) {
  const std::string allowed = "allowed integers of 64 bits from 0 up, names, and expressions of them";
  const auto integer = json.as_int64();
  const auto text = json.as_string();
  if (!integer && !text) {
    const Code code = json.is_number() ? Code::bad_dim : Code::wrong_json_type;
    errors.add(
        fault_at(json, code, "dimension is not valid").because("found " + json.describe() + ", " + allowed));
    return std::nullopt;
  }
  if (text) {
    auto dim = Dim::parse(*text);
    if (!dim.ok()) {
      Diagnostic d = dim.error().first();
      d.message = "dimension is not valid";
      d.place = json.place();
      d.path = json.pointer();
      errors.add(std::move(d));
      return std::nullopt;
    }
    if (!dim->is_static() || *dim->value() >= 0) return *dim;
  } else if (*integer >= 0) {
    return Dim(*integer);
  }
  errors.add(fault_at(json, Code::bad_dim, "dimension is negative")
                 .because("found " + json.describe() + ", " + allowed));
  return std::nullopt;
}

std::optional<Dims> read_shape(const Value& shape, ErrorList& errors) {
  if (!check_rank(shape, errors)) return std::nullopt;
  Dims dims;
  bool valid = true;
  for (const Value d : shape) {
    if (errors.full()) return std::nullopt;
    const auto dim = read_dim(d, errors);
    valid = valid && dim.has_value();
    if (dim) dims.push_back(*dim);
  }
  if (!valid) return std::nullopt;
  if (size_overflows(dims)) {
    errors.add(
        fault_at(shape, Code::size_overflow, "tensor size overflows").because("found " + to_string(dims)));
    return std::nullopt;
  }
  return dims;
}

void check_ranges(const Value& shape, const Dims& dims, const SymbolRanges& symbols, ErrorList& errors) {
  for (size_t i = 0; i < dims.size(); ++i) {
    const SymbolRange range = dims[i].bounds(symbols);
    if (dims[i].is_static() || range.max >= 0) continue;
    const Value at = shape.at(static_cast<int64_t>(i));
    errors.add(fault_at(at, Code::bad_dim, "dimension is negative for every value of its dims")
                   .because("found " + at.describe() + ", which is " + dims[i].range_text(symbols) +
                            "; allowed 0 and up")
                   .try_("mend the expression, or the range in \"dims\""));
  }
  if (!static_values(dims) && product(dims).bounds(symbols).min == INT64_MAX) {
    errors.add(fault_at(shape, Code::size_overflow, "tensor size overflows for every value of its dims")
                   .because("found " + to_string(dims)));
  }
}

namespace {

// Fills `range` from {min, max, opt}; opt is 1, within the range, where it is absent.
void read_range(const Value& json, SymbolRange& range, ErrorList& errors) {
  const Fields fields(json, kDimKeys, "a dim", errors);
  const auto min = fields.integer("min"), max = fields.integer("max"), opt = fields.integer("opt");
  range.min = min.value_or(0);
  range.max = max.value_or(INT64_MAX);
  const auto tell = [&](std::string_view key, const std::string& allowed) {
    const Value at = fields.find(key).value_or(json);
    errors.add(fault_at(at, Code::bad_dim, "the range of dim '" + std::string(json.key()) + "' is not valid")
                   .because("found " + at.describe() + ", allowed " + allowed));
  };
  if (range.min < 0) return tell("min", "0 and up");
  if (range.max < range.min) return tell("max", "min (" + std::to_string(range.min) + ") and up");
  range.opt = opt.value_or(std::clamp<int64_t>(1, range.min, range.max));
  if (range.opt < range.min || range.opt > range.max)
    tell("opt", std::to_string(range.min) + " .. " + std::to_string(range.max));
}

}  // namespace

SymbolRanges read_symbols(const Value& dims, ErrorList& errors) {
  SymbolRanges symbols;
  for (const Value json : dims) {
    if (errors.full()) break;
    const std::string name(json.key());
    if (name.empty() || name.find('\0') != std::string::npos) {
      errors.add(fault_at_key(json, Code::bad_dim, "a dim's name is empty or holds NUL"));
      continue;
    }
    read_range(json, symbols[name], errors);
  }
  return symbols;
}

}  // namespace ge
