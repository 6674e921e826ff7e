// The table behind scalar_op_info, made from scalar_ops.def.
#include "contract/scalar_op.h"

#include <algorithm>

namespace ge {
namespace {

// The .def says `boolean` for a domain and for a result; the column decides which enum it is.
#define GE_DOMAIN_number ScalarDomain::number
#define GE_DOMAIN_real ScalarDomain::real
#define GE_DOMAIN_integer ScalarDomain::integer
#define GE_DOMAIN_boolean ScalarDomain::boolean
#define GE_DOMAIN_any ScalarDomain::any
#define GE_RESULT_same ScalarResult::same
#define GE_RESULT_boolean ScalarResult::boolean

constexpr ScalarOpInfo kTable[] = {
#define GE_SCALAR_OP(name, code, arity, domain, result, formula) \
  {#name, ScalarOp::name, arity, GE_DOMAIN_##domain, GE_RESULT_##result, formula},
#include "contract/scalar_ops.def"
#undef GE_SCALAR_OP
};

constexpr bool codes_ascend() {
  for (size_t i = 1; i < std::size(kTable); ++i) {
    if (kTable[i - 1].op >= kTable[i].op) return false;
  }
  return static_cast<uint16_t>(kTable[std::size(kTable) - 1].op) < kFirstControlOp;
}
static_assert(codes_ascend(), "scalar_ops.def is ordered by code, below kFirstControlOp");

}  // namespace

std::span<const ScalarOpInfo> scalar_ops() {
  return kTable;
}

const ScalarOpInfo* scalar_op_info(uint16_t code) {
  const auto* end = std::end(kTable);
  const auto* found = std::lower_bound(
      std::begin(kTable), end, code,
      [](const ScalarOpInfo& row, uint16_t wanted) { return static_cast<uint16_t>(row.op) < wanted; });
  return found != end && static_cast<uint16_t>(found->op) == code ? found : nullptr;
}

const ScalarOpInfo* scalar_op_from_name(std::string_view name) {
  for (const ScalarOpInfo& row : kTable) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

bool accepts(ScalarDomain domain, DType dtype) {
  switch (domain) {
    case ScalarDomain::number:
      return !is_bool(dtype);
    case ScalarDomain::real:
      return is_float(dtype);
    case ScalarDomain::integer:
      return is_integer(dtype);
    case ScalarDomain::boolean:
      return is_bool(dtype);
    case ScalarDomain::any:
      return true;
  }
  return false;
}

}  // namespace ge
