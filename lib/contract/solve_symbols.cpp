// From the shapes of inputs to the values of dims, and what to say where they do not fit.
#include <algorithm>
#include <set>
#include <string>

#include "base/checked_math.h"
#include "base/text.h"
#include "contract/bind_values.h"
#include "contract/plan_bind.h"

namespace ge {
namespace {

bool is_unknown(const std::vector<int64_t>& shape) {
  return shape.size() == 1 && shape[0] == INT64_MIN;
}

class Solver {
 public:
  Solver(const Program& program, std::span<const std::vector<int64_t>> shapes,
         std::span<const GivenSymbol> given)
      : p_(program), shapes_(shapes), values_(optimal_symbols(program)), places_(program.symbols.size()) {
    for (const Symbol& s : p_.symbols) names_.push_back(visible_line(s.name));
    for (const GivenSymbol& g : given) {
      values_[g.symbol] = g.value;
      places_[g.symbol] = "the value given";
      given_.insert(g.symbol);
    }
  }

  Result<std::vector<int64_t>> solve() {
    if (shapes_.size() != p_.signature.inputs.size()) {
      return fail(Code::input_shape)
          .because(std::to_string(shapes_.size()) + " shapes for " +
                   std::to_string(p_.signature.inputs.size()) + " inputs");
    }
    ranks();
    GE_TRY(faults_.take());
    each_dim([&](size_t i, size_t axis, ExprId id) { take_symbol(i, axis, id); });
    take_only_values();
    while (unsolved_step()) {
    }
    each_dim([&](size_t i, size_t axis, ExprId id) {
      unknown_of(id).empty() ? compare(i, axis, id) : tell_unsolved(i, axis, id);
    });
    GE_TRY(faults_.take());
    for (size_t s = 0; s < values_.size(); ++s) range(s);
    GE_TRY(faults_.take());
    return values_;
  }

 private:
  template <class F>
  void each_dim(F&& f) {
    for (size_t i = 0; i < shapes_.size(); ++i) {
      if (is_unknown(shapes_[i])) continue;
      for (size_t axis = 0; axis < shapes_[i].size(); ++axis) f(i, axis, p_.signature.inputs[i].dims[axis]);
    }
  }
  std::string input_text(size_t input) const {
    return "input " + quoted_line(p_.signature.inputs[input].name);
  }
  std::string place(size_t input, size_t axis) const {
    return "axis " + std::to_string(axis) + " of " + input_text(input);
  }
  std::string text(ExprId id) const { return p_.exprs.to_string(id, names_); }
  std::string shape_text(size_t input) const {
    std::string text = "[";
    for (const int64_t d : shapes_[input]) text += (text.size() > 1 ? ", " : "") + std::to_string(d);
    return text + "]";
  }
  std::string wanted_text(size_t input) const {
    std::string list = "[";
    for (const ExprId id : p_.signature.inputs[input].dims) list += (list.size() > 1 ? ", " : "") + text(id);
    return list + "]";
  }
  Diagnostic wrong_shape(size_t input, const std::string& why) const {
    return fail(Code::input_shape)
        .say(input_text(input) + " has the wrong shape")
        .because("found " + shape_text(input) + ", the plan takes " + wanted_text(input) +
                 (why.empty() ? "" : ": " + why));
  }

  void ranks() {
    for (size_t i = 0; i < shapes_.size(); ++i) {
      if (is_unknown(shapes_[i])) continue;
      const bool negative = std::ranges::any_of(shapes_[i], [](int64_t d) { return d < 0; });
      if (negative || shapes_[i].size() != p_.signature.inputs[i].dims.size())
        faults_.add(wrong_shape(i, ""));
    }
  }

  void set(size_t symbol, int64_t value, size_t input, size_t axis) {
    values_[symbol] = value;
    places_[symbol] = place(input, axis);
  }
  // A dim that is a symbol by itself gives it its value; the first such dim wins, compare() looks at the
  // others.
  void take_symbol(size_t input, size_t axis, ExprId id) {
    const auto tokens = p_.exprs.tokens(id);
    if (tokens.size() != 1 || tokens[0].op != ExprOp::kSymbol) return;
    const auto symbol = static_cast<size_t>(tokens[0].value);
    if (places_[symbol].empty()) set(symbol, shapes_[input][axis], input, axis);
  }

