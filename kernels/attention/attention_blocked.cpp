// attention_blocked_f32 and attention_blocked_f16: blocks of queries against blocks of keys on the register
// tile of the blocked products, float sums, a softmax that advances with the keys: no more of the scores than
// one block of them ever stands in memory. Entry: the two functions.
#include <algorithm>
#include <limits>

#include "kernels/attention/attention_row.h"
#include "kernels/attention/softmax_rows.h"
#include "kernels/dot/float_access.h"
#include "kernels/dot/micro_kernel.h"
#include "kernels/launch_context.h"

namespace ge::kernels {

const SoftmaxRows& best_softmax_rows() {
#if defined(__x86_64__)
  static const SoftmaxRows& best = [&]() -> const SoftmaxRows& {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
      return kSoftmaxRowsV4;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return kSoftmaxRowsV3;
    return kSoftmaxRowsV2;
  }();
  return best;
#else
  return kSoftmaxRowsV2;
#endif
}

namespace {

constexpr int64_t kKeys =
    kDepthBlock;  // of a block: a row of its exponentials is one packed row of the product
constexpr int64_t kKeptKeys = 4 * kKeys;  // packed keys and values up to this length are kept for all queries
constexpr int64_t kRowsPerBlock = 56;     // about; whole register tiles

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

int64_t offset(const TensorView& view, int64_t a, int64_t b, int64_t c) {
  return a * view.strides[0] + b * view.strides[1] + c * view.strides[2];
}

class Attention {
 public:
  Attention(const AttentionArgs& args, int threads)
      : args_(args),
        micro_(best_micro_kernel()),
        softmax_(best_softmax_rows()),
        queries_(args.q.dims[2]),
        keys_(args.k.dims[2]),
        size_(args.q.dims[3]),
        width_(args.v.dims[3]),
        block_rows_(std::max<int64_t>(kRowsPerBlock / micro_.rows, 1) * micro_.rows),
        ld_(ceil_div(width_, micro_.columns) * micro_.columns) {
    const int64_t heads = args.q.dims[0] * args.q.dims[1], blocks = ceil_div(queries_, block_rows_);
    // A head's queries stay together, so that its keys are packed once, until the threads lack work.
    int64_t parts = 1;
    while (threads > 1 && heads * parts < 3 * threads && parts < blocks) ++parts;
    blocks_per_item_ = ceil_div(blocks, parts);
    items_per_head_ = ceil_div(blocks, blocks_per_item_);
    keeps_ = blocks_per_item_ > 1 && keys_ <= kKeptKeys;
    lay_out();
  }

  void run(const LaunchContext& context) const {
    context.parallel_for(
        args_.q.dims[0] * args_.q.dims[1] * items_per_head_, 1, [&](int64_t begin, int64_t end) {
          auto* memory = reinterpret_cast<float*>(
              context.scratch(context.pool, static_cast<size_t>(starts_[8]) * sizeof(float)));
          for (int64_t item = begin; item < end; ++item) run_item(item, scratch_in(memory));
        });
  }

 private:
  // What one thread works in. Rows of queries and of exponentials lie kRowStride apart, one set of queries
  // for each kDepthBlock of the head size; keys and values as panels of micro_.columns columns.
  struct Scratch {
    float *queries, *scores, *out, *top, *sum, *correction, *keys, *values;
  };
  void lay_out() {
    const int64_t kept = keeps_ ? ceil_div(keys_, kKeys) : 1;
    const int64_t floats[] = {std::max<int64_t>(ceil_div(size_, kDepthBlock), 1) * block_rows_ * kRowStride,
                              block_rows_ * kRowStride,
                              block_rows_ * ld_,
                              block_rows_,
                              block_rows_,
                              block_rows_,
                              kept * kKeys * size_,
                              kept * kKeys * ld_};
    for (size_t i = 0; i < std::size(floats); ++i) starts_[i + 1] = starts_[i] + ceil_div(floats[i], 16) * 16;
  }
  Scratch scratch_in(float* memory) const {
    const auto at = [&](size_t i) { return memory + starts_[i]; };
    return {at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7)};
  }

  // Some blocks of queries of one head.
  struct Head {
    int64_t q, k, v, mask, out;  // offsets of its first elements
  };

  void run_item(int64_t item, const Scratch& s) const {
    const int64_t heads = args_.q.dims[1], head = item / items_per_head_ % heads,
                  batch = item / items_per_head_ / heads, shared = head / (heads / args_.k.dims[1]);
    const Head at{offset(args_.q, batch, head, 0), offset(args_.k, batch, shared, 0),
                  offset(args_.v, batch, shared, 0),
                  args_.mask.data != nullptr ? offset(args_.mask, batch, head, 0) : 0,
                  offset(args_.out, batch, 0, head)};
    const int64_t first = item % items_per_head_ * blocks_per_item_ * block_rows_;
    const int64_t last = std::min(first + blocks_per_item_ * block_rows_, queries_);
    int64_t packed = 0;  // keys that stand in s already
    for (int64_t row = first; row < last; row += block_rows_)
      run_rows(at, row, std::min(block_rows_, last - row), packed, s);
  }

