#include "ops/second_source.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <type_traits>

#include "numeric/convert.h"

namespace ge::test {
namespace {

using Real = long double;
using Index = std::vector<int64_t>;

int64_t product_of(const Index& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

int64_t flat(const Index& dims, const Index& at) {
  int64_t position = 0;
  for (size_t a = 0; a < dims.size(); ++a) position = position * dims[a] + at[a];
  return position;
}

template <class F>
void each(const Index& dims, F&& f) {
  Index at(dims.size(), 0);
  for (int64_t n = product_of(dims); n > 0; --n) {
    f(at);
    for (size_t a = dims.size(); a-- > 0;) {
      if (++at[a] < dims[a]) break;
      at[a] = 0;
    }
  }
}

// The elements of x as T: Real of float types, Whole of the others.
template <class T>
auto& elements(Numbers& x) {
  if constexpr (std::is_same_v<T, Real>)
    return x.real;
  else
    return x.whole;
}
template <class T>
const std::vector<T>& elements(const Numbers& x) {
  return elements<T>(const_cast<Numbers&>(x));
}

class Evaluator {
 public:
  Evaluator(const Graph& graph, const std::vector<HostTensor>& inputs)
      : graph_(graph), values_(graph.value_capacity()) {
    for (size_t i = 0; i < inputs.size(); ++i) values_[graph.inputs[i]] = read(inputs[i]);
    for (const NodeId id : graph.order()) evaluate(graph.node(id));
  }
  std::vector<Numbers> outputs() const {
    std::vector<Numbers> list;
    for (const ValueId v : graph_.outputs) list.push_back(values_[v]);
    return list;
  }

 private:
  static Numbers read(const HostTensor& t) {
    Numbers x{t.dtype, t.dims, {}, {}, {}};
    for (int64_t i = 0; i < t.count(); ++i) {
      if (is_float(t.dtype))
        x.real.push_back(load_as_double(t.dtype, t.bytes.data(), i));
      else  // uint64 comes as its bits
        x.whole.push_back(wrapped_to(t.dtype, load_as_int64(t.dtype, t.bytes.data(), i)));
    }
    return x;
  }

  void evaluate(const Node& node) {
    const Type& type = graph_.type(node.results[0]);
    Numbers y{type.dtype, *static_values(type.dims), {}, {}, {}};
    if (is_float(y.dtype))
      y.real.resize(static_cast<size_t>(product_of(y.dims)));
    else
      y.whole.resize(static_cast<size_t>(product_of(y.dims)));
    const DType operand = node.operands.empty() ? y.dtype : in(node, 0).dtype;
    if (is_float(operand))
      compute<Real>(node, y);
    else
      compute<Whole>(node, y);
    if (node.op != Op::bitcast)  // bits may be an infinity that no cast to this dtype gives
      for (Real& v : y.real) v = rounded_to(y.dtype, v);
    for (Whole& v : y.whole) v = wrapped_to(y.dtype, v);
    values_[node.results[0]] = std::move(y);
  }

  const Numbers& in(const Node& node, size_t i) const { return values_[node.operands[i]]; }
  static bool has(const Node& node, size_t i) {
    return i < node.operands.size() && node.operands[i] != kNone;
  }

  template <class T>
  void compute(const Node& node, Numbers& y) {
    switch (node.op) {
      case Op::constant:
        y = constant(node);
        return;
      case Op::iota:
        return iota(node, y);
      case Op::cast:
        return cast(in(node, 0), y);
      case Op::bitcast:
        return bitcast(in(node, 0), y);
      case Op::reshape:
        elements<T>(y) = elements<T>(in(node, 0));
        return;
      case Op::transpose:
      case Op::broadcast:
      case Op::slice:
        return view<T>(node, y);
      case Op::pad:
        return pad<T>(node, y);
      case Op::concat:
        return concat<T>(node, y);
      case Op::gather:
        return gather<T>(node, y);
      case Op::scatter:
        return scatter<T>(node, y);
      case Op::scan:
        return scan<T>(node, y);
      case Op::sort_topk:
        return sort_topk<T>(node, y);
      case Op::reduce:
        return reduce<T>(node, y);
      case Op::dot:
        return dot<T>(node, y);
      case Op::pool:
      case Op::conv:
        return window<T>(node, y);
      case Op::attention:
        return attention(node, y);
      case Op::softmax:
      case Op::log_softmax:
        return softmax(node, y);
      case Op::normalize:
        return normalize(node, y);
      default:
        return map(node, y);
    }
  }

  static Numbers constant(const Node& node) {
    const auto bytes = full_bytes(*node.data);
    HostTensor t{node.data->dtype, node.data->dims, ByteBuffer::copy_of((*bytes)->span())};
    return read(t);
  }

  static void iota(const Node& node, Numbers& y) {
    const auto axis = static_cast<size_t>(attr_int(node, "axis"));
    each(y.dims, [&](const Index& at) {
      const auto i = static_cast<size_t>(flat(y.dims, at));
      if (is_float(y.dtype))
        y.real[i] = static_cast<Real>(at[axis]);
      else
        y.whole[i] = at[axis];
    });
  }

  static void cast(const Numbers& x, Numbers& y) {
    for (size_t i = 0; i < static_cast<size_t>(x.count()); ++i) {
      if (is_float(y.dtype))
        y.real[i] = is_float(x.dtype) ? x.real[i] : static_cast<Real>(x.whole[i]);
      else
        y.whole[i] = is_float(x.dtype) ? whole_of(y.dtype, x.real[i]) : x.whole[i];
    }
  }

  static void bitcast(const Numbers& x, Numbers& y) {
    for (int64_t i = 0; i < x.count(); ++i) {
      const auto at = static_cast<size_t>(i);
      std::byte bits[8];
      if (is_float(x.dtype))
        store_from_double(x.dtype, bits, 0, static_cast<double>(x.real[at]));
      else
        store_from_int64(x.dtype, bits, 0, static_cast<int64_t>(x.whole[at]));
      if (is_float(y.dtype))
        y.real[at] = load_as_double(y.dtype, bits, 0);
      else
        y.whole[at] = wrapped_to(y.dtype, load_as_int64(y.dtype, bits, 0));
    }
  }

  void map(const Node& node, Numbers& y) const {
    const auto op = static_cast<ScalarOp>(*scalar_code(node.op));
    const DType operand = in(node, node.operands.size() - 1).dtype;  // select's first is a bool
    for (size_t i = 0; i < static_cast<size_t>(y.count()); ++i) {
      Real real[3] = {};
      Whole whole[3] = {};
      for (size_t k = 0; k < node.operands.size(); ++k) {
        const Numbers& x = in(node, k);
        if (is_float(x.dtype))
          real[k] = x.real[i];
        else
          real[k] = static_cast<Real>(whole[k] = x.whole[i]);
      }
      if (!is_float(operand))
        y.whole[i] = whole_formula(op, operand, whole[0], whole[1], whole[2]);
      else if (is_float(y.dtype))
        y.real[i] = real_formula(op, real[0], real[1], real[2]);
      else
        y.whole[i] = static_cast<Whole>(real_formula(op, real[0], real[1], real[2]));
    }
  }

  // ---- movement
  template <class T>
  void view(const Node& node, Numbers& y) const {
    const Numbers& x = in(node, 0);
    each(y.dims, [&](const Index& at) {
      Index from(x.dims.size(), 0);
      for (size_t a = 0; a < x.dims.size(); ++a) {
        if (node.op == Op::transpose)
          from[static_cast<size_t>(attr_ints(node, "perm")[a])] = at[a];
        else if (node.op == Op::broadcast)
          from[a] = x.dims[a] == 1 ? 0 : at[at.size() - x.dims.size() + a];
        else
          from[a] = *attr_dims(node, "starts")[a].value() + at[a] * attr_ints(node, "steps")[a];
      }
      elements<T>(y)[flat_of(y.dims, at)] = elements<T>(x)[flat_of(x.dims, from)];
    });
  }
  static size_t flat_of(const Index& dims, const Index& at) { return static_cast<size_t>(flat(dims, at)); }

  template <class T>
  void pad(const Node& node, Numbers& y) const {
    const Numbers& x = in(node, 0);
    const T fill = has(node, 1) ? elements<T>(in(node, 1))[0] : T(0);
    std::fill(elements<T>(y).begin(), elements<T>(y).end(), fill);
    each(x.dims, [&](Index at) {
      const T value = elements<T>(x)[flat_of(x.dims, at)];
      for (size_t a = 0; a < at.size(); ++a) at[a] += attr_ints(node, "low")[a];
      elements<T>(y)[flat_of(y.dims, at)] = value;
    });
  }

  template <class T>
  void concat(const Node& node, Numbers& y) const {
    const auto axis = static_cast<size_t>(attr_int(node, "axis"));
    int64_t start = 0;
    for (size_t k = 0; k < node.operands.size(); ++k) {
      const Numbers& x = in(node, k);
      each(x.dims, [&](Index at) {
        const T value = elements<T>(x)[flat_of(x.dims, at)];
        at[axis] += start;
        elements<T>(y)[flat_of(y.dims, at)] = value;
      });
      start += x.dims[axis];
    }
  }

  // Where in `data` the element at position `at` of what is gathered (or put) stands.
  static Index source(const Node& node, const Numbers& data, const Numbers& indices, const Index& at) {
    const auto axis = static_cast<size_t>(attr_int(node, "axis"));
    const auto index = [&](const Index& where) {
      const auto i = static_cast<int64_t>(indices.whole[flat_of(indices.dims, where)]);
      return i < 0 ? i + data.dims[axis] : i;
    };
    Index from = at;
    if (attr_int(node, "elements") != 0) {
      from[axis] = index(at);
      return from;
    }
    const auto begin = at.begin() + static_cast<std::ptrdiff_t>(axis);
    const auto end = begin + static_cast<std::ptrdiff_t>(indices.dims.size());
    from.assign(at.begin(), begin);
    from.push_back(index(Index(begin, end)));
    from.insert(from.end(), end, at.end());
    return from;
  }

  template <class T>
  void gather(const Node& node, Numbers& y) const {
    const Numbers &data = in(node, 0), &indices = in(node, 1);
    each(y.dims, [&](const Index& at) {
      elements<T>(y)[flat_of(y.dims, at)] =
          elements<T>(data)[flat_of(data.dims, source(node, data, indices, at))];
    });
  }

  template <class T>
  void scatter(const Node& node, Numbers& y) const {
    const Numbers &data = in(node, 0), &indices = in(node, 1), &updates = in(node, 2);
    const std::string kind = attr_string(node, "kind");
    elements<T>(y) = elements<T>(data);
    each(updates.dims, [&](const Index& at) {
      const T value = elements<T>(updates)[flat_of(updates.dims, at)];
      T& into = elements<T>(y)[flat_of(data.dims, source(node, data, indices, at))];
      const ScalarOp op = kind == "add"   ? ScalarOp::add
                          : kind == "mul" ? ScalarOp::mul
                          : kind == "max" ? ScalarOp::max
                                          : ScalarOp::min;
      into = kind == "none" ? value : stored(y.dtype, combine(op, y.dtype, into, value));
    });
  }
  static Real combine(ScalarOp op, DType, Real a, Real b) { return real_formula(op, a, b, 0); }
  static Whole combine(ScalarOp op, DType dtype, Whole a, Whole b) {
    return whole_formula(op, dtype, a, b, 0);
  }
  static Real stored(DType dtype, Real x) { return rounded_to(dtype, x); }
  static Whole stored(DType dtype, Whole x) { return wrapped_to(dtype, x); }
  static Real settled(DType, Real x) { return x; }
  static Whole settled(DType dtype, Whole x) { return wrapped_to(dtype, x); }

  template <class T>
  void scan(const Node& node, Numbers& y) const {
    const Numbers& x = in(node, 0);
    const auto axis = static_cast<size_t>(attr_int(node, "axis"));
    const bool exclusive = attr_int(node, "exclusive") != 0, reverse = attr_int(node, "reverse") != 0;
    each(y.dims, [&](const Index& at) {
      T sum = 0;
      for (int64_t i = 0; i < x.dims[axis]; ++i) {
        const bool before = reverse ? i > at[axis] : i < at[axis];
        if (!before && (exclusive || i != at[axis])) continue;
        Index from = at;
        from[axis] = i;
        sum += elements<T>(x)[flat_of(x.dims, from)];
      }
      elements<T>(y)[flat_of(y.dims, at)] = sum;
    });
  }

  // NaN is greater than every number.
  static bool is_greater(Real a, Real b) { return std::isnan(a) ? !std::isnan(b) : a > b; }
  static bool is_greater(Whole a, Whole b) { return a > b; }

  template <class T>
  void sort_topk(const Node& node, Numbers& y) const {
    const Numbers& x = in(node, 0);
    const auto axis = static_cast<size_t>(attr_int(node, "axis"));
    const bool largest = attr_int(node, "largest") != 0;
    Index columns = x.dims;
    columns[axis] = 1;
    each(columns, [&](const Index& at) {
      std::vector<int64_t> order(static_cast<size_t>(x.dims[axis]));
      std::iota(order.begin(), order.end(), 0);
      const auto element = [&](int64_t i) {
        Index from = at;
        from[axis] = i;
        return elements<T>(x)[flat_of(x.dims, from)];
      };
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        return largest ? is_greater(element(a), element(b)) : is_greater(element(b), element(a));
      });
      for (int64_t k = 0; k < y.dims[axis]; ++k) {
        Index into = at;
        into[axis] = k;
        y.whole[flat_of(y.dims, into)] = order[static_cast<size_t>(k)];
      }
    });
  }

