#include "fuzz/yardstick.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/compile.h"
#include "compiler/ir/infer.h"
#include "fuzz/random.h"
#include "numeric/convert.h"

namespace ge::test {
namespace {

// Digits of the significand, and the exponent of the least normal number.
std::pair<int, int> format_of(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return {53, -1022};
    case DType::float32:
      return {24, -126};
    case DType::float16:
      return {11, -14};
    case DType::bfloat16:
      return {8, -126};
    case DType::float8e4m3fn:
      return {4, -6};
    default:
      return {3, -14};
  }
}

// Results that are one of the operands' numbers, or that no float rounds: the same on every machine.
bool is_exact(Op op) {
  switch (op) {
    case Op::constant:
    case Op::dims:
    case Op::iota:
    case Op::bitcast:
    case Op::reshape:
    case Op::transpose:
    case Op::broadcast:
    case Op::slice:
    case Op::pad:
    case Op::concat:
    case Op::gather:
    case Op::max:
    case Op::min:
    case Op::neg:
    case Op::abs:
    case Op::sign:
    case Op::floor:
    case Op::ceil:
    case Op::round:
    case Op::trunc:
    case Op::relu:
    case Op::thresholded_relu:
    case Op::clamp:
    case Op::select:
      return true;
    default:
      return false;
  }
}
bool is_sum(Op op) {
  return !is_map(op) && !is_exact(op) && op != Op::cast;
}

// Formulas that subtract or add near the end: their error is that of the terms, not of the result.
bool is_cancelling(Op op) {
  switch (op) {
    case Op::gelu:
    case Op::gelu_tanh:
    case Op::hard_sigmoid:
    case Op::hard_swish:
    case Op::mish:
    case Op::log_softmax:
      return true;
    default:
      return false;
  }
}

DType wide(DType dtype) {
  return is_float(dtype) ? DType::float64 : dtype;
}

HostTensor widened(const HostTensor& t) {
  auto made = make_host_tensor(wide(t.dtype), t.dims, true);
  HostTensor out = std::move(made).value();
  if (out.dtype == t.dtype)
    std::copy(t.bytes.span().begin(), t.bytes.span().end(), out.bytes.data());
  else
    convert(t.dtype, t.bytes.data(), t.count(), DType::float64, out.bytes.data());
  return out;
}

HostTensor copy_of(const HostTensor& t) {
  HostTensor out{t.dtype, t.dims, ByteBuffer::allocate(t.bytes.size())};
  std::copy(t.bytes.span().begin(), t.bytes.span().end(), out.bytes.data());
  return out;
}

double rounded(DType dtype, double value) {
  std::byte bytes[8];
  store_from_double(dtype, bytes, 0, value);
  return load_as_double(dtype, bytes, 0);
}

AttrMap widened(const AttrMap& attrs) {
  AttrMap out = attrs;
  for (auto& [name, attr] : out)
    if (auto* dtype = std::get_if<DType>(&attr); dtype != nullptr && name == "to") *dtype = wide(*dtype);
  return out;
}

}  // namespace

double unit_of(DType dtype, double value) {
  const auto [digits, least] = format_of(dtype);
  const double magnitude = std::abs(value);
  int exponent = least;
  if (std::isfinite(magnitude) && magnitude > 0) exponent = std::max(least, std::ilogb(magnitude));
  return std::ldexp(1.0, exponent - digits + 1);
}

