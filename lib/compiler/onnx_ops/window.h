// Windows of convolutions and pools: the attributes kernel, strides, dilations and pads, with auto_pad
// resolved. Entry: read_window,
// and for other rules of padding read_window_steps.
#pragma once
#include "compiler/onnx_ops/op_context.h"

namespace ge {

struct Window {
  std::vector<int64_t> kernel, strides, dilations, pads_begin, pads_end;  // one per spatial dim
};

// The window of a node on input 0 [N, C, spatial...]. `kernel` is used where the attribute kernel_shape is
// absent. Fails with operand_rank, bad_attribute (wrong lengths and values), or needs_constant where SAME
// padding depends on a symbolic dim.
Window read_window(OpContext& c, const std::vector<int64_t>& kernel = {});

// The same but for auto_pad: pads are what the attribute `pads` says, unless auto_pad names a mode (all 0).
Window read_window_steps(OpContext& c, const std::vector<int64_t>& kernel = {});

// An attribute of `count` values of at least `least`; `fallback` each where it is absent. Fails with
// bad_attribute.
std::vector<int64_t> window_list(OpContext& c, const std::string& name, size_t count, int64_t least,
                                 int64_t fallback);

}  // namespace ge
