// A few scalar ops on small constants. Constant folding proper comes later and has no bounds like these.
#include "compiler/onnx_ops/known_number.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "numeric/convert.h"

namespace ge {
namespace {

using Numbers = std::vector<double>;
constexpr int kMaxDepth = 16;
constexpr int kMaxVisits = 1024;  // a chain that doubles at each step would never end
constexpr int64_t kMaxCount = 64;

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

// An integer beyond is not known: the double nearest to it may be another number.
std::optional<Numbers> checked(DType dtype, Numbers numbers) {
  const auto is_exact = [](double number) { return std::abs(number) <= kExactInteger; };
  if (!is_float(dtype) && !std::all_of(numbers.begin(), numbers.end(), is_exact)) return std::nullopt;
  return numbers;
}

std::optional<Numbers> numbers_of(const Graph& graph, ValueId value, int depth, int& visits);

std::optional<double> apply(Op op, DType dtype, const double* in) {
  switch (op) {
    case Op::cast:
      return rounded(dtype, in[0]);
    case Op::neg:
      return in_range(dtype, -in[0]);
    case Op::floor:
      return std::floor(in[0]);
    case Op::ceil:
      return std::ceil(in[0]);
    case Op::add:
      return in_range(dtype, in[0] + in[1]);
    case Op::sub:
      return in_range(dtype, in[0] - in[1]);
    case Op::mul:
      return in_range(dtype, in[0] * in[1]);
    case Op::div:
      return is_float(dtype) ? std::optional(rounded(dtype, in[0] / in[1])) : std::nullopt;
    default:
      return std::nullopt;
  }
}

// Operands of scalar ops have one shape: broadcasts are explicit.
std::optional<Numbers> mapped(const Graph& graph, const Node& node, const std::vector<Numbers>& in) {
  const DType dtype = graph.type(node.results[0]).dtype;
  // Of other ops (a gather by no indices) the operands have sizes of their own.
  if (!is_map(node.op) && node.op != Op::cast) return std::nullopt;
  if (in.size() > 1 && in[1].size() != in[0].size()) return std::nullopt;
  Numbers result;
  for (size_t i = 0; i < in[0].size(); ++i) {
    double elements[2] = {in[0][i], in.size() > 1 ? in[1][i] : 0};
    const auto value = apply(node.op, dtype, elements);
    if (!value) return std::nullopt;
    result.push_back(*value);
  }
  return result;
}

std::optional<Numbers> computed(const Graph& graph, const Node& node, int64_t count, int depth, int& visits) {
  std::vector<Numbers> in;
  const size_t most = node.op == Op::concat ? static_cast<size_t>(kMaxCount) : 2;
  if (node.operands.empty() || node.operands.size() > most) return std::nullopt;
  for (const ValueId operand : node.operands) {
    auto values = operand == kNone ? std::nullopt : numbers_of(graph, operand, depth + 1, visits);
    if (!values) return std::nullopt;
    in.push_back(std::move(*values));
  }
  if (node.op == Op::reshape) return in[0];
  if (node.op == Op::broadcast) {  // of a single element, or to the same shape
    if (in[0].size() == 1) return Numbers(static_cast<size_t>(count), in[0][0]);
    return static_cast<int64_t>(in[0].size()) == count ? std::optional(in[0]) : std::nullopt;
  }
  if (node.op == Op::concat) {
    if (graph.type(node.results[0]).dims.size() != 1) return std::nullopt;
    Numbers joined;
    for (const Numbers& part : in) joined.insert(joined.end(), part.begin(), part.end());
    return joined;
  }
  return mapped(graph, node, in);
}

std::optional<Numbers> numbers_of(const Graph& graph, ValueId value, int depth, int& visits) {
  const ValueInfo& info = graph.value(value);
  const auto count = product(info.type.dims).value();
  if (!count || *count > kMaxCount || depth > kMaxDepth || ++visits > kMaxVisits) return std::nullopt;
  if (info.contents) {
    const auto values = static_values(*info.contents);
    if (values && static_cast<int64_t>(values->size()) == *count)
      return checked(info.type.dtype, Numbers(values->begin(), values->end()));
  }
  if (const TensorData* data = graph.constant(value)) {
    const auto bytes = full_bytes(*data);
    if (!bytes.ok()) return std::nullopt;
    Numbers result;
    for (int64_t i = 0; i < *count; ++i) result.push_back(load_as_double(data->dtype, (*bytes)->data(), i));
    return checked(data->dtype, std::move(result));
  }
  const Node* producer = graph.producer(value);
  auto numbers = producer ? computed(graph, *producer, *count, depth, visits) : std::nullopt;
  // Any other op over nothing comes out as nothing above: a reduction of no elements is one that is not
  // known.
  return numbers && static_cast<int64_t>(numbers->size()) == *count ? std::move(numbers) : std::nullopt;
}

}  // namespace

std::optional<std::vector<double>> known_numbers(const Graph& graph, ValueId value) {
  int visits = 0;
  return value == kNone ? std::nullopt : numbers_of(graph, value, 0, visits);
}

std::optional<double> known_number(const Graph& graph, ValueId value) {
  if (!product(graph.value(value).type.dims).is_value(1)) return std::nullopt;
  const auto values = known_numbers(graph, value);
  return values ? std::optional(values->front()) : std::nullopt;
}

}  // namespace ge
