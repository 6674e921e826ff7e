// Resize: sizes and scales of each axis, then one axis after the other (resize_axis.h).
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "compiler/onnx_ops/known_number.h"
#include "compiler/onnx_ops/resize_axis.h"
#include "contract/tensor_view.h"

namespace ge {
namespace {

bool check_word(OpContext& c, std::string_view name, const std::string& found,
                const std::vector<std::string>& allowed) {
  if (std::find(allowed.begin(), allowed.end(), found) != allowed.end()) return true;
  std::string words;
  for (const std::string& word : allowed) words += (words.empty() ? "" : ", ") + word;
  c.fail(c.about_attr(name, Code::bad_attribute, std::string(name) + " is not valid")
             .because("found \"" + found + "\", allowed " + words));
  return false;
}

std::optional<ResizeRule> read_rule(OpContext& c) {
  ResizeRule rule{c.string_attr("mode"), c.string_attr("coordinate_transformation_mode"),
                  c.string_attr("nearest_mode")};
  rule.antialias = c.op().attribute("antialias") && c.int_attr("antialias") != 0;
  rule.exclude_outside = c.int_attr("exclude_outside") != 0;
  rule.cubic_a = c.float_attr("cubic_coeff_a");
  std::vector<std::string> modes = {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric",
                                    "tf_crop_and_resize"};
  if (c.version() < 13) modes.emplace_back("tf_half_pixel_for_nn");
  if (c.version() >= 19) modes.insert(modes.begin() + 1, "half_pixel_symmetric");
  if (!check_word(c, "mode", rule.mode, {"nearest", "linear", "cubic"}) ||
      !check_word(c, "coordinate_transformation_mode", rule.coordinates, modes) ||
      !check_word(c, "nearest_mode", rule.rounding,
                  {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}))
    return std::nullopt;
  if (rule.mode == "nearest" && rule.antialias) {
    c.fail(c.about_attr("antialias", Code::bad_attribute, "antialias needs mode linear or cubic"));
  } else if (rule.mode != "nearest" && is_bool(c.dtype(c.in(0)))) {
    c.fail(c.about_input(0, Code::operand_dtype, "booleans have no values in between")
               .because("mode is " + rule.mode)
               .try_("use mode nearest, or insert a Cast before it"));
  }
  return c.failed() ? std::nullopt : std::optional(rule);
}

// The axes that scales, sizes and roi name, in their order.
std::vector<int64_t> named_axes(OpContext& c) {
  const int64_t rank = c.rank(c.in(0));
  std::vector<int64_t> axes;
  if (c.op().attribute("axes") && c.has_attr("axes")) {
    axes = c.ints_attr("axes");
    c.normalized_axes(axes, rank, c.in(0), c.pointer("/attributes/axes"));
    for (int64_t& axis : axes) axis += axis < 0 ? rank : 0;
    return axes;
  }
  for (int64_t i = 0; i < rank; ++i) axes.push_back(i);
  return axes;
}

// An input that is a name, and no empty vector, which opsets up to 12 wrote for absent.
bool is_given(OpContext& c, size_t i) {
  return c.has(i) && !(c.rank(c.in(i)) == 1 && c.dims(c.in(i))[0].is_value(0));
}

bool check_count(OpContext& c, size_t input, size_t found, size_t wanted) {
  if (found == wanted) return true;
  c.fail(c.about_input(input, Code::shape_mismatch,
                       "'" + c.op().input_name(input) + "' has a wrong number of values")
             .because("found " + std::to_string(found) + ", needed " + std::to_string(wanted)));
  return false;
}

std::optional<std::vector<double>> numbers(OpContext& c, size_t input, size_t wanted) {
  auto values = known_numbers(c.graph(), c.in(input));
  if (values) return check_count(c, input, values->size(), wanted) ? values : std::nullopt;
  c.fail(c.about_input(input, Code::needs_constant,
                       "'" + c.op().input_name(input) + "' must be known at compile time")
             .because("found " + c.describe(c.in(input)))
             .try_("make it an initializer"));
  return std::nullopt;
}

constexpr float kLargest = 1099511627776.0f;  // 2^40: sizes from here on are refused

bool overflows(OpContext& c, size_t input, const Dim& in, float scale) {
  c.fail(c.about_input(input, Code::size_overflow, "the size of a result overflows")
             .because(in.to_string() + " times " + double_text(scale)));
  return false;
}

// floor(in * scale): in float32 as ONNX Runtime does, so that 10 * 0.7 is 7; a symbolic size is multiplied by
// the fraction of small numbers that the scale stands for.
std::optional<Dim> scaled(OpContext& c, const Dim& in, float scale) {
  if (const auto size = in.value()) {
    const float out = static_cast<float>(*size) * scale;
    if (out < kLargest) return Dim(static_cast<int64_t>(out));
    overflows(c, 2, in, scale);
    return std::nullopt;
  }
  for (int64_t q = 1; q <= 64; ++q) {
    const double p = std::round(static_cast<double>(scale) * static_cast<double>(q));
    if (p < 1 || p > 65536 || static_cast<float>(p / static_cast<double>(q)) != scale) continue;
    return Dim::floor_div(in * Dim(static_cast<int64_t>(p)), Dim(q));
  }
  c.fail(c.about_input(2, Code::needs_constant, "a symbolic dim takes scales that are simple fractions")
             .because("found " + double_text(scale) + " for " + in.to_string())
             .try_("pin the dim with --dim NAME=N, or give 'sizes'"));
  return std::nullopt;
}

bool by_scales(OpContext& c, std::vector<ResizeAxis>& axes) {
  const auto scales = numbers(c, 2, axes.size());
  if (!scales) return false;
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto scale = static_cast<float>((*scales)[i]);
    if (!(scale > 0) || std::isinf(scale)) {
      c.fail(c.about_input(2, Code::bad_attribute, "a scale is not valid")
                 .because("found " + double_text(scale) + ", allowed above 0"));
      return false;
    }
    const auto out = scaled(c, axes[i].in, scale);
    if (!out) return false;
    axes[i].scale = scale;
    axes[i].out = *out;
  }
  return true;
}

// The one scale of all axes that keeps the picture's shape, and the sizes that it gives, halves rounded up.
bool keep_aspect(OpContext& c, std::vector<ResizeAxis>& axes, const std::string& policy) {
  std::optional<float> best;
  for (const ResizeAxis& a : axes) {
    if (!a.scale) {
      c.fail(c.about_attr("keep_aspect_ratio_policy", Code::needs_constant,
                          "the sizes must be known at compile time")
                 .because("axis " + std::to_string(a.axis) + " of " + c.describe(c.in(0)) + " becomes " +
                          a.out.to_string())
                 .try_("pin the dims with --dim NAME=N"));
      return false;
    }
    best = !best ? *a.scale : policy == "not_larger" ? std::min(*best, *a.scale) : std::max(*best, *a.scale);
  }
  for (ResizeAxis& a : axes) {
    const float out = std::round(*best * static_cast<float>(*a.in.value()));
    if (!(out < kLargest)) return overflows(c, 3, a.in, *best);
    a.scale = best;
    a.out = Dim(static_cast<int64_t>(out));
  }
  return true;
}

bool by_sizes(OpContext& c, std::vector<ResizeAxis>& axes) {
  const auto sizes = c.contents(3);
  if (!sizes || !check_count(c, 3, sizes->size(), axes.size())) return false;
  const std::string policy =
      c.op().attribute("keep_aspect_ratio_policy") ? c.string_attr("keep_aspect_ratio_policy") : "stretch";
  if (!check_word(c, "keep_aspect_ratio_policy", policy, {"stretch", "not_larger", "not_smaller"}))
    return false;
  for (size_t i = 0; i < axes.size(); ++i) {
    ResizeAxis& a = axes[i];
    a.out = (*sizes)[i];
    if (a.out.is_static() && (*a.out.value() < 0 || *a.out.value() > (int64_t{1} << 40))) {
      c.fail(c.about_input(3, Code::bad_dim, "a size is not valid").because("found " + to_string(*sizes)));
      return false;
    }
    const auto in = a.in.value(), out = a.out.value();
    const auto whole = Dim::exact_quotient(a.out, a.in);
    if (a.in == a.out) {
      a.scale = 1.0f;
    } else if (in && out && *in > 0) {
      a.scale = static_cast<float>(*out) / static_cast<float>(*in);
    } else if (const auto times = whole ? whole->value() : std::nullopt;
               times && *times > 0 && *times < 65536) {
      a.scale = static_cast<float>(*times);
    }
  }
  return policy == "stretch" || keep_aspect(c, axes, policy);
}

bool read_roi(OpContext& c, std::vector<ResizeAxis>& axes) {
  if (!is_given(c, 1)) {
    c.fail(c.about_node(Code::operand_count, "tf_crop_and_resize needs 'roi'"));
    return false;
  }
  const auto roi = numbers(c, 1, 2 * axes.size());
  for (size_t i = 0; roi && i < axes.size(); ++i) {
    axes[i].roi_start = static_cast<float>((*roi)[i]);
    axes[i].roi_end = static_cast<float>((*roi)[i + axes.size()]);
  }
  return roi.has_value();
}

std::optional<std::vector<ResizeAxis>> read_axes(OpContext& c, const ResizeRule& rule) {
  std::vector<ResizeAxis> axes;
  for (const int64_t axis : named_axes(c)) {
    if (c.failed()) return std::nullopt;
    axes.push_back({axis, c.dims(c.in(0))[axis], Dim(0)});
  }
  const bool scales = is_given(c, 2), sizes = is_given(c, 3);
  if (c.failed() || scales == sizes) {
    c.fail(c.about_node(Code::operand_count, "one of 'scales' and 'sizes' must be given")
               .because(scales ? "found both" : "found neither"));
    return std::nullopt;
  }
  const bool read = scales ? by_scales(c, axes) : by_sizes(c, axes);
  if (!read || (rule.coordinates == "tf_crop_and_resize" && !read_roi(c, axes))) return std::nullopt;
  for (const ResizeAxis& a : axes) {
    if (!a.in.is_value(0) || a.out.is_value(0)) continue;
    c.fail(c.about_input(0, Code::shape_mismatch, "an empty axis cannot become larger")
               .because(c.describe(c.in(0))));
    return std::nullopt;
  }
  return axes;
}

bool changes(const ResizeAxis& a, bool crops) {
  return a.in != a.out || a.scale != 1.0f || (crops && (a.roi_start != 0 || a.roi_end != 1));
}

// The type to interpolate in: integers wider than 16 bits need more than float32 has.
DType weighing_type(DType dtype) {
  if (is_float(dtype)) return dtype == DType::float64 ? dtype : DType::float32;
  return bits_of(dtype) > 16 ? DType::float64 : DType::float32;
}

// Every axis at once by one broadcast where each is a whole number of repetitions; else one after the other.
ValueId resize_all(OpContext& c, ValueId x, const ResizeRule& rule, const std::vector<ResizeAxis>& axes) {
  if (c.failed()) return kNone;
  Dims narrow = c.dims(x), wide = narrow, whole = narrow;
  std::vector<ResizeAxis> from_back = axes;
  std::sort(from_back.begin(), from_back.end(), [](const auto& a, const auto& b) { return a.axis > b.axis; });
  bool repeats = static_cast<int64_t>(axes.size()) + c.rank(x) <= kMaxRank;
  for (const ResizeAxis& a : from_back) {
    const auto times = resize_repeats(rule, a);
    repeats = repeats && times;
    narrow.insert(narrow.begin() + a.axis + 1, Dim(1));
    wide.insert(wide.begin() + a.axis + 1, Dim(times.value_or(1)));
    whole[static_cast<size_t>(a.axis)] = a.out;
  }
  Builder& b = c.build();
  if (repeats) return b.reshape(b.broadcast(b.reshape(x, narrow), wide), whole);
  for (const ResizeAxis& a : axes) x = resize_axis(c, x, rule, a);
  return x;
}

// extrapolation_value where any axis reads outside the input.
ValueId extrapolate(OpContext& c, ValueId y, const ResizeRule& rule, const std::vector<ResizeAxis>& axes) {
  ValueId outside = kNone;
  for (const ResizeAxis& a : axes) {
    if (c.failed()) return kNone;
    Dims shape(c.dims(y).size(), Dim(1));
    shape[a.axis] = a.out;
    const ValueId here = c.build().reshape(resize_outside(c, rule, a), shape);
    outside = outside == kNone ? here : c.build().map(Op::logical_or, {outside, here});
  }
  if (outside == kNone) return y;
  return c.build().map(Op::select, {outside, c.scalar_like(y, c.float_attr("extrapolation_value")), y});
}

}  // namespace

// Integers are rounded to the nearest, halves to even, as ONNX's reference does (ONNX Runtime cuts off).
Results lower_resize(OpContext& c) {
  Builder& b = c.build();
  const auto rule = read_rule(c);
  const auto axes = rule ? read_axes(c, *rule) : std::nullopt;
  if (!axes) return kNone;
  const bool crops = rule->coordinates == "tf_crop_and_resize";
  const DType own = c.dtype(c.in(0));
  std::vector<ResizeAxis> changed;
  std::copy_if(axes->begin(), axes->end(), std::back_inserter(changed),
               [&](const ResizeAxis& a) { return changes(a, crops); });
  if (changed.empty()) return c.in(0);
  const bool weighs = rule->mode != "nearest";
  ValueId y = resize_all(c, weighs ? b.cast(c.in(0), weighing_type(own)) : c.in(0), *rule, changed);
  if (crops) y = extrapolate(c, y, *rule, changed);
  if (c.failed()) return kNone;
  return weighs && !is_float(own) ? b.cast(b.map(Op::round, {y}), own) : b.cast(y, own);
}

}  // namespace ge
