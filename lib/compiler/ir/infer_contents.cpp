// Known contents of small integer tensors: the arithmetic that models do on shapes, done on dims. Entry:
// infer_contents. Invariant: what is returned equals what a run computes for every value of the symbols
// within Graph::symbols, with one assumption: sizes held in int32 fit in int32. Booleans are known where they
// are the same for all those values.
#include <algorithm>
#include <functional>

#include "compiler/ir/infer.h"
#include "numeric/convert.h"

namespace ge {

namespace {
using MaybeDim = std::optional<Dim>;
constexpr int64_t kMaxElements = 64;

bool has_contents_dtype(DType t) {
  return t == DType::int64 || t == DType::int32 || t == DType::boolean;
}

// The shape where it is static and small enough.
std::optional<std::vector<int64_t>> small_shape(const Type& type) {
  auto shape = static_values(type.dims);
  if (!shape) return std::nullopt;
  int64_t count = 1;
  for (const int64_t d : *shape) {
    if (d > kMaxElements) return std::nullopt;
    count *= d;
    if (count > kMaxElements) return std::nullopt;
  }
  return shape;
}

int64_t count_of(const std::vector<int64_t>& shape) {
  int64_t n = 1;
  for (const int64_t d : shape) n *= d;
  return n;
}

std::vector<int64_t> strides_of(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

// Calls f(index) for each multi-index of the shape, row-major.
void for_each_index(const std::vector<int64_t>& shape,
                    const std::function<void(const std::vector<int64_t>&)>& f) {
  std::vector<int64_t> index(shape.size(), 0);
  for (int64_t n = count_of(shape); n > 0; --n) {
    f(index);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
}

class Contents {
 public:
  Contents(const Graph& graph, const Node& node) : graph_(graph), node_(node) {}

  std::optional<Dims> run() {
    if (node_.results.size() != 1) return std::nullopt;
    const Type& type = graph_.type(node_.results[0]);
    if (!has_contents_dtype(type.dtype)) return std::nullopt;
    const auto shape = small_shape(type);
    if (!shape) return std::nullopt;
    shape_ = *shape;
    auto values = compute();
    if (!values || static_cast<int64_t>(values->size()) != count_of(shape_)) return std::nullopt;
    for (const Dim& d : *values) {
      if (d.overflowed()) return std::nullopt;
      if (type.dtype == DType::int32 && d.is_static() && (*d.value() > INT32_MAX || *d.value() < INT32_MIN))
        return std::nullopt;
    }
    return values;
  }

 private:
  std::optional<Dims> compute() {
    switch (node_.op) {
      case Op::constant:
        return constant();
      case Op::dims:
        return attr_dims(node_, "values");
      case Op::iota:
        return iota();
      case Op::reshape:
        return copy_of(0);
      case Op::transpose:
        return transpose();
      case Op::broadcast:
        return broadcast();
      case Op::slice:
        return slice();
      case Op::concat:
        return concat();
      case Op::gather:
        return gather();
      case Op::reduce:
        return reduce();
      case Op::cast:
        return cast();
      default:
        return is_map(node_.op) ? map() : std::nullopt;
    }
  }

  const Dims* contents(size_t operand) const {
    const ValueId v = node_.operands[operand];
    if (v == kNone) return nullptr;
    const auto& known = graph_.value(v).contents;
    return known ? &*known : nullptr;
  }
  std::vector<int64_t> operand_shape(size_t operand) const {
    return *static_values(graph_.type(node_.operands[operand]).dims);
  }
  std::optional<Dims> copy_of(size_t operand) const {
    const Dims* from = contents(operand);
    return from == nullptr ? std::nullopt : std::optional(*from);
  }

  std::optional<Dims> constant() const {
    const TensorData& data = *node_.data;
    const auto bytes = full_bytes(data);
    if (!bytes.ok() || *bytes == nullptr) return std::nullopt;
    Dims values;
    for (int64_t i = 0; i < data.count(); ++i)
      values.emplace_back(load_as_int64(data.dtype, (*bytes)->data(), i));
    return values;
  }

  std::optional<Dims> iota() const {
    Dims values;
    for_each_index(shape_, [&](const auto& index) {
      values.emplace_back(index[static_cast<size_t>(attr_int(node_, "axis"))]);
    });
    return values;
  }

  std::optional<Dims> transpose() const {
    const Dims* from = contents(0);
    if (from == nullptr) return std::nullopt;
    const auto strides = strides_of(operand_shape(0));
    const auto& perm = attr_ints(node_, "perm");
    Dims values;
    for_each_index(shape_, [&](const auto& index) {
      int64_t at = 0;
      for (size_t d = 0; d < perm.size(); ++d) at += index[d] * strides[static_cast<size_t>(perm[d])];
      values.push_back((*from)[static_cast<size_t>(at)]);
    });
    return values;
  }

  std::optional<Dims> broadcast() const {
    const Dims* from = contents(0);
    if (from == nullptr) return std::nullopt;
    const auto extents = operand_shape(0);
    const auto strides = strides_of(extents);
    Dims values;
    for_each_index(shape_, [&](const auto& index) {
      int64_t at = 0;
      const size_t shift = shape_.size() - extents.size();
      for (size_t d = 0; d < extents.size(); ++d) at += extents[d] == 1 ? 0 : index[shift + d] * strides[d];
      values.push_back((*from)[static_cast<size_t>(at)]);
    });
    return values;
  }

  std::optional<Dims> slice() const {
    const Dims* from = contents(0);
    const auto starts = static_values(attr_dims(node_, "starts"));
    if (from == nullptr || !starts) return std::nullopt;
    const auto strides = strides_of(operand_shape(0));
    const auto& steps = attr_ints(node_, "steps");
    Dims values;
    for_each_index(shape_, [&](const auto& index) {
      int64_t at = 0;
      for (size_t d = 0; d < strides.size(); ++d) at += ((*starts)[d] + index[d] * steps[d]) * strides[d];
      values.push_back((*from)[static_cast<size_t>(at)]);
    });
    return values;
  }

  // Row-major blocks: for every index before the axis, each operand's run of elements.
  std::optional<Dims> concat() const {
    const auto axis = static_cast<size_t>(attr_int(node_, "axis"));
    int64_t outer = 1;
    for (size_t d = 0; d < axis; ++d) outer *= shape_[d];
    Dims values;
    for (int64_t block = 0; block < outer; ++block) {
      for (size_t i = 0; i < node_.operands.size(); ++i) {
        const Dims* from = contents(i);
        if (from == nullptr) return std::nullopt;
        const auto run = static_cast<int64_t>(from->size()) / outer;
        values.insert(values.end(), from->begin() + block * run, from->begin() + (block + 1) * run);
      }
    }
    return values;
  }

  std::optional<Dims> gather() const {
    const Dims *from = contents(0), *indices = contents(1);
    if (from == nullptr || indices == nullptr) return std::nullopt;
    const auto axis = static_cast<size_t>(attr_int(node_, "axis"));
    const auto extents = operand_shape(0);
    int64_t outer = 1, inner = 1;
    for (size_t d = 0; d < axis; ++d) outer *= extents[d];
    for (size_t d = axis + 1; d < extents.size(); ++d) inner *= extents[d];
    Dims values;
    for (int64_t block = 0; block < outer; ++block) {
      for (const Dim& index : *indices) {
        if (!index.is_static()) return std::nullopt;
        const int64_t i = *index.value() < 0 ? *index.value() + extents[axis] : *index.value();
        if (i < 0 || i >= extents[axis]) return std::nullopt;  // a fault of the run, told there
        const auto start = from->begin() + (block * extents[axis] + i) * inner;
        values.insert(values.end(), start, start + inner);
      }
    }
    return values;
  }

  std::optional<Dims> reduce() const {
    const Dims* from = contents(0);
    const std::string kind = attr_string(node_, "kind");
    if (from == nullptr || from->empty()) return std::nullopt;
    if (kind != "sum" && kind != "prod" && kind != "max" && kind != "min") return std::nullopt;
    const auto& axes = attr_ints(node_, "axes");
    const auto strides = strides_of(shape_);
    std::vector<MaybeDim> sums(static_cast<size_t>(count_of(shape_)));
    size_t position = 0;
    for_each_index(operand_shape(0), [&](const auto& index) {
      int64_t at = 0;
      for (size_t d = 0, kept = 0; d < index.size(); ++d)
        if (!std::binary_search(axes.begin(), axes.end(), static_cast<int64_t>(d)))
          at += index[d] * strides[kept++];
      MaybeDim& sum = sums[static_cast<size_t>(at)];
      const Dim& next = (*from)[position++];
      if (!sum) {
        sum = next;
      } else if (kind == "sum") {
        sum = *sum + next;
      } else if (kind == "prod") {
        sum = *sum * next;
      } else {
        sum = kind == "max" ? Dim::max(*sum, next) : Dim::min(*sum, next);
      }
    });
    Dims values;
    for (const MaybeDim& sum : sums) values.push_back(*sum);
    return values;
  }

  std::optional<Dims> cast() const {
    const Dims* from = contents(0);
    if (from == nullptr || !has_contents_dtype(graph_.type(node_.operands[0]).dtype)) return std::nullopt;
    if (attr_dtype(node_, "to") != DType::boolean) return *from;
    Dims values;
    for (const Dim& d : *from) {
      const SymbolRange range = d.bounds(graph_.symbols);
      if (d.is_value(0)) {
        values.emplace_back(0);
      } else if (range.min > 0 || range.max < 0) {
        values.emplace_back(1);
      } else {
        return std::nullopt;
      }
    }
    return values;
  }

  std::optional<Dims> map() const {
    Dims values;
    const auto count = static_cast<size_t>(count_of(shape_));
    std::vector<const Dims*> operands;
    for (size_t i = 0; i < node_.operands.size(); ++i) {
      operands.push_back(contents(i));
      if (operands.back() == nullptr || operands.back()->size() != count) return std::nullopt;
    }
    const Dim none;
    for (size_t i = 0; i < count; ++i) {
      const MaybeDim value = scalar((*operands[0])[i], operands.size() > 1 ? (*operands[1])[i] : none,
                                    operands.size() > 2 ? (*operands[2])[i] : none);
      if (!value) return std::nullopt;
      values.push_back(*value);
    }
    return values;
  }

  bool is_at_least(const Dim& d, int64_t low) const { return d.bounds(graph_.symbols).min >= low; }

  MaybeDim scalar(const Dim& a, const Dim& b, const Dim& c) const {
    switch (node_.op) {
      case Op::add:
        return a + b;
      case Op::sub:
        return a - b;
      case Op::mul:
        return a * b;
      case Op::neg:
        return Dim(0) - a;
      case Op::max:
        return Dim::max(a, b);
      case Op::min:
        return Dim::min(a, b);
      case Op::relu:
        return Dim::max(a, 0);
      case Op::clamp:
        return Dim::min(Dim::max(a, b), c);
      case Op::abs:
        return is_at_least(a, 0) ? a : Dim::max(a, Dim(0) - a);
      case Op::div:
        return divide(a, b);
      case Op::mod:
        if (b.is_value(0)) return Dim(0);
        if (b.is_static() || is_at_least(b, 1)) return Dim::mod(a, b);
        return is_at_least(b, 0) ? MaybeDim(Dim::mod(a, Dim::max(b, 1)))
                                 : std::nullopt;  // x % 0 is 0, as x % 1
      case Op::fmod:
        return is_at_least(a, 0) && is_at_least(b, 1) ? MaybeDim(Dim::mod(a, b)) : std::nullopt;
      case Op::select:
        return a.is_static() ? MaybeDim(a.is_value(0) ? c : b) : std::nullopt;
      case Op::equal:
        return negated(compare_not_equal(a, b));
      case Op::not_equal:
        return compare_not_equal(a, b);
      case Op::less:
        return compare_less(a, b);
      case Op::greater:
        return compare_less(b, a);
      case Op::greater_equal:
        return negated(compare_less(a, b));
      case Op::less_equal:
        return negated(compare_less(b, a));
      case Op::logical_not:
        return negated(a);
      case Op::logical_and:
        return Dim::min(a, b);
      case Op::logical_or:
        return Dim::max(a, b);
      default:
        return std::nullopt;
    }
  }

  // Integers divide toward zero, x / 0 is 0: the floor of what is not negative, less the floor of what is.
  MaybeDim divide(const Dim& a, const Dim& b) const {
    if (b.is_value(0)) return Dim(0);
    if (a.is_static() && b.is_static()) {
      if (*a.value() == INT64_MIN) return std::nullopt;
      return Dim(*a.value() / *b.value());
    }
    if (const auto exact = Dim::exact_quotient(a, b); exact && b.is_static()) return exact;
    if (!is_at_least(b, 0)) return std::nullopt;
    if (!is_at_least(b, 1)) {  // x / 0 is 0
      const auto quotient = divide(a, Dim::max(b, 1));
      return quotient ? MaybeDim(*quotient * Dim::min(b, 1)) : std::nullopt;
    }
    const SymbolRange range = a.bounds(graph_.symbols);
    if (range.min >= 0) return Dim::floor_div(a, b);
    const Dim minus = Dim(0) - a;
    if (range.max <= 0) return Dim(0) - Dim::floor_div(minus, b);
    const Dim positive = Dim::floor_div(Dim::max(a, 0), b);
    const bool is_small = b.is_static() && range.min > -*b.value();  // n - 1 by 2: the negative part gives 0
    return is_small ? positive : positive - Dim::floor_div(Dim::max(minus, 0), b);
  }

  static MaybeDim negated(const MaybeDim& d) { return d ? MaybeDim(Dim(1) - *d) : std::nullopt; }

  MaybeDim compare_not_equal(const Dim& a, const Dim& b) const {
    if (a == b) return Dim(0);
    const SymbolRange range = (a - b).bounds(graph_.symbols);
    if (Dim::never_equal(a, b) || range.min > 0 || range.max < 0) return Dim(1);
    return std::nullopt;
  }

  MaybeDim compare_less(const Dim& a, const Dim& b) const {
    const SymbolRange range = (a - b).bounds(graph_.symbols);
    if (range.max < 0) return Dim(1);
    if (range.min >= 0) return Dim(0);
    return std::nullopt;
  }

  const Graph& graph_;
  const Node& node_;
  std::vector<int64_t> shape_;
};
}  // namespace

std::optional<Dims> infer_contents(const Graph& graph, const Node& node) {
  return Contents(graph, node).run();
}

}  // namespace ge
