// HannWindow, HammingWindow, BlackmanWindow: a0 - a1 cos(2 pi n / N) + a2 cos(4 pi n / N), where N is the
// size (periodic) or one less; and MelWeightMatrix. All are taken in float64 and rounded once.
#include <cmath>
#include <numbers>

#include "compiler/onnx_ops/op_context.h"
#include "numeric/convert.h"

namespace ge {
namespace {

std::optional<DType> output_type(OpContext& c) {
  const DType dtype = c.asked_dtype("output_datatype").value_or(DType::float32);
  if (bits_of(dtype) >= 8 && !is_bool(dtype) && (!is_float(dtype) || bits_of(dtype) >= 16)) return dtype;
  c.fail(c.about_attr("output_datatype", Code::operand_dtype, "output_datatype is no type for numbers")
             .because("found " + std::string(name_of(dtype))));
  return std::nullopt;
}

Results window(OpContext& c, double a0, double a1, double a2) {
  Builder& b = c.build();
  const auto to = output_type(c);
  const auto size = to ? c.size_input(0, 0) : std::nullopt;
  if (!size) return kNone;
  const auto number = [&](double v) { return b.scalar(DType::float64, v); };
  // A symmetric window of one element is its middle in no formula: n / 0 is avoided, and cos(0) taken.
  const Dim last = c.int_attr("periodic") != 0 ? *size : *size - Dim(1);
  const ValueId period = b.cast(c.size_scalar(Dim::max(last, Dim(1))), DType::float64);
  const ValueId n = b.cast(c.positions({*size}, 0), DType::float64);
  const auto wave = [&](double times) {
    return b.map(Op::cos, {b.map(Op::div, {b.map(Op::mul, {n, number(times * std::numbers::pi)}), period})});
  };
  ValueId y = b.map(Op::sub, {number(a0), b.map(Op::mul, {wave(2), number(a1)})});
  if (a2 != 0) y = b.map(Op::add, {y, b.map(Op::mul, {wave(4), number(a2)})});
  return c.failed() ? kNone : b.cast(y, *to);
}

}  // namespace

Results lower_hann_window(OpContext& c) {
  return window(c, 0.5, 0.5, 0);
}
Results lower_hamming_window(OpContext& c) {
  return window(c, 25.0 / 46, 21.0 / 46, 0);
}
Results lower_blackman_window(OpContext& c) {
  return window(c, 0.42, 0.5, 0.08);
}

namespace {

struct MelBands {
  int64_t bands = 0, rows = 0;
  std::vector<int64_t> edges;  // bands + 2 positions, ascending, below `rows`
};

// Positions of the edges: evenly spaced on the mel scale, 2595 log10(1 + f / 700).
std::optional<MelBands> mel_bands(OpContext& c) {
  int64_t counts[3];
  for (size_t i = 0; i < 3; ++i) {
    const auto value = c.integers(i);
    if (!value) return std::nullopt;
    if (value->size() != 1 || value->front() < 1 || value->front() > (1 << 24)) {
      c.fail(c.about_input(i, Code::bad_attribute,
                           "'" + c.op().input_name(i) + "' must be one number, 1 .. 2^24")
                 .because("found " + c.describe(c.in(i))));
      return std::nullopt;
    }
    counts[i] = value->front();
  }
  const auto low = c.number(3), high = low ? c.number(4) : std::nullopt;
  if (!high) return std::nullopt;
  const auto mel = [](double f) { return 2595 * std::log10(1 + f / 700); };
  const double from = mel(*low), step = (mel(*high) - from) / static_cast<double>(counts[0] + 2);
  MelBands result{counts[0], counts[1] / 2 + 1, {}};
  for (int64_t i = 0; i < result.bands + 2; ++i) {
    const double hertz = 700 * (std::pow(10.0, (from + step * static_cast<double>(i)) / 2595) - 1);
    const double place =
        std::floor(static_cast<double>(counts[1] + 1) * hertz / static_cast<double>(counts[2]));
    if (!(place >= 0 && place < static_cast<double>(result.rows)) || !(step >= 0)) {
      c.fail(c.about_node(Code::bad_attribute, "the bands reach outside the spectrum")
                 .because("band edge " + std::to_string(i) + " is at " + std::to_string(hertz) + " Hz, bin " +
                          std::to_string(place) + " of " + std::to_string(result.rows))
                 .try_("lower upper_edge_hertz to at most half of sample_rate"));
      return std::nullopt;
    }
    result.edges.push_back(static_cast<int64_t>(place));
  }
  return result;
}

}  // namespace

// Column i rises from edge i to edge i + 1, where it is 1, and falls to edge i + 2.
Results lower_mel_weight_matrix(OpContext& c) {
  const auto to = output_type(c);
  const auto mel = to ? mel_bands(c) : std::nullopt;
  if (!mel) return kNone;
  constexpr int64_t kMostElements = 1 << 24;
  if (mel->rows > kMostElements / mel->bands) {
    return c.fail(
        c.about_node(Code::unsupported_feature, "the matrix is too large to be made at compile time")
            .because(std::to_string(mel->rows) + " x " + std::to_string(mel->bands) +
                     " elements, at most 2^24"));
  }
  ByteBuffer bytes = ByteBuffer::allocate(static_cast<size_t>(bytes_of(*to, mel->rows * mel->bands)), true);
  if (bytes.data() == nullptr) return c.fail(c.about_node(Code::out_of_memory, "no memory for the matrix"));
  const auto set = [&](int64_t row, int64_t column, double value) {
    store_from_double(*to, bytes.data(), row * mel->bands + column, value);
  };
  for (int64_t i = 0; i < mel->bands; ++i) {
    const int64_t left = mel->edges[i], middle = mel->edges[i + 1], right = mel->edges[i + 2];
    for (int64_t j = left; j < middle; ++j)
      set(j, i, static_cast<double>(j - left) / static_cast<double>(middle - left));
    set(middle, i, 1);
    for (int64_t j = middle + 1; j < right; ++j)
      set(j, i, static_cast<double>(right - j) / static_cast<double>(right - middle));
  }
  TensorData data;
  data.dtype = *to;
  data.dims = {mel->rows, mel->bands};
  data.bytes = std::make_shared<const ByteBuffer>(std::move(bytes));
  return c.build().constant(std::move(data));
}

}  // namespace ge