  // ---- reductions
  template <class T>
  void reduce(const Node& node, Numbers& y) const {
    const Numbers& x = in(node, 0);
    const auto& axes = attr_ints(node, "axes");
    std::vector<std::vector<T>> rows(static_cast<size_t>(y.count()));
    each(x.dims, [&](const Index& at) {
      Index kept;
      for (size_t a = 0; a < at.size(); ++a)
        if (std::find(axes.begin(), axes.end(), static_cast<int64_t>(a)) == axes.end()) kept.push_back(at[a]);
      rows[flat_of(y.dims, kept)].push_back(elements<T>(x)[flat_of(x.dims, at)]);
    });
    const std::string kind = attr_string(node, "kind");
    for (size_t i = 0; i < rows.size(); ++i) {
      if (kind.starts_with("arg"))
        y.whole[i] = best_of(rows[i], kind == "argmax", attr_int(node, "select_last") != 0);
      else
        elements<T>(y)[i] = reduced(kind, x.dtype, rows[i]);
    }
  }
  static Real extreme(DType, bool max, Real) { return max ? -HUGE_VALL : HUGE_VALL; }
  static Whole extreme(DType dtype, bool max, Whole) { return max ? least_of(dtype) : greatest_of(dtype); }
  static Real mean(Real sum, size_t count) { return sum / static_cast<Real>(count); }
  static Whole mean(Whole sum, size_t count) { return count == 0 ? 0 : sum / static_cast<Whole>(count); }

