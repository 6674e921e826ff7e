// attention_reference: row by row in double, all scores of a row at a time. Entry: attention_reference,
// check_attention.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/attention/attention_row.h"
#include "kernels/common/element.h"
#include "kernels/common/strided_walk.h"
#include "kernels/launch_context.h"

namespace ge::kernels {

Status check_attention(const LaunchShape& shape) {
  const TensorView &q = shape.operands[0], &k = shape.operands[1], &v = shape.operands[2],
                   &mask = shape.operands[3], &out = shape.operands[4];
  GE_TRY(check_same_dtype(k, "k", q, "q"));
  GE_TRY(check_same_dtype(v, "v", q, "q"));
  GE_TRY(check_same_dtype(out, "out", q, "q"));
  GE_TRY(check_dim(k.dims[0], q.dims[0], "k's batch"));
  GE_TRY(check_dim(v.dims[0], q.dims[0], "v's batch"));
  GE_TRY(check_dim(v.dims[1], k.dims[1], "v's head count"));
  GE_TRY(check_dim(v.dims[2], k.dims[2], "v's length"));
  GE_TRY(check_dim(k.dims[3], q.dims[3], "k's head size"));
  const int64_t heads = q.dims[1], shared = k.dims[1];
  if (heads != shared && (shared == 0 || heads % shared != 0))
    return refuse("q has " + std::to_string(heads) + " heads, k " + std::to_string(shared));
  const int64_t expected[] = {q.dims[0], q.dims[2], heads, v.dims[3]};
  for (int a = 0; a < 4; ++a) GE_TRY(check_dim(out.dims[a], expected[a], "out's axis " + std::to_string(a)));
  if (!is_absent(mask)) {
    if (mask.dtype != DType::boolean) GE_TRY(check_same_dtype(mask, "mask", q, "q"));
    const int64_t scores[] = {q.dims[0], heads, q.dims[2], k.dims[2]};
    for (int a = 0; a < 4; ++a)
      GE_TRY(check_dim(mask.dims[a], scores[a], "mask's axis " + std::to_string(a)));
  }
  return check_writable(out, "out");
}

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

int64_t offset(const TensorView& view, int64_t a, int64_t b, int64_t c) {
  return a * view.strides[0] + b * view.strides[1] + c * view.strides[2];
}

// One row of one head; `scores` holds T numbers.
void attend(const AttentionArgs& args, int64_t batch, int64_t head, int64_t row, double* scores) {
  const int64_t keys = args.k.dims[2], size = args.q.dims[3],
                shared = head / (args.q.dims[1] / args.k.dims[1]);
  const int64_t q = offset(args.q, batch, head, row), seen = keys_of_row(args, row);
  double top = -kInfinity;
  std::fill(scores + seen, scores + keys, -kInfinity);
  for (int64_t j = 0; j < seen; ++j) {
    const int64_t k = offset(args.k, batch, shared, j);
    double sum = 0;
    for (int64_t d = 0; d < size; ++d)
      sum +=
          load<double>(args.q, q + d * args.q.strides[3]) * load<double>(args.k, k + d * args.k.strides[3]);
    sum *= args.scale;
    if (args.mask.data != nullptr) {
      const int64_t at = offset(args.mask, batch, head, row) + j * args.mask.strides[3];
      if (args.mask.dtype != DType::boolean)
        sum += load<double>(args.mask, at);
      else if (load<int64_t>(args.mask, at) == 0)
        sum = args.fill;
    }
    scores[j] = sum;
    if (std::isnan(sum) || sum > top) top = sum;
    if (std::isnan(top)) break;
  }
  double total = 0;
  const bool empty = top == -kInfinity;
  const int64_t counted = empty || std::isnan(top) ? 0 : keys;
  for (int64_t j = 0; j < counted; ++j) {
    scores[j] = std::exp(scores[j] - top);
    total += scores[j];
  }
  const double nothing = keys == 0 || args.zero_empty != 0 ? 0 : std::numeric_limits<double>::quiet_NaN();
  for (int64_t e = 0; e < args.v.dims[3]; ++e) {
    double sum = 0;
    for (int64_t j = 0; j < counted; ++j)
      sum += scores[j] * load<double>(args.v, offset(args.v, batch, shared, j) + e * args.v.strides[3]);
    const double y = std::isnan(top) ? top : empty ? nothing : sum / total;
    store(args.out, offset(args.out, batch, row, head) + e * args.out.strides[3], y);
  }
}

constexpr auto kOperands =
    attention_operands({DType::float64, DType::float32, DType::float16, DType::bfloat16});

}  // namespace

extern constinit const KernelRow attention_reference_row = {
    .name = "attention_reference",
    .operands = kOperands,
    .attrs = kAttentionAttrs,
    .args_size = sizeof(AttentionArgs),
    .args = kAttentionArgs,
    .check = check_attention,
    .efficiency = kReferenceEfficiency,
    .summary = "attention row by row, in double",
};

void attention_reference(const void* raw, const LaunchContext& context) {
  const AttentionArgs& args = *static_cast<const AttentionArgs*>(raw);
  if (element_count(args.out) == 0) return;
  const int64_t heads = args.q.dims[1], rows = args.q.dims[2], keys = args.k.dims[2];
  const auto bytes = static_cast<size_t>(keys + 1) * sizeof(double);
  context.parallel_for(args.q.dims[0] * heads * rows,
                       grain_for(keys * (args.q.dims[3] + args.v.dims[3] + 16)),
                       [&](int64_t begin, int64_t end) {
                         auto* scores = reinterpret_cast<double*>(context.scratch(context.pool, bytes));
                         for (int64_t i = begin; i < end; ++i)
                           attend(args, i / rows / heads, i / rows % heads, i % rows, scores);
                       });
}

}  // namespace ge::kernels