  // A range of one value leaves nothing to work out.
  void take_only_values() {
    for (size_t s = 0; s < values_.size(); ++s) {
      if (!places_[s].empty() || p_.symbols[s].min != p_.symbols[s].max) continue;
      values_[s] = p_.symbols[s].min;
      places_[s] = "its range";
    }
  }

  // The symbols of a dim that nobody has given a value, each once.
  std::vector<size_t> unknown_of(ExprId id) const {
    std::vector<size_t> unknown = p_.exprs.symbols(id);
    std::erase_if(unknown, [&](size_t symbol) { return !places_[symbol].empty(); });
    return unknown;
  }

  // Solves one dim that is linear in one unknown symbol; false: there is none left.
  bool unsolved_step() {
    bool solved = false;
    each_dim([&](size_t input, size_t axis, ExprId id) {
      if (solved) return;
      const auto symbol = only_unknown(id);
      if (!symbol) return;
      if (const MaybeInt value = solve_linear(id, *symbol, shapes_[input][axis])) {
        set(*symbol, *value, input, axis);
        solved = true;
      }
    });
    return solved;
  }
  std::optional<size_t> only_unknown(ExprId id) const {
    for (const ExprToken& t : p_.exprs.tokens(id))
      if (t.op > ExprOp::kMul) return std::nullopt;  // constants, symbols, + - *
    const auto unknown = unknown_of(id);
    return unknown.size() == 1 ? std::optional(unknown[0]) : std::nullopt;
  }
  // f(s) = f(0) + s * (f(1) - f(0)), and f(2) agrees: {f(0), slope}.
  std::optional<std::pair<int64_t, int64_t>> linear_in(ExprId id, size_t symbol) const {
    std::vector<int64_t> trial = values_;
    int64_t f[3];
    for (int64_t at = 0; at < 3; ++at) {
      trial[symbol] = at;
      const auto value = p_.exprs.evaluate(id, trial);
      if (!value.ok()) return std::nullopt;
      f[at] = *value;
    }
    const MaybeInt slope = checked_sub(f[1], f[0]), again = checked_sub(f[2], f[1]);
    if (!slope || !again || *slope == 0 || *slope != *again) return std::nullopt;
    return std::pair(f[0], *slope);
  }
  MaybeInt solve_linear(ExprId id, size_t symbol, int64_t wanted) const {
    const auto line = linear_in(id, symbol);
    const MaybeInt rest = line ? checked_sub(wanted, line->first) : std::nullopt;
    if (!rest || (line->second == -1 && *rest == INT64_MIN)) return std::nullopt;
    if (*rest % line->second != 0 || *rest / line->second < 0) return std::nullopt;
    return *rest / line->second;
  }

  // A dim whose symbols cannot be worked out: because no value of the one symbol gives this size, or because
  // the inputs do not say enough.
  void tell_unsolved(size_t input, size_t axis, ExprId id) {
    const auto unknown = unknown_of(id);
    const std::string size = std::to_string(shapes_[input][axis]);
    if (const auto symbol = only_unknown(id); symbol && linear_in(id, *symbol)) {
      faults_.add(wrong_shape(input, "axis " + std::to_string(axis) + " is " + size + ", and no " +
                                         names_[*symbol] + " from 0 up makes " + text(id) + known_text(id) +
                                         " that"));
      return;
    }
    std::string list, flags;
    bool all_told = true;
    for (const size_t s : unknown) {
      all_told &= !told_.insert(s).second;
      list += (list.empty() ? "" : ", ") + ("\"" + names_[s] + "\"");
      flags += (flags.empty() ? "--dim " : " --dim ") + names_[s] + "=N";
    }
    if (all_told) return;  // one fault for each set of symbols: naming them mends the others too
    const bool many = unknown.size() > 1;
    faults_.add(fail(Code::symbol_unsolved)
                    .say((many ? "dims " : "dim ") + list + " cannot be worked out from the inputs")
                    .because(input_text(input) + " is " + shape_text(input) + ", the plan takes " +
                             wanted_text(input) + ": " + text(id) + " = " + size + known_text(id) +
                             " does not say what " + (many ? "they are" : "it is"))
                    .try_(many ? "give all but one of them a value (" + flags + ")"
                               : "give it a value (" + flags + ")"));
  }
  // " with a = 1": those of a dim's symbols that are known.
  std::string known_text(ExprId id) const {
    std::string known;
    for (const size_t symbol : p_.exprs.symbols(id)) {
      if (places_[symbol].empty()) continue;
      known += (known.empty() ? " with " : ", ") + names_[symbol] + " = " + std::to_string(values_[symbol]) +
               " (by " + places_[symbol] + ")";
    }
    return known;
  }