  void run_rows(const Head& at, int64_t row, int64_t rows, int64_t& packed, const Scratch& s) const {
    fetch_queries(at, row, rows, s);
    std::fill(s.top, s.top + rows, -std::numeric_limits<float>::infinity());
    std::fill(s.sum, s.sum + rows, 0.0f);
    const int64_t seen = keys_of_row(args_, row + rows - 1);
    if (seen == 0) std::fill(s.out, s.out + rows * ld_, 0.0f);
    for (int64_t key = 0; key < seen; key += kKeys) {
      const int64_t whole = std::min(kKeys, keys_ - key), count = std::min(whole, seen - key);
      const int64_t place = keeps_ ? key : 0;
      if (!keeps_ || key >= packed) {
        fetch_keys(at, key, whole, s.keys + place * size_);
        if (packs_values()) fetch_values(at, key, whole, s.values + place * ld_);
        packed = std::max(packed, key + whole);
      }
      score(rows, count, s.keys + place * size_, s);
      mask_scores(at, row, rows, key, count, s.scores);
      softmax_.advance(s.scores, rows, kRowStride, count, s.top, s.sum, s.correction);
      mix(at, rows, key, count, s.values + place * ld_, s);
    }
    write(at, row, rows, s);
  }

  void fetch_queries(const Head& at, int64_t row, int64_t rows, const Scratch& s) const {
    const auto scale = static_cast<float>(args_.scale);
    for (int64_t d = 0; d < size_; d += kDepthBlock) {
      const int64_t depth = std::min<int64_t>(kDepthBlock, size_ - d);
      float* out = s.queries + d / kDepthBlock * block_rows_ * kRowStride;
      for (int64_t i = 0; i < rows; ++i, out += kRowStride) {
        read_floats(args_.q, at.q + (row + i) * args_.q.strides[2] + d * args_.q.strides[3],
                    args_.q.strides[3], depth, out);
        softmax_.scale(out, depth, scale);
      }
    }
  }

  // Transposed: panels of depth rows, one after the other for each kDepthBlock of the head size.
  void fetch_keys(const Head& at, int64_t key, int64_t count, float* out) const {
    for (int64_t d = 0; d < size_; d += kDepthBlock) {
      const int64_t depth = std::min<int64_t>(kDepthBlock, size_ - d);
      for (int64_t j = 0; j < count; j += micro_.columns) {
        const int64_t columns = std::min<int64_t>(micro_.columns, count - j);
        float* panel = out + d * kKeys + j * depth;
        fetch_key_panel(at.k + (key + j) * args_.k.strides[2] + d * args_.k.strides[3], columns, depth,
                        panel);
        for (int64_t i = 0; columns < micro_.columns && i < depth; ++i)
          std::fill(panel + i * micro_.columns + columns, panel + (i + 1) * micro_.columns, 0.0f);
      }
    }
  }
  void fetch_key_panel(int64_t from, int64_t columns, int64_t depth, float* panel) const {
    const TensorView& k = args_.k;
    const int64_t step = k.strides[2], along = k.strides[3];
    if (along == 1 && k.dtype == DType::float32) {
      micro_.transpose(static_cast<const float*>(k.data) + from, step, columns, depth, panel, micro_.columns);
      return;
    }
    if (along != 1) {
      for (int64_t i = 0; i < depth; ++i)
        read_floats(k, from + i * along, step, columns, panel + i * micro_.columns);
      return;
    }
    float runs[4 * kDepthBlock];
    for (int64_t j = 0; j < columns; j += 4) {
      const int64_t some = std::min<int64_t>(4, columns - j);
      for (int64_t r = 0; r < some; ++r)
        read_floats(k, from + (j + r) * step, 1, depth, runs + r * kDepthBlock);
      micro_.transpose(runs, kDepthBlock, some, depth, panel + j, micro_.columns);
    }
  }

  // Rows of values can be used where they stand, if only few queries want them.
  bool packs_values() const {
    return args_.v.dtype != DType::float32 || args_.v.strides[3] != 1 || ld_ != width_ ||
           blocks_per_item_ > 1;
  }
  void fetch_values(const Head& at, int64_t key, int64_t count, float* out) const {
    const TensorView& v = args_.v;
    for (int64_t j = 0; j < width_; j += micro_.columns) {
      const int64_t columns = std::min<int64_t>(micro_.columns, width_ - j);
      float* row = out + j * kKeys;
      for (int64_t i = 0; i < count; ++i, row += micro_.columns) {
        read_floats(v, at.v + (key + i) * v.strides[2] + j * v.strides[3], v.strides[3], columns, row);
        std::fill(row + columns, row + micro_.columns, 0.0f);
      }
    }
  }

  void multiply(int64_t rows, int64_t depth, const float* a, const float* b, int64_t ldb, float* c,
                int64_t ldc, bool accumulate) const {
    for (int64_t i = 0; i < rows; i += micro_.rows) {
      const int64_t some = std::min<int64_t>(micro_.rows, rows - i);
      micro_.run[some](depth, a + i * kRowStride, b, ldb, c + i * ldc, ldc, accumulate);
    }
  }

