// libcuda's functions, opened at run time. Entry: driver(). Invariant: nothing of CUDA is linked; only types
// come from cuda.h. A process without a GPU never loads the library unless it asks for one.
#pragma once
#include <cuda.h>

#include <string>

#include "base/status.h"

namespace ge::cuda {

// GE_DRIVER_FUNCTIONS(X): every driver function the runtime calls.
// clang-format off
#define GE_DRIVER_FUNCTIONS(X)                                                                              \
  X(cuInit) X(cuDriverGetVersion) X(cuGetErrorName) X(cuGetErrorString)                                     \
  X(cuDeviceGetCount) X(cuDeviceGet) X(cuDeviceGetName) X(cuDeviceGetAttribute)                             \
  X(cuDevicePrimaryCtxRetain) X(cuDevicePrimaryCtxRelease) X(cuCtxSetCurrent) X(cuCtxGetCurrent)            \
  X(cuMemGetInfo) X(cuMemAlloc) X(cuMemFree) X(cuMemHostAlloc) X(cuMemFreeHost)                             \
  X(cuMemAddressReserve) X(cuMemAddressFree) X(cuMemCreate) X(cuMemRelease) X(cuMemMap) X(cuMemUnmap)       \
  X(cuMemSetAccess) X(cuMemGetAllocationGranularity)                                                        \
  X(cuMemcpyHtoD) X(cuMemcpyDtoH) X(cuMemcpyHtoDAsync) X(cuMemcpyDtoHAsync) X(cuMemcpyDtoDAsync)            \
  X(cuMemsetD8) X(cuMemsetD8Async) X(cuMemsetD16Async) X(cuMemsetD32Async) X(cuMemsetD2D32Async)            \
  X(cuStreamCreate) X(cuStreamDestroy) X(cuStreamSynchronize) X(cuStreamBeginCapture) X(cuStreamEndCapture) \
  X(cuGraphInstantiateWithFlags) X(cuGraphUpload) X(cuGraphLaunch) X(cuGraphExecDestroy) X(cuGraphDestroy)  \
  X(cuEventCreate) X(cuEventDestroy) X(cuEventRecord) X(cuEventRecordWithFlags) X(cuEventSynchronize)       \
  X(cuEventElapsedTime)                                                                                     \
  X(cuLibraryLoadData) X(cuLibraryUnload) X(cuLibraryGetKernel) X(cuKernelGetFunction)                      \
  X(cuKernelSetAttribute) X(cuFuncSetAttribute) X(cuLaunchKernelEx) X(cuTensorMapEncodeTiled)
// clang-format on

struct Driver {
#define GE_X(name) decltype(&::name) name = nullptr;
  GE_DRIVER_FUNCTIONS(GE_X)
#undef GE_X
  int version = 0;   // of the driver: 13000
  std::string file;  // where libcuda was found
};

// Opens libcuda and initialises it, once per process. no_gpu: no driver, no device, or a driver that is too
// old; says which.
Result<const Driver*> driver();

// ok for CUDA_SUCCESS; otherwise driver_error, device_memory or device_lost, naming the call.
Status check(const Driver& api, CUresult result, const char* call);
// After these the context is unusable: every later call fails too.
bool is_sticky(CUresult result);

#define GE_CU(api, function, ...) GE_TRY(::ge::cuda::check((api), (api).function(__VA_ARGS__), #function))

}  // namespace ge::cuda
