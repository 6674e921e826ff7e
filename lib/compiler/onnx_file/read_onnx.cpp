// The head of an ONNX file: versions and functions; the body is read by BodyBuilder.
#include <algorithm>
#include <unordered_map>

#include "compiler/ir/opset.h"
#include "compiler/onnx_file/body.h"
#include "compiler/onnx_file/onnx_file.h"
#include "compiler/onnx_file/wire_check.h"

namespace ge {
namespace {

using onnx_wire::BodyBuilder;
using onnx_wire::Model;
using onnx_wire::OperatorSet;
using onnx_wire::Opsets;
using onnx_wire::printable;
using onnx_wire::ReadState;

Diagnostic no_model(const std::string& name, const std::string& found) {
  return fail(Code::onnx_syntax)
      .at(name)
      .because(found)
      .try_(
          "check that this is an ONNX model; graph.json files are read where their name does not end in "
          ".onnx");
}

Status check_ir_version(const Model& model, const std::string& name) {
  if (!model.has_graph()) return no_model(name, "the file holds no graph");
  if (!model.has_ir_version()) return no_model(name, "the file says no IR version");
  const int64_t version = model.ir_version();
  if (version >= kOldestIrVersion && version <= kNewestIrVersion) return {};
  return fail(Code::unsupported_op_version)
      .say("the model's IR version is not supported")
      .at(name)
      .because("found " + std::to_string(version) + ", allowed " + std::to_string(kOldestIrVersion) + " .. " +
               std::to_string(kNewestIrVersion))
      .try_("export it again with another version of the exporter");
}

Result<Opsets> opsets_of(const Model& model, const std::string& name) {
  Opsets opsets;
  for (const OperatorSet& set : model.opset_import()) {
    const std::string domain = canonical_domain(set.domain());
    const bool is_default = domain.empty();
    const int64_t newest = is_default ? kNewestOpset : INT32_MAX;
    if (set.version() < 1 || set.version() > newest) {
      return fail(Code::unsupported_op_version)
          .say("opset is not supported")
          .at(name)
          .because("found " + std::to_string(set.version()) + " of " +
                   (is_default ? "ai.onnx" : printable(domain)) + ", allowed 1 .. " + std::to_string(newest))
          .try_("export the model with an opset that is allowed");
    }
    opsets[domain] = static_cast<int>(set.version());
  }
  return opsets;
}

void read_functions(const Model& model, ReadState& state) {
  for (const onnx_wire::Function& f : model.functions()) {
    if (state.gives_up()) return;
    if (!state.functions.add(f))
      state.errors.add(
          state.fault(Code::duplicate_name, "function '" + printable(f.name()) + "' is defined twice", ""));
  }
}

// Nodes that a body has once the model's functions are inlined, counted before any is: functions that call
// functions double a few bytes many times over.
class UnfoldedNodes {
 public:
  UnfoldedNodes(ReadState& state, int64_t limit) : state_(state), limit_(limit) {}

  // At most one more than the limit; what calls itself counts once, and is told later.
  template <class Nodes>
  int64_t count(const Nodes& nodes) {
    auto total = static_cast<int64_t>(nodes.size());
    for (const onnx_wire::Node& node : nodes) {
      if (total > limit_) return limit_ + 1;
      if (!state_.functions.empty()) {
        const onnx_wire::FunctionUse* function = state_.functions.find(onnx_wire::NodeParts(node));
        if (function) total += count_of(*function);
      }
      for (const onnx_wire::Attribute& a : node.attribute())
        if (a.has_g()) total += count(a.g().node());
    }
    return std::min(total, limit_ + 1);
  }

 private:
  int64_t count_of(const onnx_wire::FunctionUse& function) {
    const auto [at, is_new] = known_.try_emplace(&function, 0);
    if (!is_new) return at->second;
    if (++depth_ > onnx_wire::kMaxCallDepth) return --depth_, 0;
    const int64_t total = count(function.nodes);
    --depth_;
    return known_[&function] = total;
  }
  ReadState& state_;
  int64_t limit_;
  int depth_ = 0;
  std::unordered_map<const onnx_wire::FunctionUse*, int64_t> known_;
};

}  // namespace

Result<Graph> read_onnx(ByteBuffer bytes, const std::string& display_name, std::string folder,
                        const OnnxReadOptions& options) {
  if (static_cast<int64_t>(bytes.size()) > kMaxOnnxBytes)
    return fail(Code::document_limit)
        .at(display_name)
        .because("found " + std::to_string(bytes.size()) + " bytes, allowed " + std::to_string(kMaxOnnxBytes))
        .try_("keep the weights in a file beside the model (external data)");
  GE_TRY(onnx_wire::check_wire(bytes.span(), onnx_wire::model_message(), display_name));
  const auto file = std::make_shared<const ByteBuffer>(std::move(bytes));
  const Model model(as_text(file->span()));
  GE_TRY(check_ir_version(model, display_name));
  GE_ASSIGN(const Opsets opsets, opsets_of(model, display_name));
  ReadState state(display_name, std::move(folder), file, options.max_nodes, options.max_unfolded_bytes);
  read_functions(model, state);
  if (UnfoldedNodes(state, options.max_nodes).count(model.graph().node()) > options.max_nodes)
    return fail(Code::document_limit)
        .say("too many nodes")
        .at(display_name)
        .because("more than " + std::to_string(options.max_nodes) +
                 " are there when the model's functions are inlined");
  Graph graph = BodyBuilder(state, nullptr, nullptr, "", 0).read(model.graph(), opsets);
  if (Status status = state.errors.take(); !status.ok()) {
    if (options.partial) *options.partial = std::move(graph);
    return std::move(status).take_error();
  }
  if (options.files) *options.files = state.tensors.files();
  return graph;
}

Result<TensorData> read_onnx_tensor(ByteSpan bytes, const std::string& display_name, std::string* name) {
  GE_TRY(onnx_wire::check_wire(bytes, onnx_wire::tensor_message(), display_name));
  const onnx_wire::Tensor tensor(as_text(bytes));
  if (name) *name = printable(tensor.name());
  if (tensor.is_external())
    return fail(Code::unsupported_feature).say("a tensor by itself has no external data").at(display_name);
  ErrorList errors;
  auto data = onnx_wire::TensorProtos("", errors, nullptr).read(tensor);
  if (data.ok()) return data;
  Error error = std::move(data).take_error();
  for (Diagnostic& d : error.list()) d.place = display_name;
  return error;
}

}  // namespace ge
