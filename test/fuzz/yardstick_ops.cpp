// What the yardstick knows of single ops: where float32, or a kernel that works in another order, ends in
// infinity, NaN or 0 although float64 does not. Entry: Yardstick::disturb_result.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "fuzz/random.h"
#include "fuzz/yardstick.h"
#include "numeric/convert.h"

namespace ge::test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double* numbers(HostTensor& t) {
  return reinterpret_cast<double*>(t.bytes.data());
}
const double* numbers(const HostTensor& t) {
  return reinterpret_cast<const double*>(t.bytes.data());
}

bool all_finite(const HostTensor& t) {
  return std::all_of(numbers(t), numbers(t) + t.count(), [](double x) { return std::isfinite(x); });
}

// The terms one after the other, by size or rolled, or (rolled) by pairs as lanes and warps do.
template <class T>
double product_in_order(std::vector<double> terms, int sample, Random& r) {
  const auto rank = [&](double x) {
    const double size = std::isnan(x) ? 1 : std::abs(x);
    if (sample % 8 == 5 && size < 1) return 1 - size;  // below 1 the greatest first, then those above
    return sample % 8 == 3 ? -size : size;
  };
  if (sample % 8 == 7)
    for (size_t i = terms.size(); i > 1; --i)
      std::swap(terms[i - 1], terms[static_cast<size_t>(r.in(0, static_cast<int64_t>(i) - 1))]);
  else
    std::stable_sort(terms.begin(), terms.end(), [&](double a, double b) { return rank(a) < rank(b); });
  const size_t lanes = sample % 16 == 15 ? 4 : 1;
  T product = 1;
  for (size_t lane = 0; lane < lanes; ++lane) {
    T part = 1;
    for (size_t i = lane; i < terms.size(); i += lanes) part *= static_cast<T>(terms[i]);
    product *= part;
  }
  return static_cast<double>(product);
}

}  // namespace

void replace_huge(HostTensor& t, double from, double by) {
  for (int64_t i = 0; i < t.count(); ++i) {
    double& x = numbers(t)[i];
    if (std::isnan(x) && std::isinf(by)) continue;  // no overflow makes a number of it
    if (!(std::abs(x) < from)) x = std::isnan(x) ? by : std::copysign(by, x);
  }
}

// Layer normalization: the mean is rounded once for a row, which moves all of the row by that over the
// deviation.
void Yardstick::disturb_mean(const Node& node, int sample) {
  if (node.op != Op::normalize || attr_string(node, "kind") != "layer") return;
  const auto k = static_cast<size_t>(sample);
  const HostTensor& x = values_[node.operands[0]][k];
  HostTensor& y = values_[node.results[0]][k];
  const auto* in = reinterpret_cast<const double*>(x.bytes.data());
  auto* out = reinterpret_cast<double*>(y.bytes.data());
  const double* scale = has_operand(node, 1)
                            ? reinterpret_cast<const double*>(values_[node.operands[1]][k].bytes.data())
                            : nullptr;
  int64_t row = 1;
  for (size_t a = static_cast<size_t>(attr_int(node, "axis")); a < x.dims.size(); ++a) row *= x.dims[a];
  const DType type = graph_.type(node.operands[0]).dtype == DType::float64 ? DType::float64 : DType::float32;
  Random r(hash_text("mean", static_cast<uint64_t>(node.results[0]) * 1000 + k));
  for (int64_t begin = 0; row > 0 && begin < x.count(); begin += row) {
    double mean = 0, variance = 0, most = 0;
    for (int64_t i = 0; i < row; ++i) mean += in[begin + i] / static_cast<double>(row);
    for (int64_t i = 0; i < row; ++i) {
      variance += (in[begin + i] - mean) * (in[begin + i] - mean) / static_cast<double>(row);
      most = std::max(most, std::abs(in[begin + i]));
    }
    const double shift =
        2 * unit_of(type, most) * r.symmetric() / std::sqrt(variance + attr_double(node, "epsilon"));
    if (!std::isfinite(shift)) continue;
    for (int64_t i = 0; i < row; ++i) out[begin + i] += scale == nullptr ? shift : shift * scale[begin + i];
  }
}

