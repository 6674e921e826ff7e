// The operator registry: rows of ops.def with their signatures parsed. Entry: onnx_operators, find_operator.
// Invariant: rows are sorted by domain, name and `since`; a row holds until the next row of the same name.
// Built once, on first use.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/onnx_dtype.h"
#include "compiler/ir/opset.h"
#include "numeric/dtype.h"

namespace ge {

class OpContext;
struct Results;
using LowerFunction = Results (*)(OpContext&);

// One row as ops.def writes it.
struct OperatorRow {
  const char* name = "";
  const char* domain = "";
  int since = 1;
  const char* inputs = "";
  const char* outputs = "";
  const char* attributes = "";
  const char* types = "";
  Op core = Op::onnx;  // the scalar op of lower_map and lower_variadic
  const char* summary = "";
};

enum class OnnxAttrKind : uint8_t {
  kInt,
  kFloat,
  kString,
  kInts,
  kFloats,
  kStrings,
  kTensor,
  kGraph,
  kDType
};
std::string_view name_of(OnnxAttrKind kind);  // "an integer", "a list of numbers", ...

struct OperandInfo {
  std::string name;
  std::string type;  // letter of `types`, or a class; empty for outputs
  bool optional = false;
  bool variadic = false;  // one or more; last
};
struct OnnxAttrInfo {
  std::string name;
  OnnxAttrKind kind = OnnxAttrKind::kInt;
  bool required = false;
  std::string default_text;          // "" where there is none
  std::vector<std::string> choices;  // of a string; empty: any
};
struct TypeInfo {
  std::string name;  // "T", or the class itself
  std::string text;  // "float|int32"
  DTypeSet allowed;
};

struct Operator {
  const OperatorRow* row = nullptr;
  LowerFunction lower = nullptr;
  std::vector<OperandInfo> inputs, outputs;
  std::vector<OnnxAttrInfo> attributes;
  std::vector<TypeInfo> types;  // letters, then the classes that inputs name directly
  size_t min_inputs = 0, max_inputs = 0, min_outputs = 0, max_outputs = 0;  // SIZE_MAX where variadic

  const OnnxAttrInfo* attribute(std::string_view name) const;  // null where there is none
  const TypeInfo& type_of_input(size_t index) const;           // variadic inputs share the last
  std::string input_name(size_t index) const;
};

// All rows; throws nothing, aborts nothing: a malformed row is left out and told by registry_faults().
std::span<const Operator> onnx_operators();
// What is wrong with ops.def; a test holds it empty.
std::span<const std::string> registry_faults();
// The row that holds at this opset version; null where there is none.
const Operator* find_operator(std::string_view domain, std::string_view name, int version);
// Distinct names of a domain, sorted.
std::vector<std::string> operator_names(std::string_view domain);
// The first opset version that has this operator, 0 where none has.
int first_version(std::string_view domain, std::string_view name);
// "float64, float32, float16, bfloat16", in the order of the dtypes.
std::string to_string(DTypeSet set);
// The dtypes of "float|int32"; empty where a word is unknown.
DTypeSet dtype_class(std::string_view text);

}  // namespace ge