  void score(int64_t rows, int64_t count, const float* panels, const Scratch& s) const {
    for (int64_t j = 0; j < count; j += micro_.columns) {
      if (size_ == 0) multiply(rows, 0, s.queries, panels, micro_.columns, s.scores + j, kRowStride, false);
      for (int64_t d = 0; d < size_; d += kDepthBlock) {
        const int64_t depth = std::min<int64_t>(kDepthBlock, size_ - d);
        multiply(rows, depth, s.queries + d / kDepthBlock * block_rows_ * kRowStride,
                 panels + d * kKeys + j * depth, micro_.columns, s.scores + j, kRowStride, d > 0);
      }
    }
  }

  void mask_scores(const Head& at, int64_t row, int64_t rows, int64_t key, int64_t count,
                   float* scores) const {
    const TensorView& mask = args_.mask;
    for (int64_t i = 0; i < rows; ++i, scores += kRowStride) {
      if (mask.data != nullptr) {
        const int64_t from = at.mask + (row + i) * mask.strides[2] + key * mask.strides[3];
        if (mask.dtype == DType::boolean)
          fill_masked(from, count, scores);
        else
          add_floats(mask, from, mask.strides[3], count, scores);
      }
      const int64_t seen = std::clamp<int64_t>(keys_of_row(args_, row + i) - key, 0, count);
      std::fill(scores + seen, scores + count, -std::numeric_limits<float>::infinity());
    }
  }
  void fill_masked(int64_t from, int64_t count, float* scores) const {
    const auto* allowed = static_cast<const uint8_t*>(args_.mask.data) + from;
    const auto fill = static_cast<float>(args_.fill);
    for (int64_t j = 0; j < count; ++j)
      if (allowed[j * args_.mask.strides[3]] == 0) scores[j] = fill;
  }

  // out = out * correction + exponentials * values.
  void mix(const Head& at, int64_t rows, int64_t key, int64_t count, const float* panels,
           const Scratch& s) const {
    for (int64_t i = 0; key > 0 && i < rows; ++i)
      if (s.correction[i] != 1) softmax_.scale(s.out + i * ld_, ld_, s.correction[i]);
    const bool packed = packs_values();
    const int64_t step = args_.v.strides[2];
    for (int64_t j = 0; j < width_; j += micro_.columns) {
      const float* b =
          packed ? panels + j * kKeys : static_cast<const float*>(args_.v.data) + at.v + key * step + j;
      multiply(rows, count, s.scores, b, packed ? micro_.columns : step, s.out + j, ld_, key > 0);
    }
  }

  void write(const Head& at, int64_t row, int64_t rows, const Scratch& s) const {
    for (int64_t i = 0; i < rows; ++i) {
      float* values = s.out + i * ld_;
      const float sum = s.sum[i];
      if (sum == 0 && (keys_ == 0 || args_.zero_empty != 0))
        std::fill(values, values + width_, 0.0f);
      else
        for (int64_t j = 0; j < width_; ++j) values[j] /= sum;
      write_floats(values, width_, args_.out, at.out + (row + i) * args_.out.strides[1],
                   args_.out.strides[3]);
    }
  }

  const AttentionArgs& args_;
  const MicroKernel& micro_;
  const SoftmaxRows& softmax_;
  const int64_t queries_, keys_, size_, width_;
  const int64_t block_rows_, ld_;  // ld_: floats between rows of results
  int64_t blocks_per_item_ = 1, items_per_head_ = 1;
  bool keeps_ = false;
  int64_t starts_[9] = {};  // of each part of the scratch, floats; its size last
};

void attend(const void* raw, const LaunchContext& context) {
  const AttentionArgs& args = *static_cast<const AttentionArgs*>(raw);
  if (element_count(args.out) != 0) Attention(args, context.threads).run(context);
}

constexpr auto kFloatOperands = attention_operands({DType::float32});
constexpr auto kHalfOperands = attention_operands({DType::float16, DType::bfloat16});

}  // namespace

extern constinit const KernelRow attention_blocked_f32_row = {
    .name = "attention_blocked_f32",
    .operands = kFloatOperands,
    .attrs = kAttentionAttrs,
    .args_size = sizeof(AttentionArgs),
    .args = kAttentionArgs,
    .check = check_attention,
    .efficiency = {0.5, 0.9},
    .summary = "attention by blocks of queries and keys, SIMD, any strides",
};
extern constinit const KernelRow attention_blocked_f16_row = {
    .name = "attention_blocked_f16",
    .operands = kHalfOperands,
    .attrs = kAttentionAttrs,
    .args_size = sizeof(AttentionArgs),
    .args = kAttentionArgs,
    .check = check_attention,
    .efficiency = {0.5, 0.9},
    .summary = "the same for float16 and bfloat16, accumulated in float32",
};

void attention_blocked_f32(const void* raw, const LaunchContext& context) {
  attend(raw, context);
}
void attention_blocked_f16(const void* raw, const LaunchContext& context) {
  attend(raw, context);
}

}  // namespace ge::kernels
