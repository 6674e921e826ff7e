// A JSON or CBOR document, read where it stands: an index over its text, which stays the caller's. Entry:
// parse_json, parse_cbor -> Document; Document::root() -> Value, a cheap handle to walk it.
// Invariant: the whole text was checked before the first Value is given (well-formed, keys of an object
// unique, depth and counts within the limits); values are decoded when they are asked for, and the index
// takes a fraction of the text's bytes (docs/adr/0015-documents-stay-text.md).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"

namespace ge {

struct DocumentLimits {
  int max_depth = 100;                   // containers inside containers; at most 1000
  int64_t max_nodes = 64 << 20;          // values of any kind
  int64_t max_bytes = int64_t{1} << 30;  // of text; at most kMostDocumentBytes: longer texts are refused
};

enum class ValueKind : uint8_t { kNull, kBool, kInt64, kUint64, kDouble, kString, kBinary, kArray, kObject };
std::string_view name_of(ValueKind kind);  // "null", "a boolean", "an integer", "a number", "a string",
                                           // "bytes", "an array", "an object"

// What offsets fit.
inline constexpr int64_t kMostDocumentBytes = int64_t{UINT32_MAX} - 1;

struct Position {
  int64_t line = 1;    // from 1
  int64_t column = 1;  // from 1, in code points
};

struct Number {
  ValueKind kind;  // kInt64, kUint64 (past int64's range only), kDouble
  uint64_t bits;   // of that
};

class Document;
enum class DocumentForm : uint8_t { kJson, kCbor, kBuilt };  // built ones are CBOR of their own

// A value of a Document; valid while the Document and its text live (moving the Document invalidates it).
class Value {
 public:
  ValueKind kind() const;
  bool is_null() const { return rough_kind() == ValueKind::kNull; }
  bool is_bool() const { return rough_kind() == ValueKind::kBool; }
  bool is_integer() const;
  bool is_number() const { return rough_kind() == ValueKind::kDouble; }
  bool is_string() const { return rough_kind() == ValueKind::kString; }
  bool is_binary() const { return rough_kind() == ValueKind::kBinary; }
  bool is_array() const { return rough_kind() == ValueKind::kArray; }
  bool is_object() const { return rough_kind() == ValueKind::kObject; }

  // nullopt where the kind is another or the value does not fit. 1.0 is not an integer. A number is read anew
  // by each: number() reads it once.
  std::optional<Number> number() const;
  std::optional<bool> as_bool() const;
  std::optional<int64_t> as_int64() const;
  std::optional<uint64_t> as_uint64() const;
  std::optional<double> as_double() const;  // any number; integers past 2^53 round
  std::optional<std::string> as_string() const;
  std::optional<std::string_view> plain_string() const;  // a string that has no escapes, not copied
  std::optional<ByteSpan> as_binary() const;
  bool is_float() const;  // a double that was built from a float, and prints as that

  bool is_empty() const;                     // no children
  int64_t size() const;                      // children of an array or object, counted; 0 for the rest
  std::string key() const;                   // this member's key; "" where the parent is no object
  std::string shown_key() const;             // for a message: shortened()
  bool key_is(std::string_view text) const;  // without making it
  std::optional<Value> find(std::string_view key) const;  // a member of an object; linear
  Value at(int64_t index) const;                          // child; linear

  // for (Value child : value) ...; over what find() returned, for (Value child : x.find("k")->children()): a
  // range-for does not keep the optional that `*x.find("k")` refers into.
  class Iterator {
   public:
    Value operator*() const { return Value(document_, at_, key_); }
    Iterator& operator++();
    bool operator!=(const Iterator& o) const { return at_ != o.at_; }
    bool operator==(const Iterator& o) const { return at_ == o.at_; }

   private:
    friend class Document;
    friend class Value;
    Iterator(const Document* document, bool in_object, uint32_t at)
        : document_(document), at_(at), in_object_(in_object) {}
    void enter(size_t at);  // the child, or the end, that starts there
    const Document* document_;
    uint32_t at_;  // of the child; kNowhere at the end
    uint32_t key_ = UINT32_MAX;
    uint64_t left_ = UINT64_MAX;  // CBOR: children from here on, where that is known
    size_t skip_ = 0;             // of the document's: none before it is needed from here on
    bool in_object_;
  };
  Iterator begin() const;
  Iterator end() const;
  struct Children {
    Iterator first, last;
    Iterator begin() const { return first; }
    Iterator end() const { return last; }
  };
  Children children() const { return {begin(), end()}; }