// Moves every number by up to `units` units; half of the sets are also rounded to the dtype, which may
// overflow.
void Yardstick::disturb(HostTensor& t, DType original, double units, uint64_t seed,
                        const std::vector<double>& scales) const {
  Random r(seed);
  const bool round = r.chance(50);
  auto* data = reinterpret_cast<double*>(t.bytes.data());
  for (int64_t i = 0; i < t.count(); ++i) {
    if (!std::isfinite(data[i])) continue;
    const double scale = scales.empty() ? 0 : scales[static_cast<size_t>(i)];
    // Nothing is exact in any order, but for its sign: what is divided by it is infinite, or no number.
    if (data[i] == 0 && scale == 0) {
      if (r.chance(25)) data[i] = -data[i];
      continue;
    }
    const double reach = units * unit_of(original, std::max(std::abs(data[i]), scale));
    // What may be a whole number is one now and then: divisions tell zero from nearly zero, powers of
    // negative numbers and roundings tell 3 from nearly 3.
    const double whole = std::nearbyint(data[i]);
    data[i] = std::abs(data[i] - whole) <= reach && r.chance(25) ? whole : data[i] + reach * r.symmetric();
    if (round) data[i] = rounded(original, data[i]);
  }
}

// A node whose size is negative (or 0) under these symbols may stand where the whole graph never makes its
// result: it has no elements. False where it has some.
bool Yardstick::nothing(const Node& node, int samples) {
  for (const ValueId v : node.results) {
    std::vector<int64_t> dims;
    for (const Dim& d : graph_.type(v).dims)
      dims.push_back(std::max<int64_t>(d.evaluate(symbols_).value_or(1), 0));
    if (std::count(dims.begin(), dims.end(), 0) == 0) return false;
    values_[v].clear();
    for (int k = 0; k < samples; ++k)
      values_[v].push_back({wide(graph_.type(v).dtype), dims, ByteBuffer::allocate(0)});
  }
  return true;
}

// How many terms one sum of the node has: added one after the other, same signs, each rounding is of a
// partial sum; that is as if the terms had been moved by so many units (over the square root of 3).
int64_t Yardstick::terms_of(const Node& node) const {
  const auto dims = [&](ValueId v) {
    return values_[v].empty() ? std::vector<int64_t>() : values_[v][0].dims;
  };
  const std::vector<int64_t> x = dims(node.operands[0]);
  const auto product_of = [](const std::vector<int64_t>& d, size_t from) {
    int64_t n = 1;
    for (size_t i = from; i < d.size(); ++i) n *= d[i];
    return n;
  };
  int64_t terms = 1;
  if (is_map(node.op)) return 1;
  if (node.op == Op::dot) return x.back();
  if (node.op == Op::attention) return std::max(x.back(), dims(node.operands[1])[2]);
  if (node.op == Op::conv) return product_of(dims(node.operands[1]), 1);
  if (node.op == Op::normalize) return product_of(x, static_cast<size_t>(attr_int(node, "axis")));
  if (node.op == Op::softmax || node.op == Op::log_softmax)
    return x[static_cast<size_t>(attr_int(node, "axis"))];
  for (const int64_t a : attr_ints(node, "axes")) terms *= x[static_cast<size_t>(a)];
  for (const int64_t k : attr_ints(node, "kernel")) terms *= k;
  return terms;
}

// Sums are taken in float32 at least: their order shows as if the terms had been moved. Weights may have been
// scaled and rounded again.
void Yardstick::disturb_operand(const Node& node, size_t operand, int sample, HostTensor& t) const {
  const DType original = graph_.type(node.operands[operand]).dtype;
  const bool scales_inside =
      node.op == Op::swish || node.op == Op::celu;  // exp(b * x): rounded before the exp
  if (!(is_sum(node.op) || scales_inside) || !is_float(original)) return;
  const uint64_t seed =
      hash_text("operand", node.results[0] * 1000 + operand * 100 + static_cast<uint64_t>(sample));
  const bool attention =
      node.op == Op::attention;  // scores, or weights, may be rounded to the operands' type
  const bool product = node.op == Op::dot || node.op == Op::conv || attention;
  const bool as_is = bits_of(original) >= 32 || (product && operand == 1) || attention;
  const double units = bits_of(original) >= 32 ? 4 : 1;
  disturb(t, as_is ? original : DType::float32, units + static_cast<double>(terms_of(node)) / 4, seed, {});
  // Padding is a term of zero or no term: with weights that are no numbers the two differ.
  const bool huge = original != DType::float64 && (node.op == Op::normalize || product);
  if (node.op == Op::conv && operand == 1 && sample % 4 == 1) {
    replace_huge(t, HUGE_VAL, 0);  // skip_padding has them
    return replace_huge(t, huge ? kHuge : HUGE_VAL, kBeyond);
  }
  // Keys that a causal row does not see have a weight of zero, or are not read.
  if (attention && operand == 2 && sample % 4 == 1) return replace_huge(t, HUGE_VAL, 1);
  // Products overflow float32 in some orders of computing; sums do before they are divided.
  if (huge && sample % 4 == 3) replace_huge(t, kHuge, HUGE_VAL);
  const bool adds =
      node.op == Op::pool || attr_string(node, "kind") == "sum" || attr_string(node, "kind") == "mean";
  if ((node.op == Op::reduce || node.op == Op::pool) && adds && original != DType::float64 && sample % 4 == 3)
    replace_huge(
        t, std::numeric_limits<float>::max() / static_cast<double>(std::max<int64_t>(terms_of(node), 1)),
        HUGE_VAL);
}

