#include "runtime/cuda/tensor_map.h"

#include <algorithm>
#include <cstring>

namespace ge::cuda {
namespace {

constexpr int kMaxMapRank = 5;

Result<CUtensorMapDataType> map_type(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    case DType::float64:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
    case DType::float16:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case DType::bfloat16:
      return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case DType::int32:
      return CU_TENSOR_MAP_DATA_TYPE_INT32;
    case DType::int64:
      return CU_TENSOR_MAP_DATA_TYPE_INT64;
    case DType::uint32:
      return CU_TENSOR_MAP_DATA_TYPE_UINT32;
    case DType::uint64:
      return CU_TENSOR_MAP_DATA_TYPE_UINT64;
    case DType::uint16:
      return CU_TENSOR_MAP_DATA_TYPE_UINT16;
    case DType::uint8:
    case DType::int8:
    case DType::float8e4m3fn:
    case DType::float8e5m2:
    case DType::boolean:
      return CU_TENSOR_MAP_DATA_TYPE_UINT8;
    default:
      return fail(Code::launch_refused).because("no tensor map of " + std::string(name_of(dtype)));
  }
}

Result<CUtensorMapSwizzle> map_swizzle(int64_t bytes) {
  switch (bytes) {
    case 0:
      return CU_TENSOR_MAP_SWIZZLE_NONE;
    case 32:
      return CU_TENSOR_MAP_SWIZZLE_32B;
    case 64:
      return CU_TENSOR_MAP_SWIZZLE_64B;
    case 128:
      return CU_TENSOR_MAP_SWIZZLE_128B;
    default:
      return fail(Code::launch_refused).because("a swizzle of " + std::to_string(bytes) + " bytes");
  }
}

// The last of the axes whose elements are neighbours; -1: none.
int dense_axis(const TensorView& view) {
  int axis = view.rank - 1;
  while (axis >= 0 && view.strides[axis] != 1) --axis;
  return axis;
}

Status encode(const Gpu& gpu, const TensorView& view, int operand, const Attrs& attrs, std::byte* into) {
  if (view.rank < 1 || view.rank > kMaxMapRank)
    return fail(Code::launch_refused).because("a tensor map needs rank 1 to 5");
  const int dense = dense_axis(view);
  if (dense < 0) return fail(Code::launch_refused).because("a tensor map needs a dense axis");
  GE_ASSIGN(const CUtensorMapDataType type, map_type(view.dtype));
  const std::string number = std::to_string(operand);
  GE_ASSIGN(const CUtensorMapSwizzle swizzle, map_swizzle(attr_int(attrs, "swizzle" + number, 0)));
  // The driver counts axes from the innermost, which is the dense one. It takes no axis without elements (of
  // such a map nothing is read) and multiples of 16 bytes alone, where a view of one element may say
  // anything.
  const bool empty = element_count(view) == 0;
  cuuint64_t dims[kMaxMapRank], strides[kMaxMapRank];
  cuuint32_t box[kMaxMapRank], steps[kMaxMapRank];
  for (int i = 0; i < view.rank; ++i) {
    const int axis = i == 0 ? dense : i <= view.rank - 1 - dense ? view.rank - i : view.rank - 1 - i;
    dims[i] = static_cast<cuuint64_t>(std::max<int64_t>(view.dims[axis], 1));
    box[i] = static_cast<cuuint32_t>(attr_int(attrs, "box" + number, 1, static_cast<size_t>(axis)));
    steps[i] = 1;
    const int64_t stride = empty || view.dims[axis] == 1 ? 16 : view.strides[axis] * bits_of(view.dtype) / 8;
    if (i > 0) strides[i - 1] = static_cast<cuuint64_t>(stride);
  }
  CUtensorMap map{};  // as aligned as the driver wants it: its own type says so
  const CUresult result =
      gpu.api->cuTensorMapEncodeTiled(&map, type, static_cast<cuuint32_t>(view.rank), view.data, dims,
                                      strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                                      CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result == CUDA_ERROR_INVALID_VALUE) {
    return fail(Code::launch_refused)
        .because("the driver takes no tensor map for operand " + number +
                 " (address, strides or box not aligned)");
  }
  GE_TRY(check(*gpu.api, result, "cuTensorMapEncodeTiled"));
  std::memcpy(into, &map, sizeof map);
  return {};
}

}  // namespace

Status encode_tensor_maps(const Gpu& gpu, const KernelDesc& desc, std::span<const TensorView> operands,
                          const Attrs& attrs, MutableByteSpan args) {
  static_assert(sizeof(CUtensorMap) == 128);
  for (const ArgDesc& arg : desc.args) {
    if (arg.source != ArgSource::kTensorMap) continue;
    const TensorView& view = operands[static_cast<size_t>(arg.operand)];
    if (view.rank < 0) continue;
    GE_TRY(encode(gpu, view, arg.operand, attrs, args.data() + arg.offset));
  }
  return {};
}

}  // namespace ge::cuda
