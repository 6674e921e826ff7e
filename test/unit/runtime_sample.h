// Small plans for the runtime's tests, made from the contract's records, and a session to run them with
// through ge.h. Entry: PlanMaker, Run.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "contract/plan.h"
#include "contract/plan_write.h"
#include "contract_sample.h"
#include "ge/ge.h"

namespace ge::test {

// One program for "cpu" (or another target); the model reads in the test as it is built.
class PlanMaker {
 public:
  explicit PlanMaker(std::string target = "cpu");
  Program& program() { return plan_.programs.front(); }
  ProgramEditor edit() { return ProgramEditor(program()); }
  ExprId number(int64_t value) { return edit().number(value); }
  // Adds a symbol; its expression.
  ExprId symbol(const std::string& name, int64_t min, int64_t max, int64_t opt);

  // Buffers as dense tensors. Arena tensors get a slot of their own.
  TensorRef input(const std::string& name, std::vector<ExprId> dims, DType dtype = DType::float32,
                  PortHint hint = {});
  TensorRef output(const std::string& name, std::vector<ExprId> dims, DType dtype = DType::float32);
  TensorRef weights(const std::string& name, std::vector<int64_t> dims, const std::vector<float>& values);
  TensorRef prepared(const std::string& name, std::vector<int64_t> dims);
  TensorRef arena(const std::string& name, std::vector<ExprId> dims, DType dtype = DType::float32);
  TensorRef host(const std::string& name, std::vector<ExprId> dims, DType dtype);
  // Another view of a tensor's buffer.
  TensorRef broadcast_rows(TensorRef row, ExprId rows);  // [n] -> [rows, n] with stride 0
  TensorRef device_block(int64_t offset_bytes, DType dtype);

  // Kernels and steps. Every step names its node.
  uint32_t builtin(const std::string& name);
  uint32_t library(const std::string& name);
  uint32_t loop(const std::string& name, const LoopProgram& loop, int operand_count);
  Step launch(uint32_t kernel, std::vector<TensorRef> operands, Attrs attrs, const std::string& node);
  Step copy(const TensorRef& from, const TensorRef& to, const std::string& node);
  Step fill(const TensorRef& to, uint64_t bits);
  // dot with bias and relu; map of one scalar op.
  Step dot_relu(const TensorRef& lhs, const TensorRef& rhs, const TensorRef& bias, const TensorRef& out,
                const std::string& node);
  Step map(ScalarOp op, std::vector<TensorRef> inputs, const TensorRef& out, const std::string& node);

  std::vector<std::byte> file();  // writes the plan
  Plan& plan() { return plan_; }

 private:
  TensorRef tensor(const std::string& name, Region region, std::vector<ExprId> dims, DType dtype);
  Plan plan_;
  std::vector<std::vector<std::byte>> blobs_, images_;
};

// y[batch, 4] = relu(x[batch, 3] w + b), batch 0 .. 64, w prepared by a copy.
std::vector<std::byte> affine_plan();
std::vector<float> affine_expected(const std::vector<float>& x);

// Frees an error; its code ("" where there is none) and text.
struct Outcome {
  explicit Outcome(ge_error* error);
  bool ok() const { return code.empty(); }
  int kind = 0;
  std::string code, message, json;
};
// Device, plan, model and session, freed together. `options` are the session's.
class Run {
 public:
  explicit Run(const std::vector<std::byte>& file, int threads = 2, ge_device_kind kind = GE_DEVICE_CPU,
               const ge_session_options* options = nullptr);
  ~Run();
  Run(const Run&) = delete;
  Outcome opened{nullptr};  // of the first call that failed
  Outcome bind(const std::vector<std::pair<const char*, int64_t>>& values = {});
  Outcome measure_ceilings(ge_ceilings& most, size_t size_bytes = sizeof(ge_ceilings)) {
    most.size = size_bytes;
    return Outcome(ge_device_measure_ceilings(device, &most));
  }
  template <class T>
  Outcome write(int index, const std::vector<T>& values) {
    return Outcome(ge_session_write_input(session, index, values.data(), values.size() * sizeof(T)));
  }
  Outcome run() { return Outcome(ge_session_run(session)); }
  std::vector<int64_t> output_dims(int index);
  template <class T>
  std::vector<T> read(int index) {
    ge_tensor t{};
    t.size = sizeof t;
    Outcome got(ge_session_output(session, index, &t));
    std::vector<T> values(t.size_bytes / sizeof(T));
    Outcome copied(ge_session_read_output(session, index, values.data(), t.size_bytes));
    return got.ok() && copied.ok() ? values : std::vector<T>();
  }
  ge_device* device = nullptr;
  ge_plan* plan = nullptr;
  ge_model* model = nullptr;
  ge_session* session = nullptr;
};

}  // namespace ge::test