// The node alone, under the same symbols.
std::string Yardstick::compute(const Node& node, const std::vector<Samples>& operands, int samples) {
  Graph one;
  one.symbols = graph_.symbols;
  for (const auto& [name, value] : symbols_) one.symbols.try_emplace(name, SymbolRange{});
  one.assertions = graph_.assertions;
  std::vector<ValueId> ids;
  std::vector<const Type*> types;
  for (size_t i = 0; i < operands.size(); ++i) {
    const bool absent = operands[i].empty();
    ids.push_back(absent ? kNone
                         : one.add_input("x" + std::to_string(i),
                                         {operands[i][0].dtype, graph_.type(node.operands[i]).dims}));
  }
  for (const ValueId v : ids) types.push_back(v == kNone ? nullptr : &one.type(v));
  const AttrMap attrs = widened(node.attrs);
  auto results = infer_types(node.op, types, attrs, nullptr, nullptr, &one.assertions);
  if (!results.ok()) return std::string(name_of(node.op)) + ": " + results.error().to_string();
  const NodeId id = one.add_node(node.op, ids, *results, attrs);
  for (size_t i = 0; i < one.node(id).results.size(); ++i)
    one.add_output(one.node(id).results[i], "y" + std::to_string(i));
  CompileOptions options;
  options.level = 0;
  auto compiled = compile(std::move(one), options);
  if (!compiled.ok()) return std::string(name_of(node.op)) + ": " + compiled.error().to_string();
  std::vector<std::byte> bytes;
  const Status written = compiled->write([&](ByteSpan part) {
    bytes.insert(bytes.end(), part.begin(), part.end());
    return Status();
  });
  std::string error;
  const auto session = written.ok() ? PlanSession::open(cpu_, bytes, error) : nullptr;
  if (session == nullptr) return error;
  for (int k = 0; k < samples; ++k) {
    std::vector<HostTensor> inputs;
    for (size_t i = 0; i < operands.size(); ++i) {
      if (operands[i].empty()) continue;
      inputs.push_back(copy_of(operands[i][static_cast<size_t>(k)]));
      if (k > 0) disturb_operand(node, i, k, inputs.back());
    }
    if (k % 2 == 1) settle_on_equal(node, inputs);
    RunResult run = session->run(inputs, symbols_, 1);
    if (!run.ok()) return run.error;
    for (size_t i = 0; i < run.outputs.size(); ++i)
      values_[node.results[i]].push_back(widened(run.outputs[i]));
  }
  return "";
}