// Rows whose squares overflow float32: something finite over infinity. A row with a NaN stays NaN.
void Yardstick::zero_overflowing_rows(const Node& node, int sample) {
  const auto k = static_cast<size_t>(sample);
  const HostTensor& x = values_[node.operands[0]][k];
  if (graph_.type(node.operands[0]).dtype == DType::float64) return;
  const auto* in = reinterpret_cast<const double*>(x.bytes.data());
  auto* out = reinterpret_cast<double*>(values_[node.results[0]][k].bytes.data());
  const double* bias = has_operand(node, 2)
                           ? reinterpret_cast<const double*>(values_[node.operands[2]][k].bytes.data())
                           : nullptr;
  const int64_t row = terms_of(node);
  for (int64_t begin = 0; row > 0 && begin < x.count(); begin += row) {
    const double *first = in + begin, *last = first + row;
    if (std::any_of(first, last, [](double v) { return std::isnan(v); })) continue;
    if (std::any_of(first, last, [](double v) { return std::abs(v) > kHuge; }))
      for (int64_t i = begin; i < begin + row; ++i)
        out[i] = std::isinf(in[i]) ? kNaN : bias == nullptr ? 0 : bias[i];
  }
}

// celu with a negative b: b * exp(a / b) may be a number where the exp is none in float32.
void Yardstick::overflow_celu(const Node& node, int sample) {
  const auto k = static_cast<size_t>(sample);
  if (graph_.type(node.results[0]).dtype == DType::float64) return;
  const auto numbers = [&](ValueId v) { return reinterpret_cast<const double*>(values_[v][k].bytes.data()); };
  const double *a = numbers(node.operands[0]), *b = numbers(node.operands[1]);
  HostTensor& y = values_[node.results[0]][k];
  auto* out = reinterpret_cast<double*>(y.bytes.data());
  for (int64_t i = 0; i < y.count(); ++i)
    if (b[i] < 0 && a[i] / b[i] > 88) out[i] = -HUGE_VAL;
}

// For each result of a reduction, in row-major order, the numbers it is made of.
std::vector<std::vector<double>> Yardstick::terms_of_results(const Node& node, const HostTensor& x) const {
  const std::vector<int64_t> axes = attr_ints(node, "axes");
  std::vector<int64_t> steps(x.dims.size(), 0);  // of the result, for one step along the operand's axis
  int64_t results = 1;
  for (size_t a = x.dims.size(); a-- > 0;) {
    if (std::find(axes.begin(), axes.end(), static_cast<int64_t>(a)) != axes.end()) continue;
    steps[a] = results;
    results *= x.dims[a];
  }
  std::vector<std::vector<double>> terms(static_cast<size_t>(results));
  for (int64_t i = 0; i < x.count(); ++i) {
    int64_t rest = i, at = 0;
    for (size_t a = x.dims.size(); a-- > 0; rest /= x.dims[a]) at += rest % x.dims[a] * steps[a];
    terms[static_cast<size_t>(at)].push_back(numbers(x)[i]);
  }
  return terms;
}

// A product in its own dtype, float32 at least, in another order: parts of it may overflow, or fall below the
// least normal number, where they keep few digits or none. The ends of what orders give are those that take
// the greatest or the least numbers first, or the least ones last of those below 1; others are rolled.
void Yardstick::reorder_product(const Node& node, int sample) {
  const auto k = static_cast<size_t>(sample);
  const DType type = graph_.type(node.operands[0]).dtype;
  if (!is_float(type)) return;
  const auto terms = terms_of_results(node, values_[node.operands[0]][k]);
  Random r(hash_text("product", static_cast<uint64_t>(node.results[0]) * 1000 + k));
  double* out = numbers(values_[node.results[0]][k]);
  for (size_t i = 0; i < terms.size(); ++i)
    out[i] = type == DType::float64 ? product_in_order<double>(terms[i], sample, r)
                                    : product_in_order<float>(terms[i], sample, r);
}

