// Col2Im and MaxUnpool: elements put back where a window or a maximum took them from, on core scatter.
#include <algorithm>

#include "compiler/onnx_ops/window.h"

namespace ge {
namespace {

// The sizes an input holds, one for each of `count` axes (0: any number).
std::optional<Dims> sizes_of(OpContext& c, size_t input, size_t count) {
  auto sizes = c.contents(input);
  if (!sizes) return std::nullopt;
  const bool negative =
      std::any_of(sizes->begin(), sizes->end(), [](const Dim& d) { return d.value().value_or(0) < 0; });
  if (!negative && (count == 0 || sizes->size() == count) && !sizes->empty()) return sizes;
  c.fail(c.about_input(input, Code::bad_dim,
                       "'" + c.op().input_name(input) + "' must be one size for each spatial dim")
             .because("found " + to_string(*sizes) +
                      (count == 0 ? "" : " for " + std::to_string(count) + " dims")));
  return std::nullopt;
}

struct Fold {
  Dims image, padded, blocks;                            // per spatial axis; blocks: how many windows fit
  std::vector<int64_t> block, strides, dilations, pads;  // pads: before, then after
};

std::optional<Fold> read_fold(OpContext& c) {
  Fold f;
  const auto image = sizes_of(c, 1, 0);
  const auto block = image ? c.integers(2) : std::nullopt;
  if (!block) return std::nullopt;
  const size_t n = image->size();
  if (block->size() != n || n > 3 ||
      std::any_of(block->begin(), block->end(), [](int64_t k) { return k < 1; })) {
    c.fail(c.about_input(2, Code::bad_dim,
                         "'block_shape' must be one size from 1 up for each spatial dim, of up to 3")
               .because("found " + c.describe(c.in(2)) + " beside " + to_string(*image)));
    return std::nullopt;
  }
  f.image = *image;
  f.block = *block;
  f.strides = window_list(c, "strides", n, 1, 1);
  f.dilations = window_list(c, "dilations", n, 1, 1);
  f.pads = window_list(c, "pads", 2 * n, 0, 0);
  if (c.failed()) return std::nullopt;
  for (size_t i = 0; i < n; ++i) {
    f.padded.push_back(f.image[i] + Dim(f.pads[i]) + Dim(f.pads[i + n]));
    const Dim room = f.padded[i] - Dim(f.dilations[i]) * Dim(f.block[i] - 1) - Dim(1);
    f.blocks.push_back(Dim::floor_div(room, Dim(f.strides[i])) + Dim(1));
  }
  return f;
}

// [elements of a block, blocks]: where each goes in the flattened padded image.
ValueId places(OpContext& c, const Fold& f) {
  Builder& b = c.build();
  const size_t n = f.block.size();
  Dims grid(f.block.begin(), f.block.end());
  grid.insert(grid.end(), f.blocks.begin(), f.blocks.end());
  ValueId place = kNone;
  const auto times = [&](ValueId v, const Dim& d) { return b.map(Op::mul, {v, c.size_scalar(d)}); };
  for (size_t i = 0; i < n && !c.failed(); ++i) {
    Dims along(2 * n, Dim(1)), over = along;
    along[i] = grid[i];
    over[n + i] = grid[n + i];
    const ValueId step = times(c.positions(along, static_cast<int64_t>(i)), Dim(f.dilations[i]));
    const ValueId start = times(c.positions(over, static_cast<int64_t>(n + i)), Dim(f.strides[i]));
    const ValueId here = times(b.map(Op::add, {step, start}), product(f.padded, i + 1));
    place = place == kNone ? here : b.map(Op::add, {place, here});
  }
  const ValueId whole = b.broadcast(place, grid);
  return b.reshape(whole, {product(grid, 0, n), product(grid, n)});
}

}  // namespace

// The sum of all block elements that came from a pixel; of bools, whether any of them is true.
Results lower_col2_im(OpContext& c) {
  Builder& b = c.build();
  const bool any = is_bool(c.dtype(c.in(0)));
  const ValueId x = any ? b.cast(c.in(0), DType::int32) : c.in(0);
  if (c.rank(x) != 3) {
    return c.fail(c.about_input(0, Code::operand_rank, "'input' must be [N, C * block, blocks]")
                      .because("found " + c.describe(x)));
  }
  const auto f = read_fold(c);
  if (!f) return kNone;
  const Dim size = product(Dims(f->block.begin(), f->block.end()));
  const auto channels = OpContext::split(c.dims(x)[1], *size.value());
  if (!channels) {
    return c.fail(
        c.about_input(0, Code::shape_mismatch, "dim 1 of 'input' is no multiple of the block's elements")
            .because("found " + c.describe(x) + " and " + size.to_string()));
  }
  c.require_equal(c.dims(x)[2], product(f->blocks),
                  "'input' does not have as many blocks as the image holds");
  const Dim planes = c.dims(x)[0] * *channels;
  const ValueId place = places(c, *f);
  const ValueId empty = b.broadcast(c.scalar_like(x, 0), {planes, product(f->padded)});
  if (c.failed()) return kNone;
  const ValueId sum = b.op(Op::scatter, {empty, place, b.reshape(x, {planes, size, c.dims(x)[2]})},
                           {{"kind", std::string("add")}, {"axis", int64_t{1}}});
  Dims whole{c.dims(x)[0], *channels}, starts{0, 0}, shape = whole;
  whole.insert(whole.end(), f->padded.begin(), f->padded.end());
  shape.insert(shape.end(), f->image.begin(), f->image.end());
  for (size_t i = 0; i < f->image.size(); ++i) starts.emplace_back(f->pads[i]);
  const ValueId y = c.slice(b.reshape(sum, whole), starts, std::vector<int64_t>(shape.size(), 1), shape);
  return any ? b.cast(y, DType::boolean) : y;
}

// X's elements at the positions I of a flattened tensor, zeros elsewhere. Positions are those of the shape
// that the attributes give; a larger output_shape adds zeros behind it.
Results lower_max_unpool(OpContext& c) {
  Builder& b = c.build();
  const ValueId x = c.in(0);
  const int64_t rank = c.rank(x);
  if (rank < 3)
    return c.fail(c.about_input(0, Code::operand_rank, "'X' must be [N, C, spatial...]")
                      .because("found " + c.describe(x)));
  if (c.rank(c.in(1)) != rank) {
    return c.fail(c.about_input(1, Code::operand_rank, "'I' must have the shape of 'X'")
                      .because("found " + c.describe(c.in(1))));
  }
  for (int64_t i = 0; i < rank; ++i)
    c.require_equal(c.dims(c.in(1))[i], c.dims(x)[i], "'I' must have the shape of 'X'");
  const auto n = static_cast<size_t>(rank - 2);
  const auto kernel = window_list(c, "kernel_shape", n, 1, 1), strides = window_list(c, "strides", n, 1, 1),
             pads = window_list(c, "pads", 2 * n, 0, 0);
  if (c.failed()) return kNone;
  Dims shape(c.dims(x).begin(), c.dims(x).begin() + 2);
  for (size_t i = 0; i < n; ++i)
    shape.push_back((c.dims(x)[i + 2] - Dim(1)) * Dim(strides[i]) + Dim(kernel[i]) - Dim(pads[i]) -
                    Dim(pads[i + n]));
  const Dim count = product(c.dims(x));
  const ValueId empty = b.broadcast(c.scalar_like(x, 0), {product(shape)});
  if (c.failed()) return kNone;
  ValueId y = b.op(Op::scatter, {empty, b.reshape(c.in(1), {count}), b.reshape(x, {count})},
                   {{"kind", std::string("none")}, {"axis", int64_t{0}}, {"elements", int64_t{1}}});
  y = b.reshape(y, shape);
  if (!c.has(2) || c.failed()) return y;
  const auto wanted = sizes_of(c, 2, static_cast<size_t>(rank));
  if (!wanted) return kNone;
  std::vector<int64_t> low(static_cast<size_t>(rank), 0), high = low;
  for (int64_t i = 0; i < rank; ++i) {
    const auto more = ((*wanted)[i] - shape[i]).value();
    if (!more || *more < 0) {
      return c.fail(c.about_input(2, more ? Code::shape_mismatch : Code::needs_constant,
                                  "'output_shape' must be known to be as large as what is unpooled")
                        .because("found " + to_string(*wanted) + " for " + to_string(shape)));
    }
    high[i] = *more;
  }
  return b.op(Op::pad, {y}, {{"low", low}, {"high", high}});
}

}  // namespace ge
