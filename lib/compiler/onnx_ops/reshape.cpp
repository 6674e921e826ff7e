// Operators that keep every element and change the shape: Reshape, Flatten, Squeeze, Unsqueeze; and Expand,
// Tile, Transpose.
#include <algorithm>
#include <numeric>

#include "compiler/onnx_ops/op_context.h"

namespace ge {
namespace {

// total(in) / total(out without the -1), after striking dims that stand on both sides: what is left divides
// exactly, or is asserted.
Dim inferred_dim(Dims in, const Dims& target, size_t at) {
  Dims rest;
  for (size_t i = 0; i < target.size(); ++i) {
    if (i == at) continue;
    const auto same = std::find(in.begin(), in.end(), target[i]);
    if (same != in.end())
      in.erase(same);
    else
      rest.push_back(target[i]);
  }
  if (rest.empty()) return product(in);
  const auto exact = Dim::exact_quotient(product(in), product(rest));
  return exact ? *exact : Dim::floor_div(product(in), product(rest));
}

bool check_inferred(OpContext& c, const Dims& target, size_t at) {
  Dims others = target;
  others.erase(others.begin() + static_cast<int64_t>(at));
  const auto total = product(c.dims(c.in(0))).value(), known = product(others).value();
  if (known && *known == 0) {
    c.fail(c.about_input(1, Code::shape_mismatch, "-1 cannot be inferred beside a dim of 0")
               .because("found " + to_string(target)));
    return false;
  }
  if (total && known && *total % *known != 0) {
    c.fail(c.about_input(1, Code::shape_mismatch, "-1 has no whole value")
               .because(c.describe(c.in(0)) + " has " + std::to_string(*total) + " elements, " +
                        to_string(target) + " needs a multiple of " + std::to_string(*known)));
    return false;
  }
  return true;
}

// The target with 0 (unless allowzero) and -1 replaced; nullopt after a failure.
std::optional<Dims> resolved_shape(OpContext& c, Dims target) {
  const Dims& in = c.dims(c.in(0));
  std::optional<size_t> unknown;
  const bool keeps_zero = c.op().attribute("allowzero") && c.int_attr("allowzero") != 0;
  for (size_t i = 0; i < target.size(); ++i) {
    const auto value = target[i].value();
    if (value && *value == 0 && !keeps_zero) {
      if (i >= in.size()) {
        c.fail(c.about_input(1, Code::shape_mismatch, "0 keeps a dim that is not there")
                   .because("position " + std::to_string(i) + " of " + to_string(target) + "; the input is " +
                            c.describe(c.in(0))));
        return std::nullopt;
      }
      target[i] = in[i];
    } else if (value && *value < 0) {
      if (*value != -1 || unknown) {
        c.fail(c.about_input(1, Code::bad_dim, *value != -1 ? "a dim is negative" : "-1 stands twice")
                   .because("found " + to_string(target)));
        return std::nullopt;
      }
      unknown = i;
    }
  }
  if (!unknown) return target;
  if (!check_inferred(c, target, *unknown)) return std::nullopt;
  target[*unknown] = inferred_dim(in, target, *unknown);
  return target;
}

bool is_one(const Dim& d) {
  return d.is_value(1);
}

}  // namespace

Results lower_reshape(OpContext& c) {
  const auto target = c.contents(1);
  if (!target) return kNone;
  const auto shape = resolved_shape(c, *target);
  if (!shape) return kNone;
  const auto from = product(c.dims(c.in(0))).value(), to = product(*shape).value();
  if (from && to && *from != *to) {
    return c.fail(c.about_input(1, Code::shape_mismatch, "the shape has another number of elements")
                      .because(c.describe(c.in(0)) + " has " + std::to_string(*from) + ", " +
                               to_string(*shape) + " has " + std::to_string(*to)));
  }
  return c.build().reshape(c.in(0), *shape);
}

Results lower_flatten(OpContext& c) {
  const Dims& dims = c.dims(c.in(0));
  const int64_t rank = c.rank(c.in(0));
  const int64_t axis = c.int_attr("axis");
  if (axis < -rank || axis > rank) {
    return c.fail(c.about_attr("axis", Code::axis_out_of_range, "axis is out of range")
                      .because("found " + std::to_string(axis) + "; " + c.describe(c.in(0)) + " has rank " +
                               std::to_string(rank) + ", allowed " + std::to_string(-rank) + " .. " +
                               std::to_string(rank)));
  }
  const auto at = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  return c.build().reshape(c.in(0), {product(dims, 0, at), product(dims, at)});
}

// Without axes every dim that is 1 goes; a symbolic dim might be 1, so then the axes must be written.
Results lower_squeeze(OpContext& c) {
  const ValueId x = c.in(0);
  std::vector<int64_t> axes;
  if (c.has(1)) {
    const auto values = c.integers(1);
    if (values) axes = c.normalized_axes(*values, c.rank(x), x, c.pointer("/inputs/1"));
  } else {
    for (int64_t i = 0; i < c.rank(x); ++i) {
      if (!c.dims(x)[i].is_static()) {
        return c.fail(c.about_node(Code::needs_constant, "without 'axes' every dim must be known")
                          .because("the input is " + c.describe(x))
                          .try_("give 'axes' as the second input"));
      }
      if (is_one(c.dims(x)[i])) axes.push_back(i);
    }
  }
  if (c.failed()) return kNone;
  Dims shape;
  for (int64_t i = 0; i < c.rank(x); ++i) {
    const Dim& dim = c.dims(x)[i];
    if (!std::binary_search(axes.begin(), axes.end(), i)) {
      shape.push_back(dim);
    } else {
      c.require_equal(dim, Dim(1), "a squeezed dim must be 1");
    }
  }
  return c.failed() ? kNone : c.build().reshape(x, shape);
}

Results lower_unsqueeze(OpContext& c) {
  const ValueId x = c.in(0);
  const auto values = c.integers(1);
  if (!values) return kNone;
  const int64_t rank = c.rank(x) + static_cast<int64_t>(values->size());
  const auto axes = c.normalized_axes(*values, rank, x, c.pointer("/inputs/1"));
  if (c.failed()) return kNone;
  Dims shape;
  auto next = c.dims(x).begin();
  for (int64_t i = 0; i < rank; ++i)
    shape.push_back(std::binary_search(axes.begin(), axes.end(), i) ? Dim(1) : *next++);
  return c.build().reshape(x, shape);
}

// Both sides broadcast: the result has the common shape.
Results lower_expand(OpContext& c) {
  const auto target = c.contents(1);
  if (!target) return kNone;
  for (const Dim& d : *target) {
    if (d.is_static() && *d.value() < 0) {
      return c.fail(
          c.about_input(1, Code::bad_dim, "a dim is negative").because("found " + to_string(*target)));
    }
  }
  auto shape = c.build().broadcast_shape(c.dims(c.in(0)), *target);
  if (!shape.ok()) {
    return c.fail(c.about_input(1, Code::broadcast_mismatch, "the input does not broadcast to the shape")
                      .because(c.describe(c.in(0)) + " to " + to_string(*target)));
  }
  return c.build().broadcast(c.in(0), *shape);
}

// [a, b] by [r, s]: [1, a, 1, b] broadcast to [r, a, s, b], read as [r * a, s * b]; only axes that repeat get
// a dim.
Results lower_tile(OpContext& c) {
  const ValueId x = c.in(0);
  const auto repeats = c.contents(1);
  if (!repeats) return kNone;
  if (static_cast<int64_t>(repeats->size()) != c.rank(x)) {
    return c.fail(c.about_input(1, Code::shape_mismatch, "'repeats' must have one number per dim")
                      .because("found " + to_string(*repeats) + " for " + c.describe(x)));
  }
  Dims split, spread, result;
  for (size_t i = 0; i < repeats->size(); ++i) {
    const Dim& dim = c.dims(x)[i];
    const Dim& repeat = (*repeats)[i];
    if (repeat.is_static() && *repeat.value() < 0) {
      return c.fail(
          c.about_input(1, Code::bad_dim, "a repeat is negative").because("found " + to_string(*repeats)));
    }
    if (!is_one(repeat)) {
      split.emplace_back(1);
      spread.push_back(repeat);
    }
    split.push_back(dim);
    spread.push_back(dim);
    result.push_back(dim * repeat);
  }
  Builder& b = c.build();
  return b.reshape(b.broadcast(b.reshape(x, split), spread), result);
}

Results lower_transpose(OpContext& c) {
  const int64_t rank = c.rank(c.in(0));
  std::vector<int64_t> perm = c.ints_attr("perm");
  if (!c.has_attr("perm")) {
    perm.resize(rank);
    std::iota(perm.rbegin(), perm.rend(), 0);
  }
  std::vector<int64_t> sorted = perm, expected(rank);
  std::sort(sorted.begin(), sorted.end());
  std::iota(expected.begin(), expected.end(), 0);
  if (sorted != expected) {
    std::string found;
    for (const int64_t axis : perm) found += (found.empty() ? "" : ", ") + std::to_string(axis);
    return c.fail(
        c.about_attr("perm", Code::bad_attribute, "perm is no permutation of the dims")
            .because("found [" + found + "]; " + c.describe(c.in(0)) + " has rank " + std::to_string(rank)));
  }
  return c.build().transpose(c.in(0), perm);
}

}  // namespace ge