// The weights of one row of attention, before they are divided by their sum: 0 .. 1, or NaN.
std::vector<double> Yardstick::weights_of_row(const Node& node, size_t sample,
                                              const std::array<int64_t, 3>& row) const {
  const HostTensor &q = values_[node.operands[0]][sample], &k = values_[node.operands[1]][sample];
  const auto [b, h, i] = row;
  const int64_t heads = q.dims[1], size = q.dims[3], keys = k.dims[2], queries = q.dims[2];
  const int64_t shared = h / (heads / k.dims[1]), causal = attr_int(node, "causal");
  const double *from = numbers(q) + ((b * heads + h) * queries + i) * size,
               *to = numbers(k) + (b * k.dims[1] + shared) * keys * size;
  const HostTensor* mask = has_operand(node, 3) ? &values_[node.operands[3]][sample] : nullptr;
  std::vector<double> scores;
  for (int64_t j = 0; j < keys; ++j) {
    double score = 0;
    for (int64_t d = 0; d < size; ++d) score += from[d] * to[j * size + d];
    score *= attr_double(node, "scale");
    const int64_t at = ((b * heads + h) * queries + i) * keys + j;
    if (mask != nullptr && !is_bool(mask->dtype)) score += numbers(*mask)[at];
    if (mask != nullptr && is_bool(mask->dtype) && load_as_int64(mask->dtype, mask->bytes.data(), at) == 0)
      score = node.attrs.contains("fill") ? attr_double(node, "fill") : -HUGE_VAL;
    const bool hidden = causal != 0 && j > i + (causal == 2 ? keys - queries : 0);
    scores.push_back(hidden ? -HUGE_VAL : score);
  }
  const double top = scores.empty() ? 0 : *std::max_element(scores.begin(), scores.end());
  for (double& s : scores) s = std::exp(s - top);
  return scores;
}

// A weight that float32 (or the operands' 16 bits) cannot hold is 0, and times an infinite value NaN.
void Yardstick::vanish_weights(const Node& node, int sample) {
  const auto s = static_cast<size_t>(sample);
  const HostTensor &q = values_[node.operands[0]][s], &v = values_[node.operands[2]][s];
  const DType type = graph_.type(node.operands[0]).dtype;
  if (type == DType::float64 || all_finite(v)) return;
  HostTensor& y = values_[node.results[0]][s];
  const int64_t heads = q.dims[1], keys = v.dims[2], width = v.dims[3];
  const double least = std::max(0x1p-126, unit_of(type, 0));
  for (int64_t b = 0; b < q.dims[0]; ++b)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = 0; i < q.dims[2]; ++i) {
        const std::vector<double> weights = weights_of_row(node, s, {b, h, i});
        double sum = 0;
        for (const double w : weights) sum += w;
        const double* values = numbers(v) + (b * v.dims[1] + h / (heads / v.dims[1])) * keys * width;
        double* out = numbers(y) + ((b * q.dims[2] + i) * heads + h) * width;
        for (int64_t j = 0; j < keys; ++j)
          for (int64_t e = 0; e < width && weights[static_cast<size_t>(j)] / sum < least; ++e)
            if (!std::isfinite(values[j * width + e])) out[e] = kNaN;
      }
}

// Padding as no terms (the reference's are zeros), which differ where a weight is infinite or NaN: what a
// filter with such a weight gives is summed again here, in float64, over the elements of x that it meets.
void Yardstick::skip_padding(const Node& node, int sample) {
  const auto k = static_cast<size_t>(sample);
  const HostTensor &x = values_[node.operands[0]][k], &w = values_[node.operands[1]][k];
  HostTensor& y = values_[node.results[0]][k];
  if (all_finite(w) || y.count() == 0 || w.dims[1] == 0) return;
  const auto &strides = attr_ints(node, "strides"), &pads = attr_ints(node, "pads_begin"),
             &dilations = attr_ints(node, "dilations");
  const auto area = [](const HostTensor& t) {
    return std::accumulate(t.dims.begin() + 2, t.dims.end(), int64_t{1}, std::multiplies<>());
  };
  const int64_t positions = area(y), taps = area(w), plane = area(x);
  // Where the tap reads in a plane of x, or -1 on padding.
  const auto read_at = [&](int64_t position, int64_t tap) {
    int64_t at = 0, step = 1;
    for (size_t a = y.dims.size(); a-- > 2; position /= y.dims[a], tap /= w.dims[a], step *= x.dims[a]) {
      const int64_t i =
          position % y.dims[a] * strides[a - 2] + tap % w.dims[a] * dilations[a - 2] - pads[a - 2];
      if (i < 0 || i >= x.dims[a]) return int64_t{-1};
      at += i * step;
    }
    return at;
  };
  const int64_t filters = w.dims[0], channels = w.dims[1], in_group = filters / (x.dims[1] / channels);
  const bool is_double = graph_.type(node.results[0]).dtype == DType::float64;
  const double* bias = has_operand(node, 2) ? numbers(values_[node.operands[2]][k]) : nullptr;
  for (int64_t m = 0; m < filters; ++m) {
    const double *filter = numbers(w) + m * channels * taps, *end = filter + channels * taps;
    if (std::all_of(filter, end, [](double v) { return std::isfinite(v); })) continue;
    for (int64_t i = 0; i < y.dims[0] * positions; ++i) {
      const int64_t n = i / positions, p = i % positions;
      const double* group = numbers(x) + (n * x.dims[1] + m / in_group * channels) * plane;
      double sum = bias == nullptr ? 0 : bias[m];
      for (int64_t t = 0; t < channels * taps; ++t) {
        const int64_t at = read_at(p, t % taps);
        // A huge weight's products may overflow in the order of a kernel, or not.
        const bool overflows =
            sample % 8 == 1 && !is_double && std::isfinite(filter[t]) && std::abs(filter[t]) > kHuge;
        const double weight = overflows ? std::copysign(kBeyond, filter[t]) : filter[t];
        if (at >= 0) sum += weight * group[t / taps * plane + at];
      }
      numbers(y)[(n * filters + m) * positions + p] = sum;
    }
  }
}

