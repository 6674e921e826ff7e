// The messages of an ONNX file as views into its bytes. Entry: Model, Tensor. Invariant: the bytes have
// passed check_wire and outlive every view; nothing is allocated here, a list is walked each time it is asked
// for.
//
// Field numbers are the ONNX standard's (onnx.ai), as in wire_check.cpp. Where a field that holds one value
// stands more than once, its last holds. Texts are any bytes.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string_view>

namespace ge::onnx_wire {

// One field: number() of a varint or of fixed bits, bytes() of a block.
struct Field {
  uint32_t number = 0;
  bool is_block = false;
  uint64_t bits = 0;
  std::string_view bytes;
};

uint64_t take_varint(std::string_view& rest);
Field take_field(std::string_view& rest);

// The fields of one number, each made a T: a message, or a text.
template <class T>
class Repeated {
 public:
  class Iterator {
   public:
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    Iterator(std::string_view rest, uint32_t number) : rest_(rest), number_(number) { next(); }
    T operator*() const { return T(found_); }
    Iterator& operator++() {
      next();
      return *this;
    }
    void operator++(int) { next(); }
    bool operator==(std::default_sentinel_t) const { return done_; }

   private:
    void next() {
      while (!rest_.empty()) {
        const Field field = take_field(rest_);
        if (field.number != number_) continue;
        found_ = field.bytes;
        return;
      }
      done_ = true;
    }
    std::string_view rest_, found_;
    uint32_t number_ = 0;
    bool done_ = false;
  };
  Repeated(std::string_view message, uint32_t number) : message_(message), number_(number) {}
  Iterator begin() const { return {message_, number_}; }
  std::default_sentinel_t end() const { return {}; }
  int64_t size() const {  // a walk
    int64_t count = 0;
    for (auto i = begin(); i != end(); ++i) ++count;
    return count;
  }

 private:
  std::string_view message_;
  uint32_t number_;
};

// A list of numbers, each in a field of its own or many in one block: for_each gives every one as a T.
template <class T>
class Numbers {
 public:
  Numbers(std::string_view message, uint32_t number) : message_(message), number_(number) {}
  template <class Each>
  void for_each(Each&& each) const {
    for (std::string_view rest = message_; !rest.empty();) {
      Field field = take_field(rest);
      if (field.number != number_) continue;
      if (!field.is_block) each(from_bits(field.bits));
      while (!field.bytes.empty()) each(take(field.bytes));
    }
  }
  int64_t size() const {
    int64_t count = 0;
    for_each([&](T) { ++count; });
    return count;
  }
  template <class List>
  List list() const {
    List values;
    values.reserve(static_cast<size_t>(size()));
    for_each([&](T value) { values.push_back(value); });
    return values;
  }

 private:
  static T from_bits(uint64_t bits) {
    if constexpr (std::is_same_v<T, float>)
      return std::bit_cast<float>(static_cast<uint32_t>(bits));
    else if constexpr (std::is_same_v<T, double>)
      return std::bit_cast<double>(bits);
    else
      return static_cast<T>(bits);
  }
  static T take(std::string_view& block) {
    if constexpr (std::is_floating_point_v<T>) {
      T value;
      std::memcpy(&value, block.data(), sizeof(T));  // little-endian
      block.remove_prefix(sizeof(T));
      return value;
    } else {
      return static_cast<T>(take_varint(block));
    }
  }
  std::string_view message_;
  uint32_t number_;
};

class Message {
 public:
  Message() = default;
  explicit Message(std::string_view bytes) : bytes_(bytes) {}
  std::string_view bytes() const { return bytes_; }
  uint64_t field_count() const;  // known or not; a walk

 protected:
  std::optional<Field> last(uint32_t number) const;
  bool has(uint32_t number) const { return last(number).has_value(); }
  // Of fields of which one holds ("oneof"): the number of the one that stands last, 0 where none does.
  uint32_t last_of(std::initializer_list<uint32_t> numbers) const;
  std::string_view text(uint32_t number) const { return last(number).value_or(Field()).bytes; }
  int64_t integer(uint32_t number) const { return static_cast<int64_t>(last(number).value_or(Field()).bits); }
  template <class T>
  Repeated<T> all(uint32_t number) const {
    return {bytes_, number};
  }
  template <class T>
  Numbers<T> numbers(uint32_t number) const {
    return {bytes_, number};
  }

 private:
  std::string_view bytes_;
};

using Texts = Repeated<std::string_view>;

struct OperatorSet : Message {
  using Message::Message;
  std::string_view domain() const { return text(1); }
  int64_t version() const { return integer(2); }
};

struct KeyValue : Message {
  using Message::Message;
  std::string_view key() const { return text(1); }
  std::string_view value() const { return text(2); }
};

struct Dimension : Message {
  using Message::Message;
  bool has_value() const { return last_of({1, 2}) == 1; }
  int64_t value() const { return integer(1); }
  std::string_view symbol() const { return has_value() ? std::string_view() : text(2); }
};

struct Shape : Message {
  using Message::Message;
  Repeated<Dimension> dim() const { return all<Dimension>(1); }
};

struct TensorType : Message {
  using Message::Message;
  int32_t elem_type() const { return static_cast<int32_t>(integer(1)); }
  bool has_shape() const { return has(2); }  // no: the rank is unknown
  Shape shape() const { return Shape(text(2)); }
};

// One of these; only tensors are supported.
struct ValueType : Message {
  using Message::Message;
  bool has_tensor() const { return kind() == 1; }
  TensorType tensor() const { return TensorType(text(1)); }
  bool has_sequence() const { return kind() == 4; }
  bool has_map() const { return kind() == 5; }
  bool has_sparse_tensor() const { return kind() == 8; }
  bool has_optional_of() const { return kind() == 9; }

