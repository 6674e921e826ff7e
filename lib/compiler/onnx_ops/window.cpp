// Reads and checks window attributes; turns auto_pad into numbers.
#include "compiler/onnx_ops/window.h"

#include <algorithm>

namespace ge {
namespace {

std::string list_text(const std::vector<int64_t>& values) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i) text += (i ? ", " : "") + std::to_string(values[i]);
  return text + "]";
}

// Total padding that makes the output ceil(in / stride) long; symbolic where it depends on the size.
Dim same_padding(const Dim& in, int64_t stride, int64_t extent) {
  if (stride == 1) return Dim(extent - 1);
  return Dim::max((Dim::ceil_div(in, Dim(stride)) - Dim(1)) * Dim(stride) + Dim(extent) - in, Dim(0));
}

void set_same_padding(OpContext& c, Window& w, bool upper) {
  const Dims& dims = c.dims(c.in(0));
  for (size_t i = 0; i < w.kernel.size(); ++i) {
    const Dim total = same_padding(dims[i + 2], w.strides[i], (w.kernel[i] - 1) * w.dilations[i] + 1);
    if (!total.is_static()) {
      c.fail(c.about_attr("auto_pad", Code::needs_constant, "padding depends on a symbolic dim")
                 .because("dim " + std::to_string(i + 2) + " of " + c.describe(c.in(0)) + " with stride " +
                          std::to_string(w.strides[i]))
                 .try_("pin the dim with --dim NAME=N, or write pads"));
      return;
    }
    const int64_t half = *total.value() / 2, rest = *total.value() - half;
    w.pads_begin[i] = upper ? half : rest;
    w.pads_end[i] = upper ? rest : half;
  }
}

void set_pads(OpContext& c, Window& w) {
  const std::string mode = c.string_attr("auto_pad");
  const size_t spatial = w.kernel.size();
  const std::vector<int64_t> pads = window_list(c, "pads", 2 * spatial, 0, 0);
  w.pads_begin.assign(pads.begin(), pads.begin() + static_cast<int64_t>(spatial));
  w.pads_end.assign(pads.begin() + static_cast<int64_t>(spatial), pads.end());
  if (c.failed() || mode == "NOTSET" || mode.empty()) return;
  std::fill(w.pads_begin.begin(), w.pads_begin.end(), 0);
  std::fill(w.pads_end.begin(), w.pads_end.end(), 0);
  if (mode == "VALID" || mode == "SAME_UPPER" || mode == "SAME_LOWER") return;
  c.fail(c.about_attr("auto_pad", Code::bad_attribute, "auto_pad is not valid")
             .because("found \"" + mode + "\", allowed NOTSET, SAME_UPPER, SAME_LOWER, VALID"));
}

}  // namespace

std::vector<int64_t> window_list(OpContext& c, const std::string& name, size_t count, int64_t least,
                                 int64_t fallback) {
  if (!c.op().attribute(name) || !c.has_attr(name)) return std::vector<int64_t>(count, fallback);
  std::vector<int64_t> values = c.ints_attr(name);
  const bool valid =
      std::all_of(values.begin(), values.end(), [&](int64_t v) { return v >= least && v <= INT32_MAX; });
  if (values.size() == count && valid) return values;
  c.fail(c.about_attr(name, Code::bad_attribute, name + " is not valid")
             .because("found " + list_text(values) + "; allowed " + std::to_string(count) + " values from " +
                      std::to_string(least) + " up, for " + c.describe(c.in(0))));
  return std::vector<int64_t>(count, fallback);
}

Window read_window_steps(OpContext& c, const std::vector<int64_t>& kernel) {
  Window w;
  const int64_t rank = c.rank(c.in(0));
  if (rank < 3 || rank > 5) {
    c.fail(c.about_input(0, Code::operand_rank, "'X' must be [N, C, spatial...] with 1 to 3 spatial dims")
               .because("found " + c.describe(c.in(0))));
    return w;
  }
  const auto spatial = static_cast<size_t>(rank - 2);
  w.kernel =
      c.has_attr("kernel_shape") || kernel.empty() ? window_list(c, "kernel_shape", spatial, 1, 1) : kernel;
  w.strides = window_list(c, "strides", spatial, 1, 1);
  w.dilations = window_list(c, "dilations", spatial, 1, 1);
  set_pads(c, w);
  return w;
}

Window read_window(OpContext& c, const std::vector<int64_t>& kernel) {
  Window w = read_window_steps(c, kernel);
  const std::string mode = c.string_attr("auto_pad");
  if (!c.failed() && mode.starts_with("SAME")) set_same_padding(c, w, mode == "SAME_UPPER");
  return w;
}

}  // namespace ge
