#include "compiler/onnx_file/functions.h"

namespace ge::onnx_wire {

NodeParts::NodeParts(const Node& n) : node(n) {
  static constexpr int64_t kMostAbsent = 100;
  int64_t named = 0;
  for (std::string_view rest = n.bytes(); !rest.empty();) {
    const Field field = take_field(rest);
    ++fields;
    switch (field.number) {
      case 1:
        ++inputs;
        break;
      case 2:
        ++outputs;
        named += field.bytes.empty() ? 0 : 1;
        results = field.bytes.empty() ? results : outputs;
        break;
      case 3:
        name = field.bytes;
        break;
      case 4:
        op_type = field.bytes;
        break;
      case 7:
        domain = field.bytes;
        break;
      case 8:
        overload = field.bytes;
        break;
      default:
        continue;
    }
    text_bytes += field.bytes.size();
  }
  if (results - named > kMostAbsent) results = 0;
}

FunctionUse::FunctionUse(const Function& function) : name(function.name()) {
  for (const Node& node : function.node()) nodes.push_back(node);
  for (const OperatorSet& set : function.opset_import()) opset_imports.push_back(set);
  for (const std::string_view input : function.input())
    inputs.try_emplace(input, static_cast<uint32_t>(input_count++));
  for (const std::string_view output : function.output()) outputs.push_back(output);
  for (const Attribute& a : function.attribute_default()) defaults.insert_or_assign(a.name(), a);
}

CallUse::CallUse(const Node& node) {
  for (const std::string_view input : node.input()) inputs.push_back(input);
  for (const std::string_view output : node.output()) outputs.push_back(output);
  for (const Attribute& a : node.attribute()) attributes.insert_or_assign(a.name(), a);
}

FunctionTable::Key FunctionTable::key_of(std::string_view domain, std::string_view name,
                                         std::string_view overload) {
  return {domain == "ai.onnx" ? std::string_view() : domain, name, overload};
}

bool FunctionTable::add(const Function& function) {
  return functions_
      .try_emplace(key_of(function.domain(), function.name(), function.overload()), Entry{function, nullptr})
      .second;
}

FunctionUse* FunctionTable::find(const NodeParts& node) {
  if (functions_.empty()) return nullptr;
  const auto at = functions_.find(key_of(node.domain, node.op_type, node.overload));
  if (at == functions_.end()) return nullptr;
  Entry& entry = at->second;
  if (!entry.use) entry.use = std::make_unique<FunctionUse>(entry.function);
  return entry.use.get();
}

const CallUse& FunctionTable::call(const Node& node) {
  auto& use = calls_[node.bytes().data()];
  if (!use) use = std::make_unique<CallUse>(node);
  return *use;
}

}  // namespace ge::onnx_wire
