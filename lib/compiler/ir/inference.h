// One call of infer_types: operands, attributes and the checks that ops share. Only infer*.cpp include this.
// Invariant: check_attributes() has passed before any attribute is read, so the getters need no fallback.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/infer.h"

namespace ge {

class Inference {
 public:
  Inference(Op op, std::span<const Type* const> operands, const AttrMap& attrs, const TensorData* data,
            const Graph* body, std::vector<Graph::Assertion>* assertions)
      : op_(op), operands_(operands), attrs_(attrs), data_(data), body_(body), assertions_(assertions) {}
  Result<std::vector<Type>> run();

 private:
  // infer_window.cpp
  Result<Type> conv();
  Result<Type> pool();
  Status check_window(const std::vector<int64_t>& kernel, size_t spatial);
  Result<Dim> window_extent(const Dim& in, size_t axis, int64_t kernel, bool ceil_mode);

  // infer.cpp
  Result<Type> map();
  Result<Type> constant();
  Result<Type> iota();
  Result<Type> dims_op();
  Result<Type> cast();
  Result<Type> bitcast();
  Result<Type> reduce();
  Result<Type> reshape();
  Result<Type> transpose();
  Result<Type> broadcast();
  Result<Type> slice();
  Result<Type> pad();
  Result<Type> concat();
  Result<Type> gather();
  Result<Type> scatter();
  Result<Type> scan();
  Result<Type> sort_topk();
  Result<Type> dot();
  Result<Type> softmax();
  Result<Type> normalize();
  Result<Type> attention();
  Result<std::vector<Type>> fused();

  Status indices_fit(int64_t axis);
  Status check_operands();
  Status check_attributes();
  Status check_attribute(const std::string& name, const Attr& attr);

  // What ops share.
  Diagnostic fault(Code code, const std::string& found) const;
  Status axis_in_range(int64_t axis, size_t rank) const;
  Status rank_is(size_t operand, size_t low, size_t high) const;
  Status floats_only(size_t operand) const;
  Status numbers_only(size_t operand) const;
  Status same_dtype(size_t a, size_t b) const;
  Status no_negative(const Dims& dims) const;
  // Ok where a == b holds or can hold (then it becomes an assertion); shape_mismatch where it cannot.
  Status equal(const Dim& a, const Dim& b, const std::string& what);
  Status equal_dims(const Dims& a, const Dims& b, const std::string& what);
  std::string operand_text(size_t i) const;

  const Type& in(size_t i) const { return *operands_[i]; }
  bool has(size_t i) const { return i < operands_.size() && operands_[i] != nullptr; }
  int64_t integer(const std::string& name, int64_t fallback = 0) const;
  const std::vector<int64_t>& ints(const std::string& name) const;
  const Dims& dims(const std::string& name) const;
  const std::string& text(const std::string& name) const;
  DType dtype(const std::string& name) const;

  Op op_;
  std::span<const Type* const> operands_;
  const AttrMap& attrs_;
  const TensorData* data_;
  const Graph* body_;
  std::vector<Graph::Assertion>* assertions_;
};

std::string ints_text(const std::vector<int64_t>& values);  // "[1, 2]"

}  // namespace ge
