// One walk over the bytes. The tables say what messages.h reads; a test holds them against onnx.proto.
#include "compiler/onnx_file/wire_check.h"

#include <algorithm>

namespace ge::onnx_wire {
namespace {

using enum FieldKind;

extern const MessageInfo kGraph, kTensor;

constexpr FieldInfo kOperatorSetFields[] = {{1, kBytes, "domain"}, {2, kVarint, "version"}};
constexpr MessageInfo kOperatorSet{"OperatorSet", kOperatorSetFields};

constexpr FieldInfo kKeyValueFields[] = {{1, kBytes, "key"}, {2, kBytes, "value"}};
constexpr MessageInfo kKeyValue{"KeyValue", kKeyValueFields};

constexpr FieldInfo kDimensionFields[] = {{1, kVarint, "value"}, {2, kBytes, "symbol"}};
constexpr MessageInfo kDimension{"Dimension", kDimensionFields};
constexpr FieldInfo kShapeFields[] = {{1, kMessage, "dim", &kDimension}};
constexpr MessageInfo kShape{"Shape", kShapeFields};
constexpr FieldInfo kTensorTypeFields[] = {{1, kVarint, "elem_type"}, {2, kMessage, "shape", &kShape, true}};
constexpr MessageInfo kTensorType{"TensorType", kTensorTypeFields};
constexpr FieldInfo kValueTypeFields[] = {{1, kMessage, "tensor", &kTensorType, true},
                                          {4, kBytes, "sequence"},
                                          {5, kBytes, "map"},
                                          {8, kBytes, "sparse_tensor"},
                                          {9, kBytes, "optional_of"}};
constexpr MessageInfo kValueType{"ValueType", kValueTypeFields};
constexpr FieldInfo kValueInfoFields[] = {{1, kBytes, "name"}, {2, kMessage, "type", &kValueType, true}};
constexpr MessageInfo kValueInfo{"ValueInfo", kValueInfoFields};

constexpr FieldInfo kTensorFields[] = {
    {1, kVarints, "dims"},         {2, kVarint, "data_type"},
    {3, kBytes, "segment"},        {4, kFixed32s, "float_data"},
    {5, kVarints, "int32_data"},   {6, kBytes, "string_data"},
    {7, kVarints, "int64_data"},   {8, kBytes, "name"},
    {9, kBytes, "raw_data"},       {10, kFixed64s, "double_data"},
    {11, kVarints, "uint64_data"}, {13, kMessage, "external_data", &kKeyValue},
    {14, kVarint, "data_location"}};
const MessageInfo kTensor{"Tensor", kTensorFields};
const FieldInfo kSparseTensorFields[] = {{1, kMessage, "values", &kTensor, true}};
const MessageInfo kSparseTensor{"SparseTensor", kSparseTensorFields};

const FieldInfo kAttributeFields[] = {{1, kBytes, "name"},
                                      {2, kFixed32, "f"},
                                      {3, kVarint, "i"},
                                      {4, kBytes, "s"},
                                      {5, kMessage, "t", &kTensor, true},
                                      {6, kMessage, "g", &kGraph, true},
                                      {7, kFixed32s, "floats"},
                                      {8, kVarints, "ints"},
                                      {9, kBytes, "strings"},
                                      {20, kVarint, "type"},
                                      {21, kBytes, "ref_attr_name"}};
const MessageInfo kAttribute{"Attribute", kAttributeFields};

const FieldInfo kNodeFields[] = {{1, kBytes, "input"},
                                 {2, kBytes, "output"},
                                 {3, kBytes, "name"},
                                 {4, kBytes, "op_type"},
                                 {5, kMessage, "attribute", &kAttribute},
                                 {7, kBytes, "domain"},
                                 {8, kBytes, "overload"}};
const MessageInfo kNode{"Node", kNodeFields};

const FieldInfo kGraphFields[] = {{1, kMessage, "node", &kNode},
                                  {2, kBytes, "name"},
                                  {5, kMessage, "initializer", &kTensor},
                                  {11, kMessage, "input", &kValueInfo},
                                  {12, kMessage, "output", &kValueInfo},
                                  {13, kMessage, "value_info", &kValueInfo},
                                  {15, kMessage, "sparse_initializer", &kSparseTensor}};
const MessageInfo kGraph{"Graph", kGraphFields};

const FieldInfo kFunctionFields[] = {
    {1, kBytes, "name"},           {4, kBytes, "input"},
    {5, kBytes, "output"},         {6, kBytes, "attribute"},
    {7, kMessage, "node", &kNode}, {9, kMessage, "opset_import", &kOperatorSet},
    {10, kBytes, "domain"},        {11, kMessage, "attribute_default", &kAttribute},
    {13, kBytes, "overload"}};
const MessageInfo kFunction{"Function", kFunctionFields};

const FieldInfo kModelFields[] = {{1, kVarint, "ir_version"},
                                  {7, kMessage, "graph", &kGraph, true},
                                  {8, kMessage, "opset_import", &kOperatorSet},
                                  {25, kMessage, "functions", &kFunction}};
const MessageInfo kModel{"Model", kModelFields};

enum WireType : uint32_t { kWireVarint = 0, kWire64 = 1, kWireBytes = 2, kWire32 = 5 };

bool fits(FieldKind kind, uint32_t wire) {
  switch (kind) {
    case kVarint:
      return wire == kWireVarint;
    case kFixed32:
      return wire == kWire32;
    case kFixed64:
      return wire == kWire64;
    case kBytes:
    case kMessage:
      return wire == kWireBytes;
    case kVarints:  // lists stand in one field, or in a field for every element
      return wire == kWireBytes || wire == kWireVarint;
    case kFixed32s:
      return wire == kWireBytes || wire == kWire32;
    case kFixed64s:
      return wire == kWireBytes || wire == kWire64;
  }
  return false;
}

class WireCheck {
 public:
  WireCheck(ByteSpan bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  Status run(const MessageInfo& message) {
    GE_TRY(check_message(message, bytes_.size(), 0));
    // What the graph takes is mostly fixed per message and text; real models stay far below: about 12 times
    // the bytes of a chain of small nodes, and a million nodes take some 400 MiB.
    const size_t size = bytes_.size();
    if (cost_ > std::min(kMaxBlowUp * (size + kFreeBytes), 2 * size + kMostSmallParts))
      return fail(Code::document_limit)
          .say("the file's many small parts would take too much memory")
          .at(name_)
          .because("found " + std::to_string(bytes_.size()) + " bytes that take about " +
                   std::to_string(cost_ >> 20) + " MiB");
    return {};
  }

 private:
  static constexpr size_t kMessageCost = 160, kTextCost = 40, kNumberCost = 8;
  static constexpr size_t kMaxBlowUp = 20, kFreeBytes = 2 << 20, kMostSmallParts = size_t{1} << 29;

  Diagnostic fault(size_t offset, const std::string& text) const {
    return fail(Code::onnx_syntax)
        .at(name_ + ":byte " + std::to_string(offset))
        .because(text)
        .try_("the file is damaged, cut off, or no ONNX model: fetch or export it again");
  }

  Result<uint64_t> varint(size_t end) {
    uint64_t value = 0;
    const size_t start = at_;
    for (int shift = 0; shift < 70; shift += 7) {
      if (at_ >= end) return fault(start, "a number runs past the end of what holds it");
      const auto byte = static_cast<uint64_t>(bytes_[at_++]);
      if (shift < 64) value |= (byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    return fault(start, "a number has more than 10 bytes");
  }

  // "Node.input": made only where a fault is told.
  struct Label {
    const MessageInfo& message;
    const FieldInfo* field;
    uint64_t number;
    std::string text() const {
      return std::string(message.name) + "." +
             (field ? std::string(field->name) : "field " + std::to_string(number));
    }
  };

  Status skip(size_t count, size_t end, const Label& what) {
    if (count > end - at_)
      return fault(at_, what.text() + " needs " + std::to_string(count) + " bytes, " +
                            std::to_string(end - at_) + " are left");
    at_ += count;
    return {};
  }

  Status check_message(const MessageInfo& message, size_t end, int depth) {
    if (depth > kMaxWireDepth)
      return fail(Code::document_limit)
          .say("the model's parts nest too deep")
          .at(name_ + ":byte " + std::to_string(at_))
          .because("found more than " + std::to_string(kMaxWireDepth) + " levels");
    cost_ += kMessageCost;
    uint32_t seen = 0;  // of fields that stand once, whose numbers are below 32
    while (at_ < end) GE_TRY(check_field(message, end, depth, seen));
    return {};
  }

  Status check_field(const MessageInfo& message, size_t end, int depth, uint32_t& seen) {
    const size_t start = at_;
    GE_ASSIGN(const uint64_t tag, varint(end));
    const uint64_t number = tag >> 3;
    const auto wire = static_cast<uint32_t>(tag & 7);
    if (number == 0 || number > 0x1fffffff)
      return fault(start, "field number " + std::to_string(number) + " in " + std::string(message.name));
    const FieldInfo* field = nullptr;
    for (const FieldInfo& f : message.fields) field = f.number == number ? &f : field;
    const Label what{message, field, number};
    if (field && !fits(field->kind, wire))
      return fault(start, what.text() + " has wire type " + std::to_string(wire));
    if (field && field->once) {
      const uint32_t bit = uint32_t{1} << number;
      if ((seen & bit) != 0)
        return fault(start, what.text() + " stands twice")
            .try_(
                "other readers make one of the two: write the model again with one (onnx.save of onnx.load "
                "does)");
      seen |= bit;
    }
    switch (wire) {
      case kWireVarint: {
        cost_ += field ? kNumberCost : 0;
        GE_ASSIGN(const uint64_t value, varint(end));
        (void)value;
        return {};
      }
      case kWire64:
        return skip(8, end, what);
      case kWire32:
        return skip(4, end, what);
      case kWireBytes: {
        GE_ASSIGN(const uint64_t size, varint(end));
        return check_block(what, size, end, depth);
      }
      default:
        return fault(start, what.text() + " has wire type " + std::to_string(wire));
    }
  }

  Status check_block(const Label& what, uint64_t size, size_t end, int depth) {
    if (size > end - at_)
      return fault(at_, what.text() + " needs " + std::to_string(size) + " bytes, " +
                            std::to_string(end - at_) + " are left");
    const size_t stop = at_ + static_cast<size_t>(size);
    const FieldInfo* field = what.field;
    if (field && field->kind == kMessage) return check_message(*field->message, stop, depth + 1);
    if (field && field->kind == kVarints) {
      while (at_ < stop) {
        GE_ASSIGN(const uint64_t value, varint(stop));
        (void)value;
        cost_ += kNumberCost;
      }
    }
    const size_t element = !field ? 1 : field->kind == kFixed32s ? 4 : field->kind == kFixed64s ? 8 : 1;
    if (size % element != 0)
      return fault(at_, what.text() + " has " + std::to_string(size) + " bytes, a multiple of " +
                            std::to_string(element) + " is needed");
    cost_ += kTextCost;
    at_ = stop;
    return {};
  }

  ByteSpan bytes_;
  const std::string& name_;
  size_t at_ = 0;
  size_t cost_ = 0;
};

}  // namespace

const MessageInfo& model_message() {
  return kModel;
}
const MessageInfo& tensor_message() {
  return kTensor;
}

Status check_wire(ByteSpan bytes, const MessageInfo& message, const std::string& display_name) {
  return WireCheck(bytes, display_name).run(message);
}

}  // namespace ge::onnx_wire