  template <class T>
  static T reduced(const std::string& kind, DType dtype, const std::vector<T>& row) {
    T result = kind == "prod"                   ? T(1)
               : kind == "max" || kind == "min" ? extreme(dtype, kind == "max", T{})
                                                : T(0);
    const ScalarOp op = kind == "prod"  ? ScalarOp::mul
                        : kind == "max" ? ScalarOp::max
                        : kind == "min" ? ScalarOp::min
                                        : ScalarOp::add;
    for (const T& value : row) {
      result = combine(op, dtype, result, value);
      if (kind == "prod") result = settled(dtype, result);
    }
    return kind == "mean" ? mean(result, row.size()) : result;
  }

  // The first (or last) best; the first NaN is best of all.
  template <class T>
  static int64_t best_of(const std::vector<T>& row, bool max, bool last) {
    size_t best = 0;
    for (size_t i = 0; i < row.size(); ++i) {
      if (row[i] != row[i]) return static_cast<int64_t>(i);
      const bool better = max ? row[i] > row[best] : row[i] < row[best];
      if (better || (last && row[i] == row[best])) best = i;
    }
    return static_cast<int64_t>(best);
  }

  // Calls f with the positions of each line along `axis` (of all that follow it too, where `rest`).
  template <class F>
  static void each_line(const Index& dims, int64_t axis, bool rest, F&& f) {
    Index outer = dims, inner(dims.size(), 1);
    for (size_t a = static_cast<size_t>(axis); a < dims.size(); ++a) {
      if (a > static_cast<size_t>(axis) && !rest) break;
      inner[a] = dims[a];
      outer[a] = 1;
    }
    each(outer, [&](const Index& base) {
      std::vector<size_t> line;
      each(inner, [&](Index at) {
        for (size_t a = 0; a < at.size(); ++a) at[a] += base[a];
        line.push_back(flat_of(dims, at));
      });
      f(line);
    });
  }

