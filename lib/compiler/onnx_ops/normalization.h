// What the normalizations share: the type their statistics are taken in, and values per channel. Entry:
// statistics_type, normalize, per_channel, check_vector.
#pragma once
#include "compiler/onnx_ops/op_context.h"

namespace ge {

// The type the first stage is computed in: stash_type (1 where the operator has no such attribute), but
// float32 and X's own type at least. Fails with bad_attribute where stash_type is no floating point type.
DType statistics_type(OpContext& c);

// Core normalize ("layer" or "rms") over axes from `axis` on, with the attribute epsilon; operands are x and,
// of its shape, scale and bias.
ValueId normalize(OpContext& c, const std::string& kind, std::vector<ValueId> operands, int64_t axis);

// Mean and 1 / sqrt(variance + epsilon) of x over axes from `axis` on, axes kept, in x's type; with `rms` the
// mean is kNone and the variance is that of x itself, without its mean taken off.
std::vector<ValueId> layer_statistics(OpContext& c, ValueId x, int64_t axis, bool rms = false);

// A vector of one value per channel as [1, C, 1, ...] of rank `rank`; as it is where `rank` is 1.
ValueId per_channel(OpContext& c, ValueId v, int64_t rank);

// True where input `i` is a vector of `count` values, asserted at bind where that is not known; else it
// fails with operand_rank or shape_mismatch, calling the values "one value per `unit`".
bool check_vector(OpContext& c, size_t i, const Dim& count, const std::string& unit);

}  // namespace ge