// For each element the size of the terms that a cancelling formula adds; empty for others.
std::vector<double> Yardstick::scales_of(const Node& node, int sample) const {
  std::vector<double> scales;
  // clamp(x + 3, 0, 6) / 6 may be computed as clamp(x / 6 + 0.5, 0, 1).
  const bool before_clamp = node.op == Op::add && graph_.use_count(node.results[0]) == 1 &&
                            graph_.uses(node.results[0])[0].node != kNone &&
                            graph_.node(graph_.uses(node.results[0])[0].node).op == Op::clamp;
  // x * sigmoid(x): far out the sigmoid has few digits left, each worth x.
  const bool gated = node.op == Op::silu || node.op == Op::swish || node.op == Op::mish;
  if (!is_cancelling(node.op) && !before_clamp && !gated) return scales;
  const double share = gated ? std::numeric_limits<float>::min() : 1;
  for (const ValueId v : node.operands) {
    const HostTensor& t = values_[v][static_cast<size_t>(sample)];
    scales.resize(static_cast<size_t>(t.count()), node.op == Op::log_softmax ? 1 : 0);
    for (int64_t i = 0; i < t.count(); ++i) {
      const double size = std::abs(load_as_double(t.dtype, t.bytes.data(), i));
      if (std::isfinite(size))
        scales[static_cast<size_t>(i)] = std::max(scales[static_cast<size_t>(i)], size * share);
    }
  }
  return scales;
}

// Bits are those of the operand in its own dtype, whatever it is computed in.
HostTensor Yardstick::bits_as(const Node& node, const HostTensor& t) const {
  HostTensor bits = copy_of(t);
  const DType from = graph_.type(node.operands[0]).dtype;
  if (from != t.dtype) {
    bits = std::move(make_host_tensor(from, t.dims, true)).value();
    convert(t.dtype, t.bytes.data(), t.count(), from, bits.bytes.data());
  }
  bits.dtype = graph_.type(node.results[0]).dtype;
  return widened(bits);
}

std::string Yardstick::run_node(const Node& node, int samples) {
  if (node.op == Op::bitcast) {
    for (const HostTensor& t : values_[node.operands[0]])
      values_[node.results[0]].push_back(bits_as(node, t));
    return "";
  }
  if (node.op == Op::constant) {
    const auto bytes = full_bytes(*node.data);
    if (!bytes.ok()) return bytes.error().to_string();
    HostTensor t{node.data->dtype, node.data->dims, ByteBuffer::allocate((*bytes)->size())};
    std::copy((*bytes)->span().begin(), (*bytes)->span().end(), t.bytes.data());
    for (int k = 0; k < samples; ++k) values_[node.results[0]].push_back(widened(t));
    return "";
  }
  std::vector<Samples> operands;
  for (const ValueId v : node.operands) {
    operands.emplace_back();
    if (v != kNone)
      for (const HostTensor& t : values_[v]) operands.back().push_back(copy_of(t));
  }
  if (std::string error = compute(node, operands, samples); !error.empty() && !nothing(node, samples))
    return error;
  for (int k = 1; k < samples; ++k) disturb_result(node, k);
  for (const ValueId v : node.results) {
    const DType original = graph_.type(v).dtype;
    if (!is_float(original) || is_exact(node.op)) continue;
    // Functions of float32 and float64 are right to a few units; narrower results are rounded once.
    const bool narrow = bits_of(original) < 32;
    for (int k = 1; k < samples; ++k) {
      HostTensor& t = values_[v][static_cast<size_t>(k)];
      disturb(t, original, narrow ? 1 : 4,
              hash_text("result", static_cast<uint64_t>(v) * 1000 + static_cast<uint64_t>(k)),
              scales_of(node, k));
      if (node.op != Op::cast) continue;
      for (int64_t i = 0; i < t.count(); ++i)  // a cast that the model asks for rounds in every run
        store_from_double(t.dtype, t.bytes.data(), i,
                          rounded(original, load_as_double(t.dtype, t.bytes.data(), i)));
    }
  }
  if (is_sum(node.op) || node.op == Op::add || node.op == Op::sub) settle_on_whole(node, samples);
  return "";
}