  void softmax(const Node& node, Numbers& y) const {
    const Numbers& x = in(node, 0);
    each_line(x.dims, attr_int(node, "axis"), false, [&](const std::vector<size_t>& line) {
      Real most = -HUGE_VALL, sum = 0;
      for (const size_t i : line) most = real_formula(ScalarOp::max, most, x.real[i], 0);
      for (const size_t i : line) sum += std::exp(x.real[i] - most);
      for (const size_t i : line)
        y.real[i] =
            node.op == Op::softmax ? std::exp(x.real[i] - most) / sum : x.real[i] - most - std::log(sum);
    });
  }

  void normalize(const Node& node, Numbers& y) const {
    const Numbers& x = in(node, 0);
    const Real epsilon = attr_double(node, "epsilon");
    each_line(x.dims, attr_int(node, "axis"), true, [&](const std::vector<size_t>& line) {
      Real mean = 0, squares = 0;
      const auto count = static_cast<Real>(line.size());
      if (attr_string(node, "kind") == "layer")
        for (const size_t i : line) mean += x.real[i] / count;
      for (const size_t i : line) squares += (x.real[i] - mean) * (x.real[i] - mean) / count;
      for (const size_t i : line) {
        y.real[i] = (x.real[i] - mean) / std::sqrt(squares + epsilon);
        if (has(node, 1)) y.real[i] *= in(node, 1).real[i];
        if (has(node, 2)) y.real[i] += in(node, 2).real[i];
      }
    });
  }