  // Every dim must come out as given.
  void compare(size_t input, size_t axis, ExprId id) {
    const int64_t given = shapes_[input][axis];
    const auto value = p_.exprs.evaluate(id, values_);
    if (value.ok() && *value == given) return;
    const std::string number = std::to_string(given);
    const auto tokens = p_.exprs.tokens(id);
    if (value.ok() && tokens.size() == 1 && tokens[0].op == ExprOp::kSymbol) {
      const auto symbol = static_cast<size_t>(tokens[0].value);
      faults_.add(fail(Code::symbol_conflict)
                      .say("dim \"" + names_[symbol] + "\" has two values")
                      .because(std::to_string(values_[symbol]) + " by " + places_[symbol] + ", " + number +
                               " by " + place(input, axis)));
    } else if (const std::string known = known_text(id); !known.empty()) {
      faults_.add(fail(Code::symbol_conflict)
                      .say(input_text(input) + " does not fit the other dims")
                      .because("axis " + std::to_string(axis) + " is " + number + "; " + text(id) + " is " +
                               (value.ok() ? std::to_string(*value) : "no number") + known));
    } else {
      faults_.add(wrong_shape(input, "axis " + std::to_string(axis) + " is " + number));
    }
  }

  void range(size_t symbol) {
    const Symbol& s = p_.symbols[symbol];
    if (values_[symbol] >= s.min && values_[symbol] <= s.max) return;
    faults_.add(fail(Code::symbol_range)
                    .say("dim \"" + names_[symbol] + "\" is outside its range")
                    .because(std::to_string(values_[symbol]) + " by " + places_[symbol] + uses_text(symbol) +
                             ", allowed " + range_text(s.min, s.max)));
  }
  // Where a value that the caller named stands in the inputs: " (axis 0 of input "x")".
  std::string uses_text(size_t symbol) const {
    if (!given_.contains(symbol)) return "";
    for (size_t i = 0; i < p_.signature.inputs.size(); ++i) {
      const std::vector<ExprId>& dims = p_.signature.inputs[i].dims;
      for (size_t axis = 0; axis < dims.size(); ++axis)
        if (std::ranges::binary_search(p_.exprs.symbols(dims[axis]), symbol))
          return " (" + place(i, axis) + ")";
    }
    return "";
  }

  const Program& p_;
  std::span<const std::vector<int64_t>> shapes_;
  std::vector<int64_t> values_;
  std::vector<std::string> places_;  // who gave each symbol its value; empty: nobody yet
  std::vector<std::string> names_;
  std::set<size_t> given_;  // those that the caller named
  std::set<size_t> told_;   // those that could not be worked out, and are told
  ErrorList faults_;
};

}  // namespace

std::vector<int64_t> optimal_symbols(const Program& program) {
  std::vector<int64_t> values;
  for (const Symbol& s : program.symbols) values.push_back(s.opt);
  return values;
}

Result<std::vector<int64_t>> solve_symbols(const Program& program,
                                           std::span<const std::vector<int64_t>> shapes,
                                           std::span<const GivenSymbol> given) {
  return Solver(program, shapes, given).solve();
}

Status check_symbol_ranges(const Program& program, std::span<const int64_t> values) {
  if (values.size() != program.symbols.size())
    return fail(Code::internal).say("a binding needs one value per dim");
  ErrorList faults;
  for (size_t i = 0; i < values.size(); ++i) {
    const Symbol& s = program.symbols[i];
    if (values[i] >= s.min && values[i] <= s.max) continue;
    faults.add(fail(Code::symbol_range)
                   .say("dim \"" + s.name + "\" is outside its range")
                   .because("found " + std::to_string(values[i]) + ", allowed " + range_text(s.min, s.max)));
  }
  return faults.take();
}

}  // namespace ge
