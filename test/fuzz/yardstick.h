// How far two right answers may lie apart: the graph of core ops in float64, node by node, with each rounded
// result (and each operand of a sum) moved by a few units of its own dtype's last place. Several such runs
// give for every element of an output the range of what correct rounding in any order can give; an
// unstable element (one where a comparison, a cast or an overflow flips) shows itself by a wide range.
// Entry: Yardstick.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "fuzz/plan_session.h"

namespace ge::test {

class Yardstick {
 public:
  // `lowered` holds core ops; `inputs` have its inputs' dtypes. Nothing runs yet.
  Yardstick(const Graph& lowered, const Symbols& symbols, const std::vector<HostTensor>& inputs,
            ge_device* cpu)
      : graph_(lowered), symbols_(symbols), inputs_(inputs), cpu_(cpu) {}
  // Sets of outputs, the first without any noise; "" or why there are none.
  std::string run(int samples);
  // Whether `got` at this element of an output may stand where the reference has `reference`.
  bool explains(size_t output, int64_t index, double got, double reference) const;
  std::string range(size_t output, int64_t index) const;  // what the first sets have there
  bool explains_integer(size_t output, int64_t index, int64_t got, int64_t reference) const;

 private:
  using Samples = std::vector<HostTensor>;
  HostTensor bits_as(const Node& node, const HostTensor& t) const;
  std::string run_node(const Node& node, int samples);
  std::string compute(const Node& node, const std::vector<Samples>& operands, int samples);
  void disturb(HostTensor& t, DType original, double units, uint64_t seed,
               const std::vector<double>& scales) const;
  void disturb_operand(const Node& node, size_t operand, int sample, HostTensor& t) const;
  void disturb_result(const Node& node, int sample);
  void disturb_mean(const Node& node, int sample);
  int64_t terms_of(const Node& node) const;
  bool nothing(const Node& node, int samples);
  void overflow_celu(const Node& node, int sample);
  void reorder_product(const Node& node, int sample);
  std::vector<std::vector<double>> terms_of_results(const Node& node, const HostTensor& x) const;
  void zero_overflowing_rows(const Node& node, int sample);
  void skip_padding(const Node& node, int sample);
  void settle_on_whole(const Node& node, int samples);
  void settle_on_equal(const Node& node, std::vector<HostTensor>& inputs) const;
  void vanish_weights(const Node& node, int sample);
  std::vector<double> weights_of_row(const Node& node, size_t sample,
                                     const std::array<int64_t, 3>& row) const;
  std::vector<double> scales_of(const Node& node, int sample) const;
  const Graph& graph_;
  const Symbols& symbols_;
  const std::vector<HostTensor>& inputs_;
  ge_device* cpu_;
  std::vector<Samples> values_;  // by ValueId
};

// One unit in the last place of a value of this dtype: the spacing of its numbers there.
double unit_of(DType dtype, double value);
// Stands for infinity where 0 times it must be 0: padding is a term of zero, or no term.
inline constexpr double kBeyond = 1e300;
inline constexpr double kHuge =
    1e17;  // products of two such numbers overflow float32 in some order of computing
// Numbers of float64 that are not below `from` in size become `by` with their sign; a NaN becomes `by` too,
// but stays where that is infinite.
void replace_huge(HostTensor& t, double from, double by);

}  // namespace ge::test