  // ---- products and windows
  static Real size_of(Real x) { return std::fabs(x); }
  static Whole size_of(Whole) { return 0; }
  static void note_terms(Numbers& y, size_t at, Real size) {
    y.terms.resize(y.real.size());
    y.terms[at] = size;
  }
  static void note_terms(Numbers&, size_t, Whole) {}  // integers are exact

  template <class T>
  void dot(const Node& node, Numbers& y) const {
    const Numbers &lhs = in(node, 0), &rhs = in(node, 1);
    const size_t rank = lhs.dims.size();
    each(y.dims, [&](const Index& at) {
      T sum = has(node, 2) ? elements<T>(in(node, 2))[flat_of(y.dims, at)] : T(0);
      T size = size_of(sum);
      Index left = at, right = at;
      for (int64_t k = 0; k < lhs.dims[rank - 1]; ++k) {
        left[rank - 1] = right[rank - 2] = k;
        const T term =
            settled(y.dtype, combine(ScalarOp::mul, y.dtype, elements<T>(lhs)[flat_of(lhs.dims, left)],
                                     elements<T>(rhs)[flat_of(rhs.dims, right)]));
        sum += term;
        size += size_of(term);
      }
      elements<T>(y)[flat_of(y.dims, at)] = sum;
      note_terms(y, flat_of(y.dims, at), size);
    });
  }

  // The input position of element `k` of the window at `at`; false where it lies in the padding.
  static bool window_element(const Node& node, const Index& dims, const Index& at, const Index& k,
                             Index& from) {
    bool inside = true;
    for (size_t s = 0; s < k.size(); ++s) {
      from[2 + s] = at[2 + s] * attr_ints(node, "strides")[s] - attr_ints(node, "pads_begin")[s] +
                    k[s] * attr_ints(node, "dilations")[s];
      inside = inside && from[2 + s] >= 0 && from[2 + s] < dims[2 + s];
    }
    return inside;
  }

  // With the last axis as the second, or the other way round.
  template <class T>
  static Numbers moved(const Numbers& x, bool to_last) {
    Numbers y{x.dtype, x.dims, x.real, x.whole, x.terms};
    const auto move = [&](Index& list) {
      if (to_last)
        std::rotate(list.begin() + 1, list.begin() + 2, list.end());
      else
        std::rotate(list.begin() + 1, list.end() - 1, list.end());
    };
    move(y.dims);
    each(x.dims, [&](const Index& at) {
      Index into = at;
      move(into);
      elements<T>(y)[flat_of(y.dims, into)] = elements<T>(x)[flat_of(x.dims, at)];
      if (!x.terms.empty()) y.terms[flat_of(y.dims, into)] = x.terms[flat_of(x.dims, at)];
    });
    return y;
  }

  template <class T>
  void window(const Node& node, Numbers& y) const {
    const bool last = attr_int(node, "channels_last", 0) != 0;
    const Numbers x = last ? moved<T>(in(node, 0), false) : in(node, 0);
    Numbers result = last ? moved<T>(y, false) : y;
    if (node.op == Op::pool)
      pool<T>(node, x, result);
    else if constexpr (std::is_same_v<T, Real>)
      conv(node, x, last ? moved<T>(in(node, 1), false) : in(node, 1), result);
    y = last ? moved<T>(result, true) : result;
  }

