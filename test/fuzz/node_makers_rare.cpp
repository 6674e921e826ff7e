// Makers: losses, sequences, grids and regions, transforms, quantized convolutions.
#include <algorithm>

#include "fuzz/node_makers.h"

namespace ge::test {
namespace {

using MaybeSpec = std::optional<NodeSpec>;

// [N, C, spatial...] of numbers, small.
Dims small_image(GraphMaker& m, int64_t spatial) {
  Random& r = m.random();
  Dims dims{Dim(r.in(1, 2)), Dim(r.in(1, 4))};
  if (r.chance(40)) dims[0] = m.some_dims(1, 1)[0];
  for (int64_t i = 0; i < spatial; ++i) dims.emplace_back(r.in(1, 6));
  return dims;
}

MaybeSpec make_loss(GraphMaker& m, const Operator& op) {
  Random& r = m.random();
  const DType dtype = m.some_dtype(allowed_for_input(op, 0));
  const int64_t n = r.in(1, 4), classes = r.in(1, 5), d = r.in(1, 3);
  const bool flat = r.chance(50);
  NodeSpec spec;
  spec.operands = {
      m.exactly(dtype, flat ? Dims{n, classes} : Dims{n, classes, d}),
      m.integers(DType::int64, flat ? std::vector<int64_t>{n} : std::vector<int64_t>{n, d}, 0, classes - 1)};
  if (r.chance(50)) spec.operands.push_back(m.exactly(dtype, {classes}));
  spec.attrs["reduction"] = std::string(r.pick(std::vector<const char*>{"none", "sum", "mean"}));
  if (r.chance(30)) spec.attrs["ignore_index"] = r.in(-1, classes - 1);
  return spec;
}

MaybeSpec make_reverse_sequence(GraphMaker& m, const Operator& op) {
  const int64_t batch = m.random().in(0, 1), time = m.random().in(1, 6), count = m.random().in(1, 4);
  Dims dims = batch == 0 ? Dims{count, time} : Dims{time, count};
  if (m.random().chance(50)) dims.push_back(m.some_dims(1, 1)[0]);
  if (m.elements(dims) > m.max_elements()) return std::nullopt;
  return NodeSpec{
      {m.exactly(m.some_dtype(allowed_for_input(op, 0)), dims), m.integers(DType::int64, {count}, 1, time)},
      {{"batch_axis", batch}, {"time_axis", 1 - batch}}};
}

MaybeSpec make_max_unpool(GraphMaker& m, const Operator& op) {
  const int64_t n = m.random().in(1, 4), channels = m.random().in(1, 2);
  return NodeSpec{{m.exactly(m.some_dtype(allowed_for_input(op, 0)), {1, channels, n}),
                   m.integers(DType::int64, {1, channels, n}, 0, channels * 2 * n - 1)},
                  {{"kernel_shape", std::vector<int64_t>{2}}, {"strides", std::vector<int64_t>{2}}}};
}

MaybeSpec make_grid_sample(GraphMaker& m, const Operator& op) {
  Random& r = m.random();
  const int64_t spatial = r.pick(std::vector<int64_t>{1, 2, 2, 2, 3});
  const Dims dims = small_image(m, spatial);
  Dims grid{dims[0]};
  for (int64_t i = 0; i < spatial; ++i) grid.emplace_back(r.in(1, 3));
  grid.emplace_back(spatial);
  NodeSpec spec{{m.exactly(m.some_dtype(allowed_for_input(op, 0)), dims),
                 m.exactly(m.some_dtype(allowed_for_input(op, 1)), grid)},
                {}};
  std::vector<const char*> modes{"nearest", "bilinear"};
  if (op.row->since >= 20) modes = {"nearest", "linear"};
  if (spatial < 3) modes.push_back(op.row->since >= 20 ? "cubic" : "bicubic");
  spec.attrs["mode"] = std::string(r.pick(modes));
  spec.attrs["padding_mode"] = std::string(r.pick(std::vector<const char*>{"zeros", "border", "reflection"}));
  spec.attrs["align_corners"] = r.in(0, 1);
  return spec;
}

MaybeSpec make_affine_grid(GraphMaker& m, const Operator& op) {
  const int64_t spatial = m.random().in(2, 3);
  std::vector<int64_t> size{m.random().in(1, 3), 1};
  for (int64_t i = 0; i < spatial; ++i) size.push_back(m.random().in(1, 4));
  return NodeSpec{
      {m.exactly(m.some_dtype(allowed_for_input(op, 0)), {size[0], spatial, spatial + 1}), m.ints(size)},
      {{"align_corners", m.random().in(0, 1)}}};
}

MaybeSpec make_regions(GraphMaker& m, const Operator& op) {
  Random& r = m.random();
  const DType dtype = m.some_dtype(allowed_for_input(op, 0));
  Dims dims = small_image(m, 2);
  dims[0] = r.in(1, 2);
  const int64_t regions = r.in(1, 3);
  if (std::string_view(op.row->name) == "MaxRoiPool") {
    return NodeSpec{{m.exactly(dtype, dims), m.constant(splat(dtype, {regions, 5}, 0))},
                    {{"pooled_shape", std::vector<int64_t>{r.in(1, 3), r.in(1, 3)}}}};
  }
  NodeSpec spec{
      {m.exactly(dtype, dims), m.exactly(dtype, {regions, 4}),
       m.integers(DType::int64, {regions}, 0, *dims[0].value() - 1)},
      {{"output_height", r.in(1, 3)}, {"output_width", r.in(1, 3)}, {"sampling_ratio", r.in(1, 2)}}};
  if (r.chance(30)) spec.attrs["mode"] = std::string("max");
  return spec;
}

MaybeSpec make_deform_conv(GraphMaker& m, const Operator& op) {
  Random& r = m.random();
  const DType dtype = m.some_dtype(allowed_for_input(op, 0));
  const int64_t h = r.in(2, 5), w = r.in(2, 5), channels = r.in(1, 3);
  NodeSpec spec{{m.exactly(dtype, {1, channels, h, w}), m.exactly(dtype, {2, channels, 2, 2}),
                 m.exactly(dtype, {1, 8, h - 1, w - 1})},
                {}};
  if (r.chance(50)) spec.operands.push_back(m.exactly(dtype, {2}));
  if (spec.operands.size() == 4 && r.chance(50))
    spec.operands.push_back(m.exactly(dtype, {1, 4, h - 1, w - 1}));
  return spec;
}

MaybeSpec make_q_linear_conv(GraphMaker& m, const Operator& op) {
  Random& r = m.random();
  const DType x = m.some_dtype(allowed_for_input(op, 0)), w = m.some_dtype(allowed_for_input(op, 3)),
              y = m.some_dtype(allowed_for_input(op, 7));
  const int64_t channels = r.in(1, 3), filters = r.in(1, 3);
  const auto scale = [&] { return m.number(DType::float32, r.pick(std::vector<double>{0.5, 0.01, 3})); };
  NodeSpec spec{
      {m.exactly(x, {Dim(r.in(1, 2)), channels, r.in(2, 6)}), scale(),
       m.number(x, static_cast<double>(r.in(0, 9))), m.exactly(w, {filters, channels, 2}), scale(),
       m.number(w, static_cast<double>(r.in(0, 9))), scale(), m.number(y, static_cast<double>(r.in(0, 9)))},
      {}};
  if (r.chance(50)) spec.operands.push_back(m.exactly(DType::int32, {filters}));
  return spec;
}

MaybeSpec make_transform(GraphMaker& m, const Operator& op) {
  Random& r = m.random();
  const DType dtype = m.some_dtype(allowed_for_input(op, 0));
  const int64_t length = r.pick(std::vector<int64_t>{1, 2, 5, 8, 12, 66});
  if (std::string_view(op.row->name) == "STFT") {
    const int64_t frame = r.in(1, length);
    return NodeSpec{{m.exactly(dtype, {m.some_dims(1, 1)[0], length, 1}),
                     m.number(DType::int64, static_cast<double>(r.in(1, 3))),
                     r.chance(50) ? m.exactly(dtype, {frame}) : kNone,
                     m.number(DType::int64, static_cast<double>(frame))},
                    {{"onesided", r.in(0, 1)}}};
  }
  const bool real = r.chance(50);
  return NodeSpec{{m.exactly(dtype, {m.some_dims(1, 1)[0], length, real ? 1 : 2})},
                  {{real ? "onesided" : "inverse", r.in(0, 1)}}};
}

MaybeSpec make_window(GraphMaker& m, const Operator&) {
  return NodeSpec{{m.number(DType::int64, static_cast<double>(m.random().in(1, 9)))},
                  {{"periodic", m.random().in(0, 1)}}};
}

MaybeSpec make_cum_prod(GraphMaker& m, const Operator& op) {
  const ValueId x = m.any(allowed_for_input(op, 0), 1, 4);
  if (x == kNone) return std::nullopt;
  return NodeSpec{{x, m.number(DType::int64, static_cast<double>(some_axis(m, m.rank(x))))},
                  {{"exclusive", m.random().in(0, 1)}, {"reverse", m.random().in(0, 1)}}};
}

MaybeSpec make_col2im(GraphMaker& m, const Operator& op) {
  Random& r = m.random();
  const int64_t h = r.in(1, 5), w = r.in(1, 5), bh = r.in(1, h), bw = r.in(1, w), pad = r.in(0, 1);
  const int64_t blocks = (h + 2 * pad - bh + 1) * (w + 2 * pad - bw + 1);
  NodeSpec spec{
      {m.exactly(m.some_dtype(allowed_for_input(op, 0)), {r.in(1, 2), r.in(1, 3) * bh * bw, blocks}),
       m.ints({h, w}), m.ints({bh, bw})},
      {}};
  if (pad == 1) spec.attrs["pads"] = std::vector<int64_t>{1, 1, 1, 1};
  return spec;
}

MaybeSpec make_upsample(GraphMaker& m, const Operator& op) {
  const ValueId x = m.any(allowed_for_input(op, 0), 2, 4);
  if (x == kNone) return std::nullopt;
  std::vector<float> scales;
  for (int64_t a = 0; a < m.rank(x); ++a)
    scales.push_back(a >= 2 || m.rank(x) == 2 ? m.random().pick(std::vector<float>{1, 2, 1.5F}) : 1);
  return NodeSpec{{x, m.constant(tensor_of_floats({m.rank(x)}, scales))},
                  {{"mode", std::string(m.random().chance(50) ? "nearest" : "linear")}}};
}

}  // namespace

const NodeMakers& rare_makers() {
  static const NodeMakers table{{"NegativeLogLikelihoodLoss", make_loss},
                                {"SoftmaxCrossEntropyLoss", make_loss},
                                {"ReverseSequence", make_reverse_sequence},
                                {"MaxUnpool", make_max_unpool},
                                {"GridSample", make_grid_sample},
                                {"AffineGrid", make_affine_grid},
                                {"RoiAlign", make_regions},
                                {"MaxRoiPool", make_regions},
                                {"DeformConv", make_deform_conv},
                                {"QLinearConv", make_q_linear_conv},
                                {"DFT", make_transform},
                                {"STFT", make_transform},
                                {"HannWindow", make_window},
                                {"HammingWindow", make_window},
                                {"BlackmanWindow", make_window},
                                {"CumProd", make_cum_prod},
                                {"Upsample", make_upsample},
                                {"Col2Im", make_col2im}};
  return table;
}

}  // namespace ge::test
