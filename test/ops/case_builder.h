// One graph of the operator table while it is made: inputs with random contents, views of them, tolerances.
// Entry: CaseBuilder. Invariant: the same seed gives the same graph and numbers on every machine.
#pragma once
#include <random>
#include <string>
#include <vector>

#include "compiler/ir/builder.h"
#include "ops/op_cases.h"

namespace ge::test {

enum class Data { kPlain, kSpecial, kPositive, kSmallInteger };

class CaseBuilder {
 public:
  CaseBuilder(std::string op, DType dtype, uint32_t seed) : random_(seed), b_(out_.graph, {}) {
    out_.op = std::move(op);
    out_.dtype = dtype;
    out_.graph.name = out_.op;
    tolerance(1e-5, 1e-6);
  }

  Builder& b() { return b_; }
  DType dtype() const { return out_.dtype; }
  // Of float32. float64: 1e-7 of it; 16 bits: at least 2e-3 (bfloat16 1.6e-2); float8: one step; others:
  // exact.
  void tolerance(double rtol, double atol);
  // Products and what is made of them: `share` of sum |a b| beside the relative part, in every dtype, for the
  // order of a float32 sum. `weights_rounded`: one factor is rounded to the dtype on its way (attention's
  // weights before they meet the values), by half a unit, of which twice is allowed.
  void of_terms(double rtol, double share, bool weights_rounded = false);
  // Results are the nearest numbers, bit for bit.
  void exact() { out_.rtol = out_.atol = out_.shown_rtol = out_.shown_atol = 0; }

  // A graph input with random contents.
  ValueId input(const std::vector<int64_t>& dims, Data data = Data::kPlain) {
    return input_of(out_.dtype, dims, data);
  }
  ValueId input_of(DType dtype, const std::vector<int64_t>& dims, Data data);
  // int64 indices in [low, high).
  ValueId indices(const std::vector<int64_t>& dims, int64_t low, int64_t high, DType dtype = DType::int64);
  // The same shape through a transpose, a broadcast or a reversed slice, so that kernels meet strided
  // operands.
  ValueId view(const std::vector<int64_t>& dims, Data data, int kind, DType dtype);
  void output(ValueId v) {
    if (v != kNone) out_.graph.add_output(v, "case" + std::to_string(out_.graph.outputs.size()));
  }
  OpGraph finish();
  std::mt19937& random() { return random_; }

 private:
  ValueId add(HostTensor tensor);
  void put(HostTensor& t, int64_t i, Data data);
  double real(Data data);
  int64_t integer(DType dtype, Data data);

  OpGraph out_;
  std::mt19937 random_;
  Builder b_;
};

}  // namespace ge::test