std::string Yardstick::run(int samples) {
  values_.clear();
  values_.resize(graph_.value_capacity());
  for (size_t i = 0; i < inputs_.size(); ++i)
    for (int k = 0; k < samples; ++k) values_[graph_.inputs[i]].push_back(widened(inputs_[i]));
  std::vector<bool> needed(graph_.node_capacity(), false);
  std::vector<ValueId> work = graph_.outputs;
  while (!work.empty()) {
    const ValueId v = work.back();
    work.pop_back();
    const NodeId id = v == kNone ? kNone : graph_.value(v).producer;
    if (id == kNone || needed[id]) continue;
    needed[id] = true;
    work.insert(work.end(), graph_.node(id).operands.begin(), graph_.node(id).operands.end());
  }
  for (const NodeId id : graph_.order()) {
    if (!needed[id]) continue;
    if (std::string error = run_node(graph_.node(id), samples); !error.empty()) return error;
  }
  return "";
}

bool Yardstick::explains(size_t output, int64_t index, double got, double reference) const {
  const ValueId v = graph_.outputs[output];
  const DType dtype = graph_.type(v).dtype;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double low = kInfinity, high = -kInfinity, least = kInfinity,
         most = -kInfinity;  // the latter of finite ones
  bool nan = std::isnan(reference), number = !nan;
  const auto see = [&](double value) {
    (std::isnan(value) ? nan : number) = true;
    if (std::isnan(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
    if (std::isinf(value)) return;
    least = std::min(least, value);
    most = std::max(most, value);
  };
  see(reference);
  for (const HostTensor& t : values_[v]) {
    const double value = load_as_double(t.dtype, t.bytes.data(), index);
    see(value);
    see(rounded(dtype, value));
  }
  if (nan && number) return true;  // some orders of rounding overflow, others do not
  if (std::isnan(got) && std::isinf(low) && std::isinf(high)) return low != high;  // both met in one sum
  if (std::isnan(got) || nan) return std::isnan(got) && nan;
  if (got == low || got == high) return true;
  // Both signs, and beyond the dtype: a pole, which the smallest step crosses.
  if (low < 0 && high > 0 && (std::isinf(low) || std::isinf(high))) return true;
  if (std::isinf(high) && std::isinf(low)) return high != low;
  // Nothing is wider than float64: where a part of a formula overflows in it, what is left may be 0.
  if (dtype == DType::float64 && std::max({std::abs(got), std::abs(least), std::abs(most)}) < 1e-290)
    return true;
  const bool wild = least < 0 && most > 0;  // not even the sign is known: near a pole the tails are long
  const double slack =
      (wild ? 64 : 2) * (most - least) + 4 * unit_of(dtype, std::max(std::abs(least), std::abs(most)));
  if (std::isinf(got)) return std::isinf(rounded(dtype, got > 0 ? most + slack : least - slack));
  return (got >= least - slack || std::isinf(low)) && (got <= most + slack || std::isinf(high));
}

std::string Yardstick::range(size_t output, int64_t index) const {
  std::string text;
  const auto& samples = values_[graph_.outputs[output]];
  for (size_t k = 0; k < std::min<size_t>(samples.size(), 6); ++k) {
    char number[40];
    std::snprintf(number, sizeof number, " %.17g",
                  load_as_double(samples[k].dtype, samples[k].bytes.data(), index));
    text += number;
  }
  return text;
}

bool Yardstick::explains_integer(size_t output, int64_t index, int64_t got, int64_t reference) const {
  const ValueId v = graph_.outputs[output];
  int64_t low = reference, high = reference;
  for (const HostTensor& t : values_[v]) {
    const int64_t value = load_as_int64(t.dtype, t.bytes.data(), index);
    low = std::min(low, value);
    high = std::max(high, value);
  }
  // Positions of nearly equal elements: any of them, also one that no run gave.
  const double slack = static_cast<double>(high) - static_cast<double>(low);
  return static_cast<double>(got) >= static_cast<double>(low) - slack &&
         static_cast<double>(got) <= static_cast<double>(high) + slack;
}

}  // namespace ge::test
