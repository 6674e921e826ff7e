// A session: one thread's arena, fixed input and output buffers, and the latest bindings. Entry:
// Session::create, bind, run. Invariant: run() allocates nothing for a binding it has seen, and touches only
// memory that its binding was checked against.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "runtime/block_runner.h"
#include "runtime/model.h"
#include "runtime/profile.h"

namespace ge {

struct PortStorage {
  std::byte* data = nullptr;  // on the device
  int64_t size_bytes = 0;
  DType dtype = DType::float32;
  const std::vector<int64_t>* dims = nullptr;
};

struct TimingOptions {
  int32_t warmup = 0, iterations = 1;
  bool cold = false;  // caches hold nothing of the model when a measured run starts
};

class Session : private BindingSource {
 public:
  static Result<std::unique_ptr<Session>> create(std::shared_ptr<Model> model, const StreamOptions& options);
  ~Session() override;

  // Values by symbol; see ge_session_bind. Errors: unknown_symbol, and bind()'s.
  Status bind(std::span<const std::pair<std::string, int64_t>> values);
  // Shapes of the inputs (unknown_shape() where one follows the symbols) and values by name, which must
  // agree.
  Status bind_shapes(std::span<const std::vector<int64_t>> shapes,
                     std::span<const std::pair<std::string, int64_t>> values = {});
  bool is_bound() const { return current_ != nullptr; }

  const Model& model() const { return *model_; }
  // Under the current binding. bad_usage where there is none; unknown_input, unknown_output for an index that
  // is not there.
  Result<PortStorage> input(int64_t index) const;
  Result<PortStorage> output(int64_t index) const;
  Status write_input(int64_t index, const void* data, int64_t size_bytes);
  Status read_output(int64_t index, void* data, int64_t size_bytes);

  Status run();        // and waits
  Status run_async();  // enqueues
  Status wait();       // waits and reads faults
  // `device_us` and `host_us` have room for `iterations` values each; either may be null.
  Status time(const TimingOptions& options, double* device_us, double* host_us);
  Status profile(int32_t iterations);
  const std::vector<LaunchProfile>& profile_entries() const { return profile_; }

  int64_t arena_bytes() const;
  double bind_us() const { return bind_us_; }
  double first_run_us() const { return first_run_us_; }

 private:
  explicit Session(std::shared_ptr<Model> model) : model_(std::move(model)) {}
  PreparedBinding& current() override { return *current_; }
  Result<std::vector<GivenSymbol>> find_symbols(
      std::span<const std::pair<std::string, int64_t>> values) const;
  Status rebind(std::span<const int64_t> symbols) override;
  Status switch_to(std::span<const int64_t> symbols, bool during_run);
  PreparedBinding* cached(std::span<const int64_t> symbols);
  Status grow_storage(const Binding& binding, bool during_run, bool& moved);
  BufferAddresses addresses(const Binding& binding) const;
  Status same_layout(const Binding& binding) const;
  Status start_run();
  Status raise_fault();
  Status need_binding() const;
  Result<PortStorage> port(const std::vector<BoundPort>& bound, const std::vector<Port>& ports, int64_t index,
                           Code missing) const;

  std::shared_ptr<Model> model_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<Memory> arena_, host_;
  std::vector<std::unique_ptr<Memory>>
      port_memory_;  // by buffer; null where it is no input or output, or shares another's
  std::vector<std::unique_ptr<PreparedBinding>> bindings_;  // latest first
  PreparedBinding* current_ = nullptr;
  bool block_has_dims_ = false;  // some kernel or buffer sees the device block
  std::vector<LaunchProfile> profile_;
  double bind_us_ = 0, first_run_us_ = 0;
  bool ran_ = false;
};

}  // namespace ge
