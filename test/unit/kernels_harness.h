// Runs one built-in CPU row as the runtime does, over tensors laid out in every way a view allows.
// Entry: TestTensor, run_kernel, near. Every tensor stands between guard bytes; check_guards says whether
// they still stand.
#pragma once
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "catch.h"
#include "contract/args_pack.h"
#include "kernels/launch_context.h"
#include "kernels/registry.h"
#include "numeric/convert.h"

namespace ge::test {

enum class Layout { kDense, kTransposed, kReversed, kGapped, kBroadcast };
inline constexpr Layout kLayouts[] = {Layout::kDense, Layout::kTransposed, Layout::kReversed, Layout::kGapped,
                                      Layout::kBroadcast};
inline constexpr Layout kOutLayouts[] = {Layout::kDense, Layout::kTransposed, Layout::kReversed,
                                         Layout::kGapped};

class TestTensor {
 public:
  // kBroadcast: axes in `broadcast_axes` (bit mask) have stride 0.
  TestTensor(DType dtype, std::vector<int64_t> dims, Layout layout = Layout::kDense, int broadcast_axes = ~0);
  // Small values that every dtype holds: integers in [-range, range] over 4 for real types, [0, range] for
  // unsigned ones.
  TestTensor& random(std::mt19937& rng, int range = 8);
  TestTensor& fill(double value);

  const TensorView& view() const { return view_; }
  TensorView& view() { return view_; }
  int64_t count() const { return element_count(view_); }
  int64_t offset(int64_t linear) const;  // element offset of a row-major position
  double at(int64_t linear) const { return load_as_double(view_.dtype, view_.data, offset(linear)); }
  int64_t int_at(int64_t linear) const { return load_as_int64(view_.dtype, view_.data, offset(linear)); }
  void set(int64_t linear, double value) {
    store_from_double(view_.dtype, view_.data, offset(linear), value);
  }
  void set_int(int64_t linear, int64_t value) {
    store_from_int64(view_.dtype, view_.data, offset(linear), value);
  }
  std::vector<unsigned char>& bytes() { return bytes_; }  // guards and elements
  bool guards_stand() const;

 private:
  std::vector<unsigned char> bytes_;
  size_t begin_ = 0, size_ = 0;
  TensorView view_;
};

TensorView absent();
struct RunOptions {
  int threads = 1;
  FaultRecord* fault = nullptr;
  // What is called instead of the row's own function.
  std::function<void(const void* args, const LaunchContext& context)> instead = nullptr;
};
// Every check the runtime makes at load and bind, then the kernel. grid and block are of no use to CPU rows.
Status run_kernel(std::string_view name, std::vector<TensorView> operands, Attrs attrs,
                  RunOptions options = {});
// What `value` becomes when stored as dtype.
double rounded(DType dtype, double value);
// Equal, both NaN, or within `ulps` of dtype's precision relative to max(|b|, floor).
bool near(DType dtype, double a, double b, double ulps = 1, double floor = 0);
std::vector<int64_t> index_of(const TensorView& view, int64_t linear);
int64_t linear_of(const TensorView& view, const std::vector<int64_t>& index);
std::string layout_name(Layout layout);

}  // namespace ge::test
