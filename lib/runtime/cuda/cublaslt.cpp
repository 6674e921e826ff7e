#include "runtime/cuda/cublaslt.h"

#include <algorithm>
#include <bit>
#include <mutex>

#include "contract/bytecode.h"
#include "runtime/cuda/cublaslt_api.h"
#include "runtime/cuda/matmul_shape.h"
#include "runtime/cuda/stream.h"

namespace ge::cuda {
namespace {

constexpr int kHeuristicResults = 8;
constexpr uint32_t kMaxAlignment = 256;

Result<LtDataType> data_type(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return kLtFloat32;
    case DType::float16:
      return kLtFloat16;
    case DType::bfloat16:
      return kLtBfloat16;
    default:
      return fail(Code::launch_refused).because("cuBLASLt row for " + std::string(name_of(dtype)));
  }
}

Result<uint32_t> epilogue(int64_t activation, bool row_bias) {
  const uint32_t with_bias = row_bias ? static_cast<uint32_t>(kLtEpilogueBias) : 0;
  if (activation == 0) return with_bias ? with_bias : static_cast<uint32_t>(kLtEpilogueDefault);
  if (activation == static_cast<int64_t>(ScalarOp::relu)) return kLtEpilogueRelu | with_bias;
  if (activation == static_cast<int64_t>(ScalarOp::gelu_tanh)) return kLtEpilogueGelu | with_bias;
  return fail(Code::launch_refused).because("cuBLASLt has no activation " + std::to_string(activation));
}

// The descriptors of one matmul. Made at bind, freed with the step.
class Descriptors {
 public:
  explicit Descriptors(const CublasLt& api) : api_(api) {}
  ~Descriptors() {
    if (desc) api_.cublasLtMatmulDescDestroy(desc);
    for (LtLayout layout : {a, b, c, d}) {
      if (layout) api_.cublasLtMatrixLayoutDestroy(layout);
    }
  }
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;

  Status make(const MatmulShape& shape, LtDataType type, uint32_t epilogue_value, const void* row_bias) {
    GE_LT(api_, cublasLtMatmulDescCreate, &desc, kLtCompute32F, kLtFloat32);
    const int32_t trans_a = shape.rhs.transposed, trans_b = shape.lhs.transposed;
    GE_TRY(set(kLtTransA, trans_a));
    GE_TRY(set(kLtTransB, trans_b));
    GE_TRY(set(kLtEpilogue, epilogue_value));
    if (row_bias != nullptr) GE_TRY(set(kLtBiasPointer, row_bias));
    GE_TRY(layout(a, type, shape.n, shape.k, shape.rhs, shape));
    GE_TRY(layout(b, type, shape.k, shape.m, shape.lhs, shape));
    GE_TRY(layout(d, type, shape.n, shape.m, shape.out, shape));
    return layout(c, type, shape.n, shape.m, shape.bias_kind == BiasKind::kMatrix ? shape.bias : shape.out,
                  shape);
  }
  template <class T>
  Status set(LtDescAttribute attribute, const T& value) {
    GE_LT(api_, cublasLtMatmulDescSetAttribute, desc, attribute, &value, sizeof value);
    return {};
  }

  LtMatmulDesc desc = nullptr;
  LtLayout a = nullptr, b = nullptr, c = nullptr, d = nullptr;

 private:
  // rows x columns after the transpose that `part` names.
  Status layout(LtLayout& into, LtDataType type, int64_t rows, int64_t columns, const MatrixPart& part,
                const MatmulShape& shape) {
    if (part.transposed) std::swap(rows, columns);
    GE_LT(api_, cublasLtMatrixLayoutCreate, &into, type, static_cast<uint64_t>(rows),
          static_cast<uint64_t>(columns), part.leading);
    if (shape.batch == 1) return {};
    const auto count = static_cast<int32_t>(shape.batch);
    GE_LT(api_, cublasLtMatrixLayoutSetAttribute, into, kLtBatchCount, &count, sizeof count);
    GE_LT(api_, cublasLtMatrixLayoutSetAttribute, into, kLtBatchStride, &part.batch_stride,
          sizeof part.batch_stride);
    return {};
  }
  const CublasLt& api_;
};

struct Pointers {
  const std::byte* lhs;
  const std::byte* rhs;
  const std::byte* added;  // through C; null: nothing
  std::byte* out;
};

class MatmulStep : public DeviceStep {
 public:
  MatmulStep(const CublasLt& api, LtHandle handle) : api_(api), handle_(handle), descriptors_(api) {}
  Status prepare(const LaunchSite& site, LtDataType type, CudaStream& stream);
  Status enqueue(Stream& stream) override;

