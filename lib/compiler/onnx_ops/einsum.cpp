// Einsum on core transpose, reshape, dot, mul and reduce. Operands are taken in from the left, one at a time;
// labels that nothing later needs are summed as soon as they can be.
//   "bqhd,bkhd->bhqk"   labels of both that stay (b, h) are batch axes of a dot, those that go (d) its depth
#include <algorithm>
#include <map>
#include <set>

#include "compiler/onnx_ops/op_context.h"

namespace ge {
namespace {

// A letter, or kEllipsis + the position, from the right, of a dim under "...".
using Label = int;
using Labels = std::vector<Label>;
constexpr Label kEllipsis = 256;

struct Term {
  ValueId value = kNone;
  Labels labels;  // one an axis
};

bool contains(const Labels& labels, Label l) {
  return std::find(labels.begin(), labels.end(), l) != labels.end();
}

class Einsum {
 public:
  explicit Einsum(OpContext& c) : c_(c), b_(c.build()) {}

  ValueId run() {
    if (!parse()) return kNone;
    Term acc = single(terms_[0], 1);
    for (size_t i = 1; i < terms_.size() && !c_.failed(); ++i)
      acc = joined(acc, single(terms_[i], i + 1, &acc.labels), i + 1);
    return c_.failed() ? kNone : arranged(acc, output_);
  }

 private:
  bool fault(const std::string& message, const std::string& found) {
    return c_.refuse(c_.about_attr("equation", Code::bad_attribute, message), found);
  }

  // -- the equation --
  bool parse() {
    std::string text;
    for (const char ch : c_.string_attr("equation"))
      if (ch != ' ') text += ch;
    const size_t arrow = text.find("->");
    std::string inputs = text.substr(0, arrow);
    std::vector<std::string> parts{""};
    for (const char ch : inputs) {
      if (ch == ',')
        parts.emplace_back();
      else
        parts.back() += ch;
    }
    if (parts.size() != c_.input_count()) {
      return fault("the equation has another number of operands", "found " + std::to_string(parts.size()) +
                                                                      " in \"" + text + "\", the node has " +
                                                                      std::to_string(c_.input_count()));
    }
    for (size_t i = 0; i < parts.size(); ++i)
      if (!add_term(parts[i], i)) return false;
    return arrow == std::string::npos ? implied_output() : explicit_output(text.substr(arrow + 2));
  }

  // Letters and one "..."; `dims` is how many labels the ellipsis stands for.
  bool read_labels(const std::string& text, size_t dims, Labels& labels) {
    bool seen = false;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text.compare(i, 3, "...") == 0 && !seen) {
        seen = true;
        i += 2;
        for (size_t d = dims; d-- > 0;) labels.push_back(kEllipsis + static_cast<Label>(d));
      } else if (std::isalpha(static_cast<unsigned char>(text[i])) != 0) {
        labels.push_back(text[i]);
      } else {
        return fault("the equation cannot be read",
                     "found \"" + text + "\"; allowed: letters, ',', '->' and one '...' an operand");
      }
    }
    return true;
  }

  bool add_term(const std::string& text, size_t input) {
    const auto letters = static_cast<size_t>(std::count_if(
        text.begin(), text.end(), [](char ch) { return std::isalpha(static_cast<unsigned char>(ch)) != 0; }));
    const Dims& dims = c_.dims(c_.in(input));
    const bool dots = text.find("...") != std::string::npos;
    if (dots ? letters > dims.size() : letters != dims.size()) {
      return fault(
          "an operand has another rank than the equation says",
          "'" + text + "' has " + std::to_string(letters) + " letters; " + c_.describe(c_.in(input)));
    }
    Term term{c_.in(input), {}};
    if (!read_labels(text, dims.size() - letters, term.labels)) return false;
    ellipsis_ = std::max(ellipsis_, dims.size() - letters);
    for (size_t a = 0; a < dims.size(); ++a)
      if (!know_extent(term.labels[a], dims[a])) return false;
    terms_.push_back(std::move(term));
    return true;
  }

  // All axes of a label have one extent, or are 1 and broadcast.
  bool know_extent(Label label, const Dim& dim) {
    const auto [it, fresh] = extents_.emplace(label, dim);
    if (fresh || dim.is_value(1)) return true;
    if (it->second.is_value(1))
      it->second = dim;
    else
      c_.require_equal(it->second, dim, "dims of one label of the equation differ");
    if (!it->second.is_static() && dim.is_static()) it->second = dim;
    return !c_.failed();
  }

  void ellipsis_labels(Labels& labels) const {
    for (size_t d = ellipsis_; d-- > 0;) labels.push_back(kEllipsis + static_cast<Label>(d));
  }
  bool implied_output() {
    std::map<Label, int> count;
    for (const Term& t : terms_)
      for (const Label l : t.labels) ++count[l];
    ellipsis_labels(output_);
    for (const auto& [label, times] : count)
      if (label < kEllipsis && times == 1) output_.push_back(label);
    return true;
  }
  bool explicit_output(const std::string& text) {
    if (!read_labels(text, ellipsis_, output_)) return false;
    std::set<Label> seen;
    for (const Label l : output_) {
      if (!extents_.contains(l))
        return fault("an output label stands in no operand", std::string("found '") + char(l) + "'");
      if (!seen.insert(l).second)
        return fault("an output label stands twice", std::string("found '") + char(l) + "'");
    }
    return true;
  }

