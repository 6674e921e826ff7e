// A binding made ready to run: every launch resolved to a DeviceStep with its arguments packed, grouped into
// straight runs between control steps. Entry: PreparedBinding::make. Invariant: groups have the same numbers
// in every binding of a program, so a run can go on with another binding after ReadDims.
#pragma once
#include <memory>
#include <vector>

#include "runtime/device.h"
#include "runtime/model.h"

namespace ge {

// Where each buffer of the program lives for one session; null where a region has no storage.
using BufferAddresses = std::vector<std::byte*>;

struct Group {
  StraightRun straight;              // runs first
  uint32_t control_step = kNoIndex;  // then this step of the block; kNoIndex: the block ends here
};
struct PreparedBlock {
  const Block* block = nullptr;
  const BoundBlock* bound = nullptr;
  std::vector<Group> groups;  // at least one
};

class PreparedBinding {
 public:
  // `blocks`: which blocks of the binding to make ready. first_entry counts profile entries.
  static Result<std::unique_ptr<PreparedBinding>> make(const Model& model, Binding binding,
                                                       BufferAddresses addresses, Stream& stream,
                                                       bool prepare_only);
  const Binding& binding() const { return binding_; }
  // Block 0 is the run (or prepare) block, block i + 1 is Program::blocks[i].
  PreparedBlock& block(uint32_t index) { return blocks_[index]; }
  // The view of operand `i` of a step that is no launch.
  TensorView view(const BoundStep& step, uint32_t i) const {
    return complete(binding_.views[step.first_view + i]);
  }
  bool absent(const BoundStep& step, uint32_t i) const {
    return binding_.views[step.first_view + i].buffer == kNoBuffer;
  }

 private:
  PreparedBinding(const Model& model, Binding binding, BufferAddresses addresses)
      : model_(model), binding_(std::move(binding)), addresses_(std::move(addresses)) {}
  TensorView complete(const BoundView& bound) const;
  Status prepare_block(const Block& block, const BoundBlock& bound, Stream& stream, uint32_t& entry);
  Result<std::unique_ptr<DeviceStep>> make_step(const Step& step, const BoundStep& bound, Stream& stream,
                                                uint32_t entry, bool after_launch) const;
  Result<std::unique_ptr<DeviceStep>> make_launch(const Launch& launch, const BoundLaunch& bound,
                                                  Stream& stream, uint32_t entry, bool after_launch) const;

  const Model& model_;
  Binding binding_;
  BufferAddresses addresses_;
  std::vector<PreparedBlock> blocks_;
};

// Steps of run and of all blocks in order: step `entry` of a profile or a fault record.
const Step* find_step(const Program& program, bool prepare, uint32_t entry);

}  // namespace ge
