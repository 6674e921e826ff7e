// Access to one ONNX node, and the small formulas that many operators share.
#include "compiler/onnx_ops/op_context.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "compiler/onnx_ops/known_number.h"
#include "numeric/convert.h"

namespace ge {
namespace {

// A constant larger than this is not read for its contents: shapes, axes and pads are short.
constexpr int64_t kMaxContents = 4096;

double to_double(std::string_view text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}
// ONNX stores attributes in float32: also a float64 model computes with 0.1f where 0.1 is written.
double as_float32(double value) {
  std::byte element[4] = {};
  store_from_double(DType::float32, element, 0, value);
  return load_as_double(DType::float32, element, 0);
}
int64_t to_int(std::string_view text) {
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

std::string node_label(const Node& node) {
  std::string label = node.onnx ? node.onnx->type : std::string(name_of(node.op));
  if (!node.source().name.empty()) label += " '" + node.source().name + "'";
  return label;
}

std::string pointer_below(const Node& node, std::string_view below) {
  const std::string& path = node.source().path;
  return path.starts_with('/') ? path + std::string(below) : path;
}

std::string place_of(const Node& node) {
  return node.source().place;
}

OpContext::OpContext(Graph& graph, const Node& node, const Operator& op)
    : graph_(graph), node_(node), op_(op), builder_(graph, node.sources) {}

const Type& OpContext::type(ValueId value) const {
  static const Type kNoType;
  return value == kNone ? kNoType : graph_.type(value);
}

bool OpContext::wants(size_t output) const {
  return output < node_.results.size() && graph_.use_count(node_.results[output]) > 0;
}

const Attr* OpContext::attr(std::string_view name) const {
  const auto found = node_.attrs.find(std::string(name));
  return found == node_.attrs.end() ? nullptr : &found->second;
}

std::string OpContext::default_text(std::string_view name) const {
  const OnnxAttrInfo* info = op_.attribute(name);
  return info ? info->default_text : "";
}

int64_t OpContext::int_attr(std::string_view name) const {
  const Attr* a = attr(name);
  return a ? std::get<int64_t>(*a) : to_int(default_text(name));
}

double OpContext::float_attr(std::string_view name) const {
  const Attr* a = attr(name);
  if (!a) return as_float32(to_double(default_text(name)));
  if (const auto* i = std::get_if<int64_t>(a)) return as_float32(static_cast<double>(*i));
  return as_float32(std::get<double>(*a));
}

std::string OpContext::string_attr(std::string_view name) const {
  const Attr* a = attr(name);
  return a ? std::get<std::string>(*a) : default_text(name);
}

std::vector<int64_t> OpContext::ints_attr(std::string_view name) const {
  const Attr* a = attr(name);
  return a ? std::get<std::vector<int64_t>>(*a) : std::vector<int64_t>{};
}

std::vector<double> OpContext::floats_attr(std::string_view name) const {
  const Attr* a = attr(name);
  if (!a) return {};
  std::vector<double> values;
  if (const auto* ints = std::get_if<std::vector<int64_t>>(a))
    values.assign(ints->begin(), ints->end());
  else
    values = std::get<std::vector<double>>(*a);
  for (double& v : values) v = as_float32(v);
  return values;
}

const TensorData* OpContext::tensor_attr(std::string_view name) const {
  const Attr* a = attr(name);
  return a ? &std::get<TensorAttr>(*a).data : nullptr;
}

DType OpContext::dtype_attr(std::string_view name) const {
  const Attr* a = attr(name);
  if (!a) return DType::float32;
  if (const auto* number = std::get_if<int64_t>(a)) return dtype_from_onnx(*number).value_or(DType::float32);
  if (const auto* dtype = std::get_if<DType>(a)) return *dtype;
  return *dtype_from_name(std::get<std::string>(*a));
}

std::optional<DType> OpContext::asked_dtype(std::string_view name) const {
  const Attr* a = attr(name);
  const auto* number = a ? std::get_if<int64_t>(a) : nullptr;
  return a == nullptr || (number && *number == 0) ? std::nullopt : std::optional(dtype_attr(name));
}

namespace {
// "allowed -3 .. 2", or that there is no axis at all.
std::string allowed_axes(int64_t rank) {
  if (rank == 0) return "a scalar has no axes";
  return "allowed " + std::to_string(-rank) + " .. " + std::to_string(rank - 1);
}
}  // namespace

int64_t OpContext::axis_attr(std::string_view name, int64_t rank, ValueId of) {
  const int64_t axis = int_attr(name);
  if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
  fail(about_attr(name, Code::axis_out_of_range, std::string(name) + " is out of range")
           .because("found " + std::to_string(axis) + "; " + describe(of) + " has rank " +
                    std::to_string(rank) + ", " + allowed_axes(rank))
           .try_(rank == 0 ? "" : "use -1 for the last dimension"));
  return 0;
}

std::vector<int64_t> OpContext::normalized_axes(const std::vector<int64_t>& axes, int64_t rank, ValueId of,
                                                const std::string& at) {
  std::vector<int64_t> result;
  for (const int64_t axis : axes) {
    if (axis < -rank || axis >= rank) {
      Diagnostic d = about_node(Code::axis_out_of_range, "axis is out of range");
      d.path = at;
      fail(std::move(d).because("found " + std::to_string(axis) + "; " + describe(of) + " has rank " +
                                std::to_string(rank) + ", " + allowed_axes(rank)));
      return {};
    }
    result.push_back(axis < 0 ? axis + rank : axis);
  }
  std::sort(result.begin(), result.end());
  const auto repeat = std::adjacent_find(result.begin(), result.end());
  if (repeat != result.end()) {
    Diagnostic d = about_node(Code::bad_attribute, "axes name an axis twice");
    d.path = at;
    fail(std::move(d).because("axis " + std::to_string(*repeat) + " stands twice"));
    return {};
  }
  return result;
}

std::optional<int64_t> OpContext::axis_input(size_t input, ValueId of) {
  const auto axes = integers(input);
  if (!axes || (axes->size() != 1 && !refuse_input(input, "one number"))) return std::nullopt;
  const auto axis = normalized_axes(*axes, rank(of), of, pointer("/inputs/" + std::to_string(input)));
  return axis.empty() ? std::nullopt : std::optional(axis.front());
}

std::optional<Dim> OpContext::size_input(size_t input, int64_t least) {
  const auto values = contents(input);
  if (!values) return std::nullopt;
  if (values->size() == 1 && values->front().value().value_or(least) >= least) return values->front();
  const std::string allowed =
      least == 0 ? "one number that is not negative" : "one number from " + std::to_string(least) + " up";
  refuse(about_input(input, Code::bad_attribute, "'" + op_.input_name(input) + "' must be " + allowed),
         "found " + to_string(*values));
  return std::nullopt;
}

std::optional<Dims> OpContext::known(ValueId value) const {
  if (value == kNone) return std::nullopt;
  if (graph_.value(value).contents) return graph_.value(value).contents;
  const TensorData* data = graph_.constant(value);
  if (!data || !is_integer(data->dtype) || data->count() > kMaxContents) return std::nullopt;
  const auto bytes = full_bytes(*data);
  if (!bytes.ok()) return std::nullopt;
  Dims result;
  for (int64_t i = 0; i < data->count(); ++i)
    result.emplace_back(load_as_int64(data->dtype, (*bytes)->data(), i));
  return result;
}

std::optional<Dims> OpContext::contents(size_t input) {
  auto result = known(in(input));
  if (!result && !failed()) {
    const bool is_graph_input = graph_.producer(in(input)) == nullptr;
    fail(about_input(input, Code::needs_constant,
                     "'" + op_.input_name(input) + "' must be known at compile time")
             .because(describe(in(input)) + (is_graph_input ? " is an input of the graph"
                                                            : " depends on values of the graph's inputs"))
             .try_(is_graph_input ? "make it an initializer, or use --freeze " +
                                        graph_.value(in(input)).name + "=FILE.npy"
                                  : "compute it from constants and shapes only"));
  }
  return result;
}

std::optional<std::vector<int64_t>> OpContext::integers(size_t input) {
  const auto values = contents(input);
  if (!values) return std::nullopt;
  auto result = static_values(*values);
  if (!result) {
    fail(about_input(input, Code::needs_constant, "'" + op_.input_name(input) + "' must be plain numbers")
             .because("found " + to_string(*values) + ", which depends on symbolic dims")
             .try_("pin the dims with --dim NAME=N"));
  }
  return result;
}

std::optional<double> OpContext::number(size_t input) {
  const auto value = has(input) ? known_number(graph_, in(input)) : std::nullopt;
  if (value) return value;
  fail(about_input(input, Code::needs_constant,
                   "'" + op_.input_name(input) + "' must be known at compile time")
           .because(describe(in(input)) + " is not a constant of one element")
           .try_("make it an initializer"));
  return std::nullopt;
}

ValueId OpContext::fail(Diagnostic diagnostic) {
  if (diagnostic.path.empty()) diagnostic.path = pointer_below(node_, "");
  if (diagnostic.place.empty()) diagnostic.place = place_of(node_);
  builder_.fail(Error(std::move(diagnostic)));
  return kNone;
}

bool OpContext::refuse(Diagnostic diagnostic, const std::string& found) {
  fail(std::move(diagnostic).because(found));
  return false;
}

bool OpContext::refuse_input(size_t input, const std::string& must_be) {
  return refuse(about_input(input, Code::operand_rank, "'" + op_.input_name(input) + "' must be " + must_be),
                "found " + describe(in(input)));
}

Diagnostic OpContext::about_node(Code code, const std::string& message) const {
  return ge::fail(code)
      .say(node_label(node_) + ": " + message)
      .at(place_of(node_))
      .in(pointer_below(node_, ""));
}

Diagnostic OpContext::about_attr(std::string_view name, Code code, const std::string& message) const {
  // An attribute that is not written has no place of its own.
  Diagnostic d = about_node(code, message);
  if (has_attr(name)) d.path = pointer("/attributes/" + std::string(name));
  return d;
}

Diagnostic OpContext::about_input(size_t input, Code code, const std::string& message) const {
  Diagnostic d = about_node(code, message);
  if (input < node_.operands.size()) d.path = pointer("/inputs/" + std::to_string(input));
  return d;
}

std::string OpContext::pointer(std::string_view below) const {
  return pointer_below(node_, below);
}

std::string OpContext::describe(ValueId value) const {
  if (value == kNone) return "an absent input";
  const ValueInfo& info = graph_.value(value);
  return (info.name.empty() ? "a value" : "'" + visible_line(info.name) + "'") + " " + to_string(info.type);
}

DType unpacked(DType dtype) {
  return dtype == DType::int4 ? DType::int8 : dtype == DType::uint4 ? DType::uint8 : dtype;
}

ValueId OpContext::wide(ValueId x) {
  if (failed() || x == kNone) return kNone;
  return is_float(dtype(x)) && bits_of(dtype(x)) < 32 ? builder_.cast(x, DType::float32) : x;
}

ValueId OpContext::convert(ValueId x, DType to) {
  if (failed() || x == kNone || dtype(x) == to) return x;
  if (bits_of(dtype(x)) < 8) return convert(builder_.cast(x, unpacked(dtype(x))), to);
  if (bits_of(to) >= 8) return builder_.cast(x, to);
  if (is_float(dtype(x))) {  // saturates at 4 bits; integers wrap
    const bool is_signed = to == DType::int4;
    x = builder_.map(Op::clamp, {x, scalar_like(x, is_signed ? -8 : 0), scalar_like(x, is_signed ? 7 : 15)});
  }
  return builder_.cast(builder_.cast(x, unpacked(to)), to);
}

std::optional<Dim> OpContext::split(const Dim& size, int64_t parts) {
  if (parts <= 0) return std::nullopt;
  const auto exact = Dim::exact_quotient(size, Dim(parts));
  return exact || size.is_static() ? exact : Dim::floor_div(size, Dim(parts));
}

// Dims are sizes: one that may be negative is the difference of two.
ValueId OpContext::size_scalar(const Dim& size) {
  if (const auto value = size.value()) {
    TensorData number = tensor_of({*value});
    number.dims.clear();
    return builder_.constant(std::move(number));
  }
  const int64_t least = size.bounds(graph_.symbols).min;
  if (least >= 0) return builder_.dims({size}, true);
  if (least > INT64_MIN && !(size - Dim(least)).overflowed())
    return builder_.map(Op::sub, {builder_.dims({size - Dim(least)}, true), size_scalar(Dim(-least))});
  const Dim none(0);
  return builder_.map(Op::sub, {builder_.dims({Dim::max(size, none)}, true),
                                builder_.dims({Dim::max(none - size, none)}, true)});
}

ValueId OpContext::positions(const Dims& shape, int64_t axis) {
  return builder_.op(Op::iota, {}, {{"shape", shape}, {"axis", axis}, {"dtype", DType::int64}});
}

ValueId OpContext::slice(ValueId x, const Dims& starts, const std::vector<int64_t>& steps,
                         const Dims& shape) {
  if (failed()) return kNone;
  if (shape == dims(x) && std::all_of(steps.begin(), steps.end(), [](int64_t s) { return s == 1; })) return x;
  return builder_.op(Op::slice, {x}, {{"starts", starts}, {"steps", steps}, {"shape", shape}});
}

ValueId OpContext::slice_axis(ValueId x, int64_t axis, const Dim& from, const Dim& extent, int64_t step) {
  if (failed()) return kNone;
  Dims starts(dims(x).size(), Dim(0)), shape = dims(x);
  std::vector<int64_t> steps(shape.size(), 1);
  starts[axis] = from;
  shape[axis] = extent;
  steps[axis] = step;
  return slice(x, starts, steps, shape);
}

ValueId OpContext::concat(std::vector<ValueId> parts, int64_t axis) {
  if (failed()) return kNone;
  if (parts.size() == 1) return parts.front();
  return builder_.op(Op::concat, std::move(parts), {{"axis", axis}});
}

void OpContext::require_equal(const Dim& lhs, const Dim& rhs, const std::string& message) {
  if (lhs == rhs || failed()) return;
  if (Dim::never_equal(lhs, rhs)) {
    fail(about_node(Code::shape_mismatch, message)
             .because(lhs.to_string() + " and " + rhs.to_string() + " differ"));
    return;
  }
  graph_.add_assertion({lhs, rhs, node_label(node_) + ": " + message, node_.source()});
}

void OpContext::require_at_least(const Dim& dim, const Dim& least, const std::string& message) {
  const SymbolRange excess = (dim - least).bounds(graph_.symbols);
  if (excess.min >= 0 || failed()) return;
  if (excess.max < 0) {
    fail(about_node(Code::shape_mismatch, message)
             .because(dim.to_string() + " is less than " + least.to_string()));
    return;
  }
  require_equal(Dim::max(dim, least), dim, message);
}

}  // namespace ge