 private:
  uint32_t kind() const { return last_of({1, 4, 5, 8, 9}); }
};

struct ValueInfo : Message {
  using Message::Message;
  std::string_view name() const { return text(1); }
  ValueType type() const { return ValueType(text(2)); }
};

struct Tensor : Message {
  using Message::Message;
  Numbers<int64_t> dims() const { return numbers<int64_t>(1); }
  int32_t data_type() const { return static_cast<int32_t>(integer(2)); }
  bool has_segment() const { return has(3); }  // a part of a tensor that stands in several
  Numbers<float> float_data() const { return numbers<float>(4); }
  Numbers<int32_t> int32_data() const { return numbers<int32_t>(5); }
  Numbers<int64_t> int64_data() const { return numbers<int64_t>(7); }
  std::string_view name() const { return text(8); }
  bool has_raw_data() const { return has(9); }
  std::string_view raw_data() const { return text(9); }
  Numbers<double> double_data() const { return numbers<double>(10); }
  Numbers<uint64_t> uint64_data() const { return numbers<uint64_t>(11); }
  Repeated<KeyValue> external_data() const { return all<KeyValue>(13); }  // location, offset, length
  int32_t data_location() const { return static_cast<int32_t>(integer(14)); }
  bool is_external() const { return data_location() == 1; }
};

struct SparseTensor : Message {
  using Message::Message;
  Tensor values() const { return Tensor(text(1)); }
};

struct Graph;

// One field holds the value; `type` says which: kUnset where a file is older than that field. From kTensors
// on they are not read.
enum AttributeType : int {
  kUnset,
  kFloat,
  kInt,
  kString,
  kTensor,
  kGraph,
  kFloats,
  kInts,
  kStrings,
  kTensors,
  kGraphs,
  kSparse,
  kSparses,
  kType,
  kTypes
};
struct Attribute : Message {
  using Message::Message;
  std::string_view name() const { return text(1); }
  // Bit t: a field that holds an AttributeType t is there. A packed list of nothing is no value.
  uint32_t held_types() const;
  float f() const { return std::bit_cast<float>(static_cast<uint32_t>(integer(2))); }
  int64_t i() const { return integer(3); }
  std::string_view s() const { return text(4); }
  Tensor t() const { return Tensor(text(5)); }
  bool has_g() const { return has(6); }
  Graph g() const;
  Numbers<float> floats() const { return numbers<float>(7); }
  Numbers<int64_t> ints() const { return numbers<int64_t>(8); }
  Texts strings() const { return all<std::string_view>(9); }
  int32_t type() const { return static_cast<int32_t>(integer(20)); }
  std::string_view ref_attr_name() const {
    return text(21);
  }  // in functions: the call's attribute of this name
};

struct Node : Message {
  using Message::Message;
  Texts input() const { return all<std::string_view>(1); }  // "" is an absent optional one
  Texts output() const { return all<std::string_view>(2); }
  std::string_view name() const { return text(3); }
  std::string_view op_type() const { return text(4); }
  Repeated<Attribute> attribute() const { return all<Attribute>(5); }
  std::string_view domain() const { return text(7); }
  std::string_view overload() const { return text(8); }
};

// A function of the model's own: its body stands for every node of its domain and name.
struct Function : Message {
  using Message::Message;
  std::string_view name() const { return text(1); }
  Texts input() const { return all<std::string_view>(4); }
  Texts output() const { return all<std::string_view>(5); }
  Repeated<Node> node() const { return all<Node>(7); }
  Repeated<OperatorSet> opset_import() const { return all<OperatorSet>(9); }
  std::string_view domain() const { return text(10); }
  Repeated<Attribute> attribute_default() const { return all<Attribute>(11); }
  std::string_view overload() const { return text(13); }
};

struct Graph : Message {
  using Message::Message;
  Repeated<Node> node() const { return all<Node>(1); }
  std::string_view name() const { return text(2); }
  Repeated<Tensor> initializer() const { return all<Tensor>(5); }
  Repeated<ValueInfo> input() const { return all<ValueInfo>(11); }
  Repeated<ValueInfo> output() const { return all<ValueInfo>(12); }
  Repeated<ValueInfo> value_info() const {
    return all<ValueInfo>(13);
  }  // declared types of values in between
  Repeated<SparseTensor> sparse_initializer() const { return all<SparseTensor>(15); }
};

inline Graph Attribute::g() const {
  return Graph(text(6));
}

// The root of a .onnx file.
struct Model : Message {
  using Message::Message;
  bool has_ir_version() const { return has(1); }
  int64_t ir_version() const { return integer(1); }
  bool has_graph() const { return has(7); }
  Graph graph() const { return Graph(text(7)); }
  // "Nodes of this domain mean what the operators of this version mean."
  Repeated<OperatorSet> opset_import() const { return all<OperatorSet>(8); }
  Repeated<Function> functions() const { return all<Function>(25); }
};

}  // namespace ge::onnx_wire