 private:
  Status choose_algo(const std::vector<int64_t>& wanted, LtDataType type);
  bool rebuild_algo(const std::vector<int64_t>& wanted, LtDataType type);
  Status heuristic_algo();
  Pointers at(const MatmulOffsets& offsets) const {
    return {base_.lhs + offsets.lhs * width_, base_.rhs + offsets.rhs * width_,
            base_.added ? base_.added + offsets.bias * width_ : nullptr, base_.out + offsets.out * width_};
  }
  const CublasLt& api_;
  LtHandle handle_;
  Descriptors descriptors_;
  MatmulShape shape_;
  Pointers base_{};
  int64_t width_ = 0;  // bytes per element
  float alpha_ = 1, beta_ = 0;
  LtAlgo algo_{};
  void* workspace_ = nullptr;
  size_t workspace_bytes_ = 0;
};

Status MatmulStep::prepare(const LaunchSite& site, LtDataType type, CudaStream& stream) {
  const TensorView &lhs = site.operands[0], &rhs = site.operands[1], &bias = site.operands[2],
                   &out = site.operands[3], &residual = site.operands[4];
  GE_ASSIGN(shape_, matmul_shape(lhs, rhs, bias, out, &residual));
  width_ = bits_of(out.dtype) / 8;
  const bool through_c = shape_.bias_kind == BiasKind::kMatrix, has_residual = residual.rank >= 0;
  const TensorView& added = has_residual ? residual : bias;
  const void* row_bias = bias.rank >= 0 && (has_residual || !through_c) ? bias.data : nullptr;
  base_ = {static_cast<const std::byte*>(lhs.data), static_cast<const std::byte*>(rhs.data),
           through_c ? static_cast<const std::byte*>(added.data) : nullptr,
           static_cast<std::byte*>(out.data)};
  beta_ = through_c ? 1.0f : 0.0f;
  GE_ASSIGN(const uint32_t epilogue_value,
            epilogue(attr_int(site.choice->attrs, "activation", 0), row_bias != nullptr));
  GE_TRY(descriptors_.make(shape_, type, epilogue_value, row_bias));
  GE_TRY(choose_algo(site.choice->algo, type));
  if (workspace_bytes_ > 0) {
    GE_ASSIGN(workspace_, stream.workspace());
  }
  return {};
}

Status MatmulStep::choose_algo(const std::vector<int64_t>& wanted, LtDataType type) {
  if (!wanted.empty() && rebuild_algo(wanted, type)) return {};
  return heuristic_algo();
}

// False: this version of the library does not take the algorithm that the plan was tuned with.
bool MatmulStep::rebuild_algo(const std::vector<int64_t>& wanted, LtDataType type) {
  if (wanted.size() < 8) return false;
  if (api_.cublasLtMatmulAlgoInit(handle_, kLtCompute32F, kLtFloat32, type, type, type, type,
                                  static_cast<int>(wanted[0]), &algo_) != 0)
    return false;
  const auto set = [&](LtAlgoConfig which, auto value) {
    return api_.cublasLtMatmulAlgoConfigSetAttribute(&algo_, which, &value, sizeof value) == 0;
  };
  const bool configured =
      set(kLtTile, static_cast<uint32_t>(wanted[1])) && set(kLtStages, static_cast<uint32_t>(wanted[2])) &&
      set(kLtSplitK, static_cast<int32_t>(wanted[3])) &&
      set(kLtReduction, static_cast<uint32_t>(wanted[4])) &&
      set(kLtSwizzle, static_cast<uint32_t>(wanted[5])) && set(kLtCustom, static_cast<uint32_t>(wanted[6])) &&
      set(kLtCluster, static_cast<uint16_t>(wanted[7])) &&
      (wanted.size() < 9 || set(kLtInnerShape, static_cast<uint16_t>(wanted[8])));
  LtHeuristicResult result{};
  const Descriptors& d = descriptors_;
  if (!configured ||
      api_.cublasLtMatmulAlgoCheck(handle_, d.desc, d.a, d.b, d.c, d.d, &algo_, &result) != 0 ||
      result.state != 0)
    return false;
  workspace_bytes_ = result.workspace_bytes;
  return workspace_bytes_ <= static_cast<size_t>(CudaStream::kWorkspaceBytes);
}

// Largest power of two that all addresses an operand is read at are multiples of.
uint32_t alignment_of(const std::byte* base, int64_t width, int64_t leading, int64_t batch_stride,
                      std::span<const MatmulOffsets> products, int64_t MatmulOffsets::*offset) {
  uint64_t bits = reinterpret_cast<uint64_t>(base) | static_cast<uint64_t>(leading * width) |
                  static_cast<uint64_t>(batch_stride * width) | kMaxAlignment;
  for (const MatmulOffsets& product : products) bits |= static_cast<uint64_t>(product.*offset * width);
  return 1u << std::countr_zero(bits);
}

Status MatmulStep::heuristic_algo() {
  struct Preference {
    const CublasLt& api;
    LtPreference value = nullptr;
    ~Preference() {
      if (value) api.cublasLtMatmulPreferenceDestroy(value);
    }
  } preference{api_};
  GE_LT(api_, cublasLtMatmulPreferenceCreate, &preference.value);
  const auto set = [&](LtPreferenceAttribute which, auto value) {
    return check(api_,
                 api_.cublasLtMatmulPreferenceSetAttribute(preference.value, which, &value, sizeof value),
                 "cublasLtMatmulPreferenceSetAttribute");
  };
  const auto aligned = [&](const std::byte* base, const MatrixPart& part, int64_t MatmulOffsets::*offset) {
    return alignment_of(base, width_, part.leading, part.batch_stride, shape_.products, offset);
  };
  const uint32_t out_alignment = aligned(base_.out, shape_.out, &MatmulOffsets::out);
  GE_TRY(set(kLtMaxWorkspace, static_cast<uint64_t>(CudaStream::kWorkspaceBytes)));
  GE_TRY(set(kLtAlignA, aligned(base_.rhs, shape_.rhs, &MatmulOffsets::rhs)));
  GE_TRY(set(kLtAlignB, aligned(base_.lhs, shape_.lhs, &MatmulOffsets::lhs)));
  GE_TRY(set(kLtAlignC, shape_.bias_kind == BiasKind::kMatrix
                            ? aligned(base_.added, shape_.bias, &MatmulOffsets::bias)
                            : out_alignment));
  GE_TRY(set(kLtAlignD, out_alignment));
  LtHeuristicResult results[kHeuristicResults] = {};
  int found = 0;
  const Descriptors& d = descriptors_;
  GE_LT(api_, cublasLtMatmulAlgoGetHeuristic, handle_, d.desc, d.a, d.b, d.c, d.d, preference.value,
        kHeuristicResults, results, &found);
  for (int i = 0; i < found; ++i) {
    if (results[i].state != 0) continue;
    algo_ = results[i].algo;
    workspace_bytes_ = results[i].workspace_bytes;
    return {};
  }
  return fail(Code::launch_refused).because("cuBLASLt knows no algorithm for this product");
}

// cuBLASLt loads a product's kernel when it is first launched. While one thread does so, another's launch can
// be told "the function failed to launch on the GPU" (13.0), also of a kernel that ran before and is now
// recorded: launches take turns. A recorded graph makes none.
std::mutex& library_launches() {
  static std::mutex mutex;
  return mutex;
}

Status MatmulStep::enqueue(Stream& stream) {
  const std::lock_guard lock(library_launches());
  void* target = static_cast<CudaStream&>(stream).target();
  const Descriptors& d = descriptors_;
  for (size_t i = 0; i < shape_.products.size(); ++i) {
    const Pointers p = at(shape_.products[i]);
    // Where C plays no part (beta 0) it still must be a valid address: D's.
    const void* c = shape_.bias_kind == BiasKind::kMatrix ? static_cast<const void*>(p.added) : p.out;
    GE_LT(api_, cublasLtMatmul, handle_, d.desc, &alpha_, p.rhs, d.a, p.lhs, d.b, &beta_, c, d.c, p.out, d.d,
          &algo_, workspace_, workspace_bytes_, target);
  }
  return {};
}

class CublasLtKernel : public Kernel {
 public:
  CublasLtKernel(const CublasLt& api, LtHandle handle) : api_(api), handle_(handle) {}
  ~CublasLtKernel() override { api_.cublasLtDestroy(handle_); }
  Result<std::unique_ptr<DeviceStep>> bind(const LaunchSite& site, Stream& stream) override {
    GE_ASSIGN(const LtDataType type, data_type(site.operands[3].dtype));
    auto step = std::make_unique<MatmulStep>(api_, handle_);
    GE_TRY(step->prepare(site, type, static_cast<CudaStream&>(stream)));
    return std::unique_ptr<DeviceStep>(std::move(step));
  }

 private:
  const CublasLt& api_;
  LtHandle handle_;
};

}  // namespace

Result<std::unique_ptr<Kernel>> resolve_cublaslt(const Gpu&, const KernelDesc& desc) {
  if (desc.name != "dot_cublaslt")
    return fail(Code::unknown_kernel).because("no library stands behind " + desc.name);
  GE_ASSIGN(const CublasLt* api, cublaslt());
  LtHandle handle = nullptr;
  const std::lock_guard lock(library_launches());
  GE_LT(*api, cublasLtCreate, &handle);
  return std::unique_ptr<Kernel>(std::make_unique<CublasLtKernel>(*api, handle));
}

}  // namespace ge::cuda
