// The keys of every object in graph.json. Entry: the tables. The reader accepts exactly these; a test holds
// the schema to them.
#pragma once
#include <array>
#include <span>
#include <string_view>

namespace ge {

struct KeyInfo {
  std::string_view name;
  bool required = false;
};

inline constexpr KeyInfo kGraphKeys[] = {{"format", true}, {"name"},         {"opset"},
                                         {"dims"},         {"inputs", true}, {"outputs", true},
                                         {"initializers"}, {"nodes", true}};
inline constexpr KeyInfo kSubgraphKeys[] = {
    {"name"}, {"inputs"}, {"outputs", true}, {"initializers"}, {"nodes", true}};
inline constexpr KeyInfo kDimKeys[] = {{"min"}, {"max"}, {"opt"}};
inline constexpr KeyInfo kInputKeys[] = {{"name", true}, {"dtype", true}, {"shape", true}};
inline constexpr KeyInfo kSubgraphInputKeys[] = {{"name", true}, {"dtype"}, {"shape"}};
inline constexpr KeyInfo kInitializerKeys[] = {
    {"name", true}, {"dtype", true}, {"shape", true}, {"data", true}};
inline constexpr KeyInfo kNodeKeys[] = {{"name"},   {"op", true},      {"domain"},
                                        {"inputs"}, {"outputs", true}, {"attributes"}};
inline constexpr KeyInfo kTensorKeys[] = {{"dtype", true}, {"shape", true}, {"data", true}};
inline constexpr KeyInfo kAttributeKeys[] = {{"graph"}, {"tensor"}};
inline constexpr KeyInfo kDataKeys[] = {{"fill"}, {"file"}, {"tensor"}, {"offset"}, {"base64"}};

struct KeyTable {
  std::string_view definition;  // under $defs in schemas/graph.schema.json; "" is the root
  std::span<const KeyInfo> keys;
};
inline constexpr std::array<KeyTable, 10> kKeyTables = {{{"", kGraphKeys},
                                                         {"subgraph", kSubgraphKeys},
                                                         {"dim", kDimKeys},
                                                         {"input", kInputKeys},
                                                         {"subgraph_input", kSubgraphInputKeys},
                                                         {"initializer", kInitializerKeys},
                                                         {"node", kNodeKeys},
                                                         {"tensor", kTensorKeys},
                                                         {"object_attribute", kAttributeKeys},
                                                         {"data", kDataKeys}}};

}  // namespace ge
