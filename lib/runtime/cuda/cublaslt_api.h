// The part of cuBLASLt's stable binary interface that the runtime uses, so that neither its header nor its
// library is needed to build. Entry: cublaslt(). The library is opened when a plan first asks for it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/status.h"

namespace ge::cuda {

using LtHandle = void*;
using LtMatmulDesc = void*;
using LtLayout = void*;
using LtPreference = void*;
using LtStatus = int;  // 0: success
struct LtAlgo {
  uint64_t data[8];
};
struct LtHeuristicResult {
  LtAlgo algo;
  size_t workspace_bytes;
  LtStatus state;
  float waves;
  int reserved[4];
};
static_assert(sizeof(LtHeuristicResult) == 96);

// Values as in cublasLt.h, library_types.h and cublas_api.h.
enum LtDataType : int { kLtFloat32 = 0, kLtFloat64 = 1, kLtFloat16 = 2, kLtBfloat16 = 14 };
enum LtComputeType : int { kLtCompute32F = 68 };
enum LtDescAttribute : int { kLtTransA = 3, kLtTransB = 4, kLtEpilogue = 7, kLtBiasPointer = 8 };
enum LtLayoutAttribute : int { kLtBatchCount = 5, kLtBatchStride = 6 };
enum LtPreferenceAttribute : int {
  kLtMaxWorkspace = 1,
  kLtAlignA = 5,
  kLtAlignB = 6,
  kLtAlignC = 7,
  kLtAlignD = 8
};
enum LtEpilogueFlag : uint32_t {
  kLtEpilogueDefault = 1,
  kLtEpilogueRelu = 2,
  kLtEpilogueBias = 4,
  kLtEpilogueGelu = 32
};
enum LtAlgoConfig : int {
  kLtTile = 1,
  kLtSplitK = 2,
  kLtReduction = 3,
  kLtSwizzle = 4,
  kLtCustom = 5,
  kLtStages = 6,
  kLtInnerShape = 7,
  kLtCluster = 8
};

struct CublasLt {
  LtStatus (*cublasLtCreate)(LtHandle*) = nullptr;
  LtStatus (*cublasLtDestroy)(LtHandle) = nullptr;
  size_t (*cublasLtGetVersion)() = nullptr;
  const char* (*cublasLtGetStatusString)(LtStatus) = nullptr;
  LtStatus (*cublasLtMatmul)(LtHandle, LtMatmulDesc, const void* alpha, const void* a, LtLayout,
                             const void* b, LtLayout, const void* beta, const void* c, LtLayout, void* d,
                             LtLayout, const LtAlgo*, void* workspace, size_t workspace_bytes,
                             void* stream) = nullptr;
  LtStatus (*cublasLtMatmulDescCreate)(LtMatmulDesc*, int compute_type, int scale_type) = nullptr;
  LtStatus (*cublasLtMatmulDescDestroy)(LtMatmulDesc) = nullptr;
  LtStatus (*cublasLtMatmulDescSetAttribute)(LtMatmulDesc, int attribute, const void*, size_t) = nullptr;
  LtStatus (*cublasLtMatrixLayoutCreate)(LtLayout*, int type, uint64_t rows, uint64_t columns,
                                         int64_t leading) = nullptr;
  LtStatus (*cublasLtMatrixLayoutDestroy)(LtLayout) = nullptr;
  LtStatus (*cublasLtMatrixLayoutSetAttribute)(LtLayout, int attribute, const void*, size_t) = nullptr;
  LtStatus (*cublasLtMatmulPreferenceCreate)(LtPreference*) = nullptr;
  LtStatus (*cublasLtMatmulPreferenceDestroy)(LtPreference) = nullptr;
  LtStatus (*cublasLtMatmulPreferenceSetAttribute)(LtPreference, int attribute, const void*,
                                                   size_t) = nullptr;
  LtStatus (*cublasLtMatmulAlgoGetHeuristic)(LtHandle, LtMatmulDesc, LtLayout, LtLayout, LtLayout, LtLayout,
                                             LtPreference, int wanted, LtHeuristicResult*,
                                             int* found) = nullptr;
  LtStatus (*cublasLtMatmulAlgoInit)(LtHandle, int compute_type, int scale_type, int a, int b, int c, int d,
                                     int id, LtAlgo*) = nullptr;
  LtStatus (*cublasLtMatmulAlgoCheck)(LtHandle, LtMatmulDesc, LtLayout, LtLayout, LtLayout, LtLayout,
                                      const LtAlgo*, LtHeuristicResult*) = nullptr;
  LtStatus (*cublasLtMatmulAlgoConfigSetAttribute)(LtAlgo*, int attribute, const void*, size_t) = nullptr;
  std::string file;
};

// Opens the library, once per process: GE_CUBLASLT where it is set, else libcublasLt.so.13 or .12 as the
// loader finds it, else the CUDA toolkit's folder. library_missing says what was tried.
Result<const CublasLt*> cublaslt();
// ok for 0; otherwise driver_error naming the call.
Status check(const CublasLt& api, LtStatus status, const char* call);

#define GE_LT(api, function, ...) GE_TRY(::ge::cuda::check((api), (api).function(__VA_ARGS__), #function))

}  // namespace ge::cuda
