// A parsed JSON or CBOR document as a flat, read-only tree that remembers where each value stood.
// Entry: parse_json, parse_cbor -> Document; Document::root() -> Value, a cheap handle to walk it.
// Invariant: nodes are in pre-order, keys of an object are unique and in the document's order, depth and
// counts are within the limits.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"
#include "document/chunked.h"

namespace ge {

struct DocumentLimits {
  int max_depth = 100;                   // containers inside containers; at most 1000
  int64_t max_nodes = 64 << 20;          // values of any kind; at most 2^28 - 1
  int64_t max_bytes = int64_t{1} << 30;  // of text; at most 2^32 - 1
};

enum class ValueKind : uint8_t { kNull, kBool, kInt64, kUint64, kDouble, kString, kBinary, kArray, kObject };
std::string_view name_of(ValueKind kind);  // "null", "a boolean", "an integer", "a number", "a string",
                                           // "bytes", "an array", "an object"

struct Position {
  int64_t line = 1;    // from 1
  int64_t column = 1;  // from 1, in code points
};

class Document;

// A node of a Document; valid while the Document lives (moving the Document invalidates it).
class Value {
 public:
  ValueKind kind() const;
  bool is_null() const { return kind() == ValueKind::kNull; }
  bool is_bool() const { return kind() == ValueKind::kBool; }
  bool is_integer() const { return kind() == ValueKind::kInt64 || kind() == ValueKind::kUint64; }
  bool is_number() const { return is_integer() || kind() == ValueKind::kDouble; }
  bool is_string() const { return kind() == ValueKind::kString; }
  bool is_binary() const { return kind() == ValueKind::kBinary; }
  bool is_array() const { return kind() == ValueKind::kArray; }
  bool is_object() const { return kind() == ValueKind::kObject; }

  // nullopt where the kind is another or the value does not fit. 1.0 is not an integer.
  std::optional<bool> as_bool() const;
  std::optional<int64_t> as_int64() const;
  std::optional<uint64_t> as_uint64() const;
  std::optional<double> as_double() const;  // any number; integers past 2^53 round
  std::optional<std::string_view> as_string() const;
  std::optional<ByteSpan> as_binary() const;

  int64_t size() const;          // children of an array or object; 0 for the rest
  std::string_view key() const;  // this member's key; "" where the parent is no object
  std::optional<Value> find(std::string_view key) const;  // a member of an object; linear
  Value at(int64_t index) const;  // child; O(1) where all children before it are scalars, else linear

  // for (Value child : value) ...; over what find() returned, for (Value child : x.find("k")->children()): a
  // range-for does not keep the optional that `*x.find("k")` refers into.
  class Iterator {
   public:
    Value operator*() const { return Value(document_, node_); }
    Iterator& operator++();
    bool operator!=(const Iterator& o) const { return node_ != o.node_; }
    bool operator==(const Iterator& o) const { return node_ == o.node_; }

   private:
    friend class Value;
    Iterator(const Document* document, uint32_t node) : document_(document), node_(node) {}
    const Document* document_;
    uint32_t node_;
  };
  Iterator begin() const;
  Iterator end() const;
  struct Children {
    Iterator first, last;
    Iterator begin() const { return first; }
    Iterator end() const { return last; }
  };
  Children children() const { return {begin(), end()}; }

  uint32_t node() const { return node_; }
  const Document& document() const { return *document_; }
  Position position() const;      // start of the value
  Position key_position() const;  // start of its key; of the value where it has none
  std::string pointer() const;    // "/nodes/3/attributes/axis", "" for the root
  std::string place() const;      // "graph.json:14:37"
  std::string key_place() const;
  std::string describe() const;  // what was found, short: `"abc"`, `4`, `an object`

 private:
  friend class Document;
  Value(const Document* document, uint32_t node) : document_(document), node_(node) {}
  const Document* document_;
  uint32_t node_;
};

class Document {
 public:
  Value root() const { return Value(this, 0); }
  const std::string& name() const { return name_; }
  int64_t node_count() const { return static_cast<int64_t>(nodes_.size()); }

  // Node numbers are Value::node().
  Position position(uint32_t node) const;
  Position key_position(uint32_t node) const;
  int64_t byte_offset(uint32_t node) const { return nodes_[node].offset; }
  std::string pointer(uint32_t node) const;
  Position position_of_byte(int64_t offset) const;
  std::string place_of_byte(
      int64_t offset) const;  // "graph.json:14:37"; "name+0x1f" for CBOR; the name for built documents
  bool has_positions() const { return !line_starts_.empty(); }  // JSON only

 private:
  friend class Value;
  friend class DocumentSink;
  friend class DocumentBuilder;
  friend class DocumentWriter;
  struct Node {
    uint64_t
        payload;   // number bits; containers: child count; strings and bytes: offset << 32 | length in pool_
    uint32_t end;  // one past the last node of this subtree
    uint32_t offset;      // of the value, in bytes
    uint32_t key_offset;  // of the key, in bytes
    uint32_t kind : 4;    // ValueKind, or kFloat32Tag for a double that prints as the float it is
    uint32_t key : 28;    // in keys_; 0 is "no key"
  };
  static constexpr uint32_t kFloat32Tag = 15;
  std::string_view pool_text(uint64_t payload) const {
    return std::string_view(pool_).substr(payload >> 32, payload & 0xffffffffu);
  }
  std::string name_;
  bool built_ = false;  // by DocumentBuilder: offsets mean nothing
  Chunked<Node> nodes_;
  std::vector<std::pair<uint32_t, uint32_t>> keys_;  // distinct keys: offset and length in pool_
  std::string pool_;
  Chunked<uint32_t> line_starts_;    // byte offsets; JSON only
  Chunked<uint32_t> continuations_;  // byte offsets of UTF-8 continuation bytes, which columns do not count
};

// JSON (RFC 8259) with // and /* */ comments. `name` stands in places. All duplicate keys are told at once.
// Errors: json_syntax (also for integers outside int64 and uint64, numbers past double, bad UTF-8),
// empty_file, document_limit, duplicate_key; each with line and column.
Result<Document> parse_json(ByteSpan text, std::string name, DocumentLimits limits = {});

// CBOR (RFC 8949) of the JSON kinds plus byte strings; keys are text; no tags, no indefinite-length strings,
// nothing after the value. Memory is bounded by a small multiple of the input whatever lengths it claims.
// Errors: json_syntax, document_limit, duplicate_key, with byte offset.
Result<Document> parse_cbor(ByteSpan bytes, std::string name = "cbor", DocumentLimits limits = {});

}  // namespace ge