// Terms that cancel: where the runs so far lie around a whole number, another order may give just that.
void Yardstick::settle_on_whole(const Node& node, int samples) {
  for (const ValueId v : node.results) {
    if (!is_float(graph_.type(v).dtype)) continue;
    for (int64_t i = 0; i < values_[v][0].count(); ++i) {
      double low = HUGE_VAL, high = -HUGE_VAL;
      for (const HostTensor& t : values_[v]) {
        if (!std::isfinite(numbers(t)[i])) continue;
        low = std::min(low, numbers(t)[i]);
        high = std::max(high, numbers(t)[i]);
      }
      const double whole = std::nearbyint((low + high) / 2), reach = high - low;
      if (!(reach > 0 && whole >= low - reach && whole <= high + reach)) continue;
      Random r(hash_text("whole", static_cast<uint64_t>(v) * 1000003 + static_cast<uint64_t>(i)));
      for (int k = 1; k < samples; ++k)
        if (double& x = numbers(values_[v][static_cast<size_t>(k)])[i]; std::isfinite(x) && r.chance(25))
          x = whole;
    }
  }
}

// x * sigmoid(x) beside x: what is compared may be rounded to the same number.
void Yardstick::settle_on_equal(const Node& node, std::vector<HostTensor>& inputs) const {
  constexpr double kUnits = 8;
  const bool compares = node.op >= Op::equal && node.op <= Op::greater_equal;
  if (!compares || !is_float(graph_.type(node.operands[0]).dtype)) return;
  const DType original = graph_.type(node.operands[0]).dtype;
  for (int64_t i = 0; i < inputs[0].count(); ++i) {
    const double a = numbers(inputs[0])[i];
    double& b = numbers(inputs[1])[i];
    if (std::abs(a - b) <= kUnits * unit_of(original, a)) b = a;
  }
}

void Yardstick::disturb_result(const Node& node, int sample) {
  const auto k = static_cast<size_t>(sample);
  if (node.op == Op::normalize) disturb_mean(node, sample);
  if (node.op == Op::normalize && sample % 4 == 2) zero_overflowing_rows(node, sample);
  if (node.op == Op::celu && sample % 2 == 1) overflow_celu(node, sample);
  const bool is_double = graph_.type(node.results[0]).dtype == DType::float64;
  if (node.op == Op::conv && sample % 4 == 1) skip_padding(node, sample);
  if (node.op == Op::conv && sample % 4 == 1 && !(is_double && all_finite(values_[node.operands[1]][0])))
    replace_huge(values_[node.results[0]][k], kBeyond / 1e100, HUGE_VAL);
  if (node.op == Op::reduce && attr_string(node, "kind") == "prod" && sample % 2 == 1)
    reorder_product(node, sample);
  if (node.op == Op::attention && sample % 4 == 2) vanish_weights(node, sample);
}

}  // namespace ge::test
