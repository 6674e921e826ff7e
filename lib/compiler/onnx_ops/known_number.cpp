// A few scalar ops on constants of one element. Constant folding proper comes later and has no bounds like
// these.
#include "compiler/onnx_ops/known_number.h"

#include <cmath>

#include "numeric/convert.h"

namespace ge {
namespace {

constexpr int kMaxDepth = 16;
constexpr int64_t kMaxNumbers = 64;  // of a vector
constexpr int kMaxJoins = 2;         // joins of joins

// A double as an element of `dtype` holds it.
double rounded(DType dtype, double value) {
  std::byte element[8] = {};
  store_from_double(dtype, element, 0, value);
  return load_as_double(dtype, element, 0);
}

// A double holds every integer up to here.
constexpr double kExactInteger = 9007199254740992.0;

// The result of integer arithmetic, unless the type would wrap it or a double does not hold it.
std::optional<double> in_range(DType dtype, double value) {
  if (is_float(dtype)) return rounded(dtype, value);
  if (std::abs(value) > kExactInteger || rounded(dtype, value) != value) return std::nullopt;
  return value;
}

std::optional<double> number_of(const Graph& graph, ValueId value, int depth);

std::optional<double> computed(const Graph& graph, const Node& node, int depth) {
  std::optional<double> in[2];
  for (size_t i = 0; i < node.operands.size(); ++i) {
    if (i == 2 || node.operands[i] == kNone) return std::nullopt;
    in[i] = number_of(graph, node.operands[i], depth + 1);
    if (!in[i]) return std::nullopt;
  }
  const DType dtype = graph.type(node.results[0]).dtype;
  switch (node.op) {
    case Op::reshape:
    case Op::broadcast:
      return in[0];
    case Op::cast:
      return rounded(dtype, *in[0]);
    case Op::neg:
      return in_range(dtype, -*in[0]);
    case Op::floor:
      return std::floor(*in[0]);
    case Op::ceil:
      return std::ceil(*in[0]);
    case Op::add:
      return in_range(dtype, *in[0] + *in[1]);
    case Op::sub:
      return in_range(dtype, *in[0] - *in[1]);
    case Op::mul:
      return in_range(dtype, *in[0] * *in[1]);
    case Op::div:
      return is_float(dtype) ? std::optional(rounded(dtype, *in[0] / *in[1])) : std::nullopt;
    default:
      return std::nullopt;
  }
}

std::optional<double> number_of(const Graph& graph, ValueId value, int depth) {
  const ValueInfo& info = graph.value(value);
  if (!product(info.type.dims).is_value(1) || depth > kMaxDepth) return std::nullopt;
  if (info.contents && info.contents->size() == 1 && info.contents->front().is_static()) {
    const int64_t known = *info.contents->front().value();
    if (std::abs(static_cast<double>(known)) > kExactInteger) return std::nullopt;
    return static_cast<double>(known);
  }
  if (const TensorData* data = graph.constant(value)) {
    const auto bytes = full_bytes(*data);
    if (!bytes.ok()) return std::nullopt;
    const double element = load_as_double(data->dtype, (*bytes)->data(), 0);
    return is_float(data->dtype) || std::abs(element) <= kExactInteger ? std::optional(element)
                                                                       : std::nullopt;
  }
  const Node* producer = graph.producer(value);
  return producer ? computed(graph, *producer, depth) : std::nullopt;
}

std::optional<std::vector<double>> numbers_of(const Graph& graph, ValueId value, int depth) {
  const auto count = value == kNone ? std::nullopt : product(graph.type(value).dims).value();
  if (!count || *count > kMaxNumbers || depth > kMaxJoins) return std::nullopt;
  std::vector<double> result;
  if (const TensorData* data = graph.constant(value)) {
    const auto bytes = full_bytes(*data);
    if (!bytes.ok()) return std::nullopt;
    for (int64_t i = 0; i < *count; ++i) result.push_back(load_as_double(data->dtype, (*bytes)->data(), i));
    return result;
  }
  const Node* producer = graph.producer(value);
  if (producer && producer->op == Op::concat && graph.type(value).dims.size() == 1) {
    for (const ValueId part : producer->operands) {
      const auto values = numbers_of(graph, part, depth + 1);
      if (!values) return std::nullopt;
      result.insert(result.end(), values->begin(), values->end());
    }
    return result;
  }
  const auto single = *count == 1 ? number_of(graph, value, 0) : std::nullopt;
  return single ? std::optional(std::vector<double>{*single}) : std::nullopt;
}

}  // namespace

std::optional<std::vector<double>> known_numbers(const Graph& graph, ValueId value) {
  return numbers_of(graph, value, 0);
}

std::optional<double> known_number(const Graph& graph, ValueId value) {
  return number_of(graph, value, 0);
}

}  // namespace ge