  const Document& document() const { return *document_; }
  int64_t byte_offset() const { return at_; }  // of the value in the text
  Position position() const;                   // start of the value
  Position key_position() const;               // start of its key; of the value where it has none
  std::string pointer() const;                 // "/nodes/3/attributes/axis", "" for the root
  std::string place() const;                   // "graph.json:14:37"
  std::string key_place() const;
  std::string describe() const;  // what was found, short: `"abc"`, `4`, `an object`

 private:
  friend class Document;
  static constexpr uint32_t kNowhere = UINT32_MAX;
  Value(const Document* document, uint32_t at, uint32_t key = kNowhere)
      : document_(document), at_(at), key_(key) {}
  ValueKind rough_kind() const;  // of numbers kDouble
  uint32_t key_offset() const { return key_ == kNowhere ? at_ : key_; }
  const Document* document_;
  uint32_t at_, key_;  // where they stand in the text
};

class Document {
 public:
  Value root() const { return Value(this, root_); }
  const std::string& name() const { return name_; }
  // How many there are, keys not counted: what is made of a document grows with them.
  int64_t objects() const { return objects_; }
  int64_t strings() const { return strings_; }
  Position position_of_byte(int64_t offset) const;
  // "graph.json:14:37"; "name+0x1f" for CBOR; the name for built documents
  std::string place_of_byte(int64_t offset) const;

 private:
  friend class Value;
  friend class DocumentSink;
  friend class DocumentBuilder;
  // A container that takes long to walk over.
  struct Skip {
    uint32_t start, end;
    bool operator<(const Skip& o) const { return start < o.start; }
  };
  // Where a block of the text starts, for JSON.
  struct Mark {
    uint32_t line, column;
  };
  static constexpr size_t kMarkBytes = 512;

  std::string_view text() const { return form_ == DocumentForm::kBuilt ? std::string_view(own_) : text_; }
  void mark_lines();
  ValueKind rough_kind_at(uint32_t at) const;
  std::optional<Number> number_at(uint32_t at) const;
  std::string string_at(uint32_t at, size_t most = SIZE_MAX) const;  // its first bytes: `most`, or a few more
  void append_string(uint32_t at, std::string& out, size_t most = SIZE_MAX) const;
  std::string shown_at(uint32_t at) const;
  // The string as it stands in the text; nullopt where it has escapes.
  std::optional<std::string_view> plain_at(uint32_t at) const;
  Value::Iterator first_child(uint32_t container) const;
  uint32_t end_of(uint32_t at, size_t& skip) const;  // one past the value
  uint32_t skipped(uint32_t at, size_t& skip) const;
  // "/key" or "/3": the step from a container to its child that is, or holds, the value at `target`. Returns
  // where the child starts.
  uint32_t append_step(uint32_t container, uint32_t target, std::string& pointer) const;
  void append_key(uint32_t key, std::string& pointer) const;
  std::string pointer(uint32_t at) const;

  // Where append_step last was, far down a container: faults are told in the text's order, each by the way to
  // it. So one thread at a time may ask a Document's Values for their pointer.
  struct Far {
    uint32_t container = UINT32_MAX, child = 0, key = 0;
    uint64_t left = 0;
    int64_t index = 0;
  };
  mutable Far far_;
  std::string name_;
  std::string_view text_;
  std::string own_;
  DocumentForm form_ = DocumentForm::kJson;
  uint32_t root_ = 0;
  int64_t objects_ = 0, strings_ = 0;
  std::vector<Skip> skips_;  // by start
  std::vector<Mark> marks_;
};

// JSON (RFC 8259) with // and /* */ comments. `name` stands in places. `text` must outlive the Document. All
// duplicate keys are told at once. Memory: at most twice the text, whatever it holds.
// Errors: json_syntax (also for integers outside int64 and uint64, numbers past double, bad UTF-8),
// empty_file, document_limit, duplicate_key; each with line and column.
Result<Document> parse_json(ByteSpan text, std::string name, DocumentLimits limits = {});

// CBOR (RFC 8949) of the JSON kinds plus byte strings; keys are text; no tags, no indefinite-length strings,
// nothing after the value. `bytes` must outlive the Document. Memory: at most twice the input, whatever
// lengths it claims. Errors: json_syntax, document_limit, duplicate_key, with byte offset.
Result<Document> parse_cbor(ByteSpan bytes, std::string name = "cbor", DocumentLimits limits = {});

}  // namespace ge
