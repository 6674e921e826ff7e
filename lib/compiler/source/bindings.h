// What the command line says about a graph before it is compiled: sizes of dims and inputs that are
// constants. Entry: apply_dim, freeze_input. Both work on the graph as it was read, before lowering.
#pragma once
#include <string>

#include "base/status.h"
#include "compiler/ir/graph.h"
#include "tensor_file/host_tensor.h"

namespace ge {

// "NAME=N" pins a symbolic dim, "NAME=MIN:MAX[:OPT]" bounds it (within the range the model declares). Errors:
// bad_usage where the text is neither, unknown_symbol (nearest offered), symbol_range, bad_dim where a size
// becomes negative.
Status apply_dim(Graph& graph, const std::string& text);

// "NAME=FILE.npy" turns a graph input into a constant; symbolic dims of its shape are pinned to what the file
// holds. Errors: bad_usage, unknown_input (nearest offered), input_dtype, input_shape, symbol_range, and
// those of reading npy files.
Status freeze_input(Graph& graph, const std::string& text);
// The same for a tensor in memory; `text` is what messages call it.
Status freeze_input(Graph& graph, const std::string& name, HostTensor tensor, const std::string& text);

}  // namespace ge
