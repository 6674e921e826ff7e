// MaxPool, AveragePool (core pool) and their global forms (core reduce).
#include <algorithm>

#include "compiler/onnx_ops/window.h"

namespace ge {
namespace {

// A window that lies wholly in the padding has no maximum and no mean.
bool check_pads(OpContext& c, const Window& w) {
  for (size_t i = 0; i < w.kernel.size(); ++i) {
    const int64_t extent = (w.kernel[i] - 1) * w.dilations[i] + 1;
    if (w.pads_begin[i] < extent && w.pads_end[i] < extent) continue;
    c.fail(c.about_attr("pads", Code::bad_attribute, "a pad is as large as its window")
               .because("dim " + std::to_string(i + 2) + ": pads " + std::to_string(w.pads_begin[i]) +
                        " and " + std::to_string(w.pads_end[i]) + ", window " + std::to_string(extent)));
    return false;
  }
  return true;
}

Results pool(OpContext& c, const std::string& kind, bool count_include_pad) {
  const Window w = read_window(c);
  if (c.failed() || !check_pads(c, w)) return kNone;
  return c.build().op(Op::pool, {c.in(0)},
                      {{"kind", kind},
                       {"kernel", w.kernel},
                       {"strides", w.strides},
                       {"pads_begin", w.pads_begin},
                       {"pads_end", w.pads_end},
                       {"dilations", w.dilations},
                       {"ceil_mode", static_cast<int64_t>(c.int_attr("ceil_mode") != 0)},
                       {"count_include_pad", static_cast<int64_t>(count_include_pad)}});
}

Results global(OpContext& c, std::string_view kind) {
  const ValueId x = c.in(0);
  if (c.rank(x) < 2) {
    return c.fail(c.about_input(0, Code::operand_rank, "'X' must be [N, C, spatial...]")
                      .because("found " + c.describe(x)));
  }
  std::vector<int64_t> axes;
  for (int64_t i = 2; i < c.rank(x); ++i) axes.push_back(i);
  return axes.empty() ? x : c.build().reduce(x, kind, axes, true);
}

}  // namespace

Results lower_max_pool(OpContext& c) {
  if (c.wants(1)) {
    return c.fail(c.about_node(Code::unsupported_feature, "the output 'Indices' is not supported")
                      .try_("use the values alone"));
  }
  const Results values = pool(c, "max", false);
  return std::vector<ValueId>{values.values[0], kNone};
}

Results lower_average_pool(OpContext& c) {
  return pool(c, "average", c.int_attr("count_include_pad") != 0);
}
Results lower_global_average_pool(OpContext& c) {
  return global(c, "mean");
}
Results lower_global_max_pool(OpContext& c) {
  return global(c, "max");
}

}  // namespace ge
