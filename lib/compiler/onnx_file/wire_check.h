// Protobuf's wire format, checked before anything is allocated for it. Entry: check_wire. Invariant: every
// view of messages.h into bytes that pass stays within them, and the graph made of them takes memory bounded
// by the size of the file.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/status.h"

namespace ge::onnx_wire {

// What stands in a field that ge reads.
enum class FieldKind : uint8_t {
  kVarint,
  kFixed32,
  kFixed64,
  kBytes,
  kMessage,
  kVarints,
  kFixed32s,
  kFixed64s
};

struct MessageInfo;
struct FieldInfo {
  uint32_t number;
  FieldKind kind;
  std::string_view name;
  const MessageInfo* message = nullptr;  // kMessage
  bool once = false;                     // kMessage: two would be one, merged; no exporter writes that
};
struct MessageInfo {
  std::string_view name;
  std::span<const FieldInfo> fields;
};
const MessageInfo& model_message();
const MessageInfo& tensor_message();

// Messages inside messages; subgraphs nest by three levels each.
inline constexpr int kMaxWireDepth = 90;

// Errors, with the byte offset in the place ("m.onnx:byte 120"): onnx_syntax for varints that do not end,
// fields that end past their message, wire types that do not fit, group fields, and messages that stand twice
// where one may; document_limit for nesting deeper than kMaxWireDepth, and for files of many small parts,
// whose graph would take more than 20 times the file's bytes, or 512 MiB beside twice its bytes. Allocates
// nothing but the error.
Status check_wire(ByteSpan bytes, const MessageInfo& message, const std::string& display_name);

}  // namespace ge::onnx_wire
