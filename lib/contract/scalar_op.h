// Facts of scalar_ops.def as a table. Entry: scalar_op_info, scalar_op_from_name.
#pragma once
#include <optional>
#include <span>
#include <string_view>

#include "contract/bytecode.h"

namespace ge {

enum class ScalarDomain : uint8_t { number, real, integer, boolean, any };
enum class ScalarResult : uint8_t { same, boolean };
struct ScalarOpInfo {
  std::string_view name;
  ScalarOp op;
  uint8_t arity;  // 1 .. 3
  ScalarDomain domain;
  ScalarResult result;
  std::string_view formula;
};
std::span<const ScalarOpInfo> scalar_ops();                      // in the order of the .def
const ScalarOpInfo* scalar_op_info(uint16_t code);               // null: no such code
const ScalarOpInfo* scalar_op_from_name(std::string_view name);  // null: no such op
bool accepts(ScalarDomain domain, DType dtype);

}  // namespace ge