  // -- one operand --
  bool needed(Label l, size_t next_term) const {
    if (contains(output_, l)) return true;
    for (size_t i = next_term; i < terms_.size(); ++i)
      if (contains(terms_[i].labels, l)) return true;
    return false;
  }

  // Repeated labels become diagonals, labels that only this operand has are summed.
  Term single(Term t, size_t next_term, const Labels* other = nullptr) {
    for (size_t i = 0; i < t.labels.size() && !c_.failed();) {
      const auto again = std::find(t.labels.begin() + static_cast<long>(i) + 1, t.labels.end(), t.labels[i]);
      if (again == t.labels.end())
        ++i;
      else
        t = diagonal(t, i, static_cast<size_t>(again - t.labels.begin()));
    }
    std::vector<int64_t> axes;
    Labels kept;
    for (size_t i = 0; i < t.labels.size(); ++i) {
      const bool used = needed(t.labels[i], next_term) || (other != nullptr && contains(*other, t.labels[i]));
      if (used)
        kept.push_back(t.labels[i]);
      else
        axes.push_back(static_cast<int64_t>(i));
    }
    if (axes.empty() || c_.failed()) return t;
    return {b_.reduce(t.value, "sum", axes, false), kept};
  }

  // Axes i < j become one, the elements where both are equal.
  Term diagonal(Term t, size_t i, size_t j) {
    const Dims dims = c_.dims(t.value);
    if (dims[i].is_value(1) || dims[j].is_value(1)) {  // broadcast along the other
      const size_t unit = dims[i].is_value(1) ? i : j;
      return {b_.reduce(t.value, "sum", {static_cast<int64_t>(unit)}, false), without(t.labels, unit)};
    }
    const ValueId rows = c_.positions(dims, static_cast<int64_t>(i)),
                  columns = c_.positions(dims, static_cast<int64_t>(j));
    const ValueId only =
        b_.map(Op::select, {b_.map(Op::equal, {rows, columns}), t.value, c_.scalar_like(t.value, 0)});
    return {b_.reduce(only, "sum", {static_cast<int64_t>(j)}, false), without(t.labels, j)};
  }
  static Labels without(Labels labels, size_t at) {
    labels.erase(labels.begin() + static_cast<long>(at));
    return labels;
  }

  // -- two operands --
  // Axes in the order of `labels`; a label the term lacks becomes an axis of 1.
  ValueId arranged(const Term& t, const Labels& labels) {
    std::vector<int64_t> perm;
    Dims shape;
    for (const Label l : labels) {
      const auto at = std::find(t.labels.begin(), t.labels.end(), l);
      if (at == t.labels.end()) {
        shape.emplace_back(1);
        continue;
      }
      perm.push_back(at - t.labels.begin());
      shape.push_back(c_.dims(t.value)[static_cast<size_t>(perm.back())]);
    }
    return b_.reshape(b_.transpose(t.value, std::move(perm)), shape);
  }
  Dims extents(const Labels& labels) const {
    Dims dims;
    for (const Label l : labels) dims.push_back(extents_.at(l));
    return dims;
  }
  // Like arranged, every axis at its label's full extent.
  ValueId expanded(const Term& t, const Labels& labels) {
    return b_.broadcast(arranged(t, labels), extents(labels));
  }

  Term joined(const Term& a, const Term& b, size_t next_term) {
    if (c_.failed()) return a;
    Labels batch, left, right, depth;
    for (const Label l : a.labels) {
      if (!contains(b.labels, l))
        left.push_back(l);
      else
        (needed(l, next_term) ? batch : depth).push_back(l);
    }
    for (const Label l : b.labels)
      if (!contains(a.labels, l)) right.push_back(l);
    Labels result = batch;
    result.insert(result.end(), left.begin(), left.end());
    result.insert(result.end(), right.begin(), right.end());
    if (depth.empty()) return {b_.map(Op::mul, {arranged(a, result), arranged(b, result)}), result};
    return {product_of(a, b, batch, left, right, depth), result};
  }

  // dot over [batch, left, depth] and [batch, depth, right], each group but batch merged to one axis.
  ValueId product_of(const Term& a, const Term& b, const Labels& batch, const Labels& left,
                     const Labels& right, const Labels& depth) {
    const auto chain = [](std::initializer_list<const Labels*> lists) {
      Labels all;
      for (const Labels* list : lists) all.insert(all.end(), list->begin(), list->end());
      return all;
    };
    const auto merged = [&](const Labels& middle, const Labels& last) {
      Dims dims = extents(batch);
      dims.push_back(product(extents(middle)));
      dims.push_back(product(extents(last)));
      return dims;
    };
    const ValueId lhs = b_.reshape(expanded(a, chain({&batch, &left, &depth})), merged(left, depth));
    const ValueId rhs = b_.reshape(expanded(b, chain({&batch, &depth, &right})), merged(depth, right));
    if (c_.failed()) return kNone;
    return b_.reshape(b_.op(Op::dot, {lhs, rhs}), extents(chain({&batch, &left, &right})));
  }

  OpContext& c_;
  Builder& b_;
  std::vector<Term> terms_;
  Labels output_;
  std::map<Label, Dim> extents_;
  size_t ellipsis_ = 0;  // dims under "..." at most
};

}  // namespace

Results lower_einsum(OpContext& c) {
  return Einsum(c).run();
}

}  // namespace ge
