// Turns parse events into a Document, holding the limits. Private to lib/document: both readers and the
// builder end here. Entry: DocumentSink. Invariant: once a call returned false, error() says why and the
// parse must stop.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "document/tree.h"

namespace ge {

class DocumentSink {
 public:
  // `input_bytes` is the length of what is read: all texts of the document together have no more.
  DocumentSink(std::string name, const DocumentLimits& limits, size_t input_bytes);

  // Line and column for JSON: call before the first event.
  void index_lines(std::string_view text);

  // Events; `offset` is where the token starts. False: stop.
  bool scalar(ValueKind kind, uint64_t payload, int64_t offset);
  bool text(ValueKind kind, std::string_view bytes, int64_t offset);  // kString, kBinary
  bool key(const std::string& text, int64_t offset);
  bool begin(ValueKind kind, int64_t offset);  // kArray, kObject
  bool end();

  // Stops with a fault at `offset`.
  bool stop(Code code, std::string message, std::string found, int64_t offset, std::string fix = "");
  bool stopped() const { return stopped_; }

  Result<Document> finish();

 private:
  void append_to_pool(std::string_view text);
  bool add(ValueKind kind, uint64_t payload, int64_t offset);
  void find_duplicates(uint32_t object);
  std::string place(int64_t offset) const;

  Document document_;
  DocumentLimits limits_;
  size_t input_bytes_;
  ErrorList errors_;
  bool stopped_ = false;
  std::vector<uint32_t> open_;  // containers, outermost first
  std::unordered_map<std::string, uint32_t> key_ids_;
  uint32_t pending_key_ = 0;
  uint32_t pending_key_offset_ = 0;
  std::vector<std::pair<uint32_t, uint32_t>> scratch_;  // key, node: of the object being closed
};

}  // namespace ge