  void attention(const Node& node, Numbers& y) const {
    const Numbers &q = in(node, 0), &k = in(node, 1), &v = in(node, 2);
    const int64_t keys = k.dims[2], queries = q.dims[2], shared = k.dims[1] == 0 ? 1 : q.dims[1] / k.dims[1];
    const int64_t causal = attr_int(node, "causal");
    const Real fill = node.attrs.contains("fill") ? attr_double(node, "fill") : -HUGE_VALL;
    each({q.dims[0], q.dims[1], queries}, [&](const Index& at) {
      const int64_t b = at[0], h = at[1], i = at[2], g = h / shared;
      std::vector<Real> scores(static_cast<size_t>(keys), 0);
      Real most = -HUGE_VALL, sum = 0;
      for (int64_t j = 0; j < keys; ++j) {
        Real& score = scores[static_cast<size_t>(j)];
        for (int64_t d = 0; d < q.dims[3]; ++d)
          score += q.real[flat_of(q.dims, {b, h, i, d})] * k.real[flat_of(k.dims, {b, g, j, d})];
        score *= attr_double(node, "scale");
        if (has(node, 3)) {
          const Numbers& mask = in(node, 3);
          const size_t m = flat_of(mask.dims, {b, h, i, j});
          score = is_float(mask.dtype) ? score + mask.real[m] : mask.whole[m] != 0 ? score : fill;
        }
        if (causal != 0 && j > i + (causal == 2 ? keys - queries : 0)) score = -HUGE_VALL;
        most = std::max(most, score);
      }
      const bool empty = attr_int(node, "zero_empty") != 0 && most == -HUGE_VALL;
      for (Real& score : scores) sum += score = std::exp(score - most);
      for (int64_t e = 0; e < v.dims[3]; ++e) {
        Real result = 0, size = 0;
        for (int64_t j = 0; j < keys && !empty; ++j) {
          const Real term = scores[static_cast<size_t>(j)] / sum * v.real[flat_of(v.dims, {b, g, j, e})];
          result += term;
          size += size_of(term);
        }
        y.real[flat_of(y.dims, {b, i, h, e})] = result;
        note_terms(y, flat_of(y.dims, {b, i, h, e}), size);
      }
    });
  }

  void conv(const Node& node, const Numbers& x, const Numbers& w, Numbers& y) const {
    const int64_t groups = attr_int(node, "groups", 1), outputs = w.dims[0] / groups;
    const Index kernel(w.dims.begin() + 2, w.dims.end());
    each(y.dims, [&](const Index& at) {
      Real sum = has(node, 2) ? in(node, 2).real[static_cast<size_t>(at[1])] : 0, size = size_of(sum);
      for (int64_t c = 0; c < w.dims[1]; ++c) {
        Index from = at, weight = {at[1], c};
        from[1] = at[1] / outputs * w.dims[1] + c;
        weight.resize(w.dims.size());
        each(kernel, [&](const Index& k) {
          if (!window_element(node, x.dims, at, k, from)) return;
          std::copy(k.begin(), k.end(), weight.begin() + 2);
          const Real term = x.real[flat_of(x.dims, from)] * w.real[flat_of(w.dims, weight)];
          sum += term;
          size += size_of(term);
        });
      }
      y.real[flat_of(y.dims, at)] = sum;
      note_terms(y, flat_of(y.dims, at), size);
    });
  }

  template <class T>
  void pool(const Node& node, const Numbers& x, Numbers& y) const {
    const bool average = attr_string(node, "kind") == "average";
    each(y.dims, [&](const Index& at) {
      std::vector<T> inside;
      size_t padded = 0;  // elements within the padded input
      each(attr_ints(node, "kernel"), [&](const Index& k) {
        Index from = at;
        const bool real = window_element(node, x.dims, at, k, from);
        bool whole = true;
        for (size_t s = 0; s < k.size(); ++s)
          whole = whole && from[2 + s] < x.dims[2 + s] + attr_ints(node, "pads_end")[s];
        padded += whole ? 1 : 0;
        if (real) inside.push_back(elements<T>(x)[flat_of(x.dims, from)]);
      });
      T& result = elements<T>(y)[flat_of(y.dims, at)];
      result = reduced(average ? "sum" : "max", x.dtype, inside);
      if (average) result = mean(result, attr_int(node, "count_include_pad") != 0 ? padded : inside.size());
    });
  }

  const Graph& graph_;
  std::vector<Numbers> values_;
};

}  // namespace

int64_t Numbers::count() const {
  return product_of(dims);
}

std::vector<Numbers> second_answer(const Graph& graph, const std::vector<HostTensor>& inputs) {
  return Evaluator(graph, inputs).outputs();
}

}  // namespace ge::test
