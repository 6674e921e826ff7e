// The facts of each element type, one table driven by GE_DTYPES.
#include "numeric/dtype.h"

#include <iterator>

namespace ge {
namespace {

struct Row {
  DType dtype;
  int bits;
  DTypeClass cls;
  std::string_view name;
};
constexpr Row kRows[] = {
#define GE_X(name, bits, cls) {DType::name, bits, DTypeClass::cls, #name},
    GE_DTYPES(GE_X)
#undef GE_X
};
static_assert(std::size(kRows) == kDTypeCount);

const Row& row(DType dtype) {
  return kRows[static_cast<unsigned>(dtype)];
}

}  // namespace

int bits_of(DType dtype) {
  return row(dtype).bits;
}
DTypeClass class_of(DType dtype) {
  return row(dtype).cls;
}
// "boolean" is spelt so in C++ only, where "bool" is taken.
std::string_view name_of(DType dtype) {
  return dtype == DType::boolean ? "bool" : row(dtype).name;
}

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const Row& r : kRows) {
    if (name_of(r.dtype) == name) return r.dtype;
  }
  return std::nullopt;
}

std::string_view npy_descr(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return "<f8";
    case DType::float32:
      return "<f4";
    case DType::float16:
      return "<f2";
    case DType::int64:
      return "<i8";
    case DType::int32:
      return "<i4";
    case DType::int16:
      return "<i2";
    case DType::int8:
      return "|i1";
    case DType::uint64:
      return "<u8";
    case DType::uint32:
      return "<u4";
    case DType::uint16:
      return "<u2";
    case DType::uint8:
      return "|u1";
    case DType::boolean:
      return "|b1";
    default:
      return "";
  }
}

}  // namespace ge
