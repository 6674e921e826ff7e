// A model's functions, and what is looked up at every call, made once: of a function for all its calls, of a
// call's node for all copies of it that inlining makes. Entry: FunctionTable, NodeParts. Invariant: texts are
// views into the file's bytes; what is made is bounded by them, however often a function is called.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/name_map.h"
#include "compiler/onnx_file/messages.h"

namespace ge::onnx_wire {

using Opsets = std::map<std::string, int, std::less<>>;  // domain ("" is ai.onnx) -> version

// A node's own texts and how many parts it has, from one walk.
struct NodeParts {
  explicit NodeParts(const Node& n);
  Node node;
  std::string_view name, op_type, domain, overload;
  int64_t inputs = 0, outputs = 0;
  // Outputs up to the last that has a name, and no more than there are operators with: 0 where none has one,
  // or where far more are absent than named.
  int64_t results = 0;
  uint64_t fields = 0;      // known or not
  uint64_t text_bytes = 0;  // of all its names
};

using AttributeTable = NameMap<std::string_view, Attribute>;  // the last of a name

struct FunctionUse {
  explicit FunctionUse(const Function& function);
  std::string_view name;
  std::vector<Node> nodes;
  std::vector<OperatorSet> opset_imports;
  std::optional<Opsets> opsets;  // once they were looked at; nullopt where one is refused
  bool opsets_read = false;
  NameMap<std::string_view, uint32_t> inputs;  // the first of a name
  int64_t input_count = 0;
  std::vector<std::string_view> outputs;
  AttributeTable defaults;
};

struct CallUse {
  explicit CallUse(const Node& node);
  std::vector<std::string_view> inputs, outputs;
  AttributeTable attributes;
};

class FunctionTable {
 public:
  // False where a function of this domain, name and overload is there.
  bool add(const Function& function);
  bool empty() const { return functions_.empty(); }
  FunctionUse* find(const NodeParts& node);  // null where the node calls none
  // The call of a node that find() knows, by its place in the file.
  const CallUse& call(const Node& node);

 private:
  struct Key {
    std::string_view domain, name, overload;
    auto operator<=>(const Key&) const = default;
  };
  struct Entry {
    Function function;
    std::unique_ptr<FunctionUse> use;  // once it is called
  };
  static Key key_of(std::string_view domain, std::string_view name, std::string_view overload);
  NameMap<Key, Entry> functions_;
  std::unordered_map<const char*, std::unique_ptr<CallUse>> calls_;  // by where the message starts
};

}  // namespace ge::onnx_wire
