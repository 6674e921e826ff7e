// Makes a Document's index while its text is scanned, and holds the limits. Private to lib/document: both
// scans and the builder end here. Entry: DocumentSink. Invariant: once a call returned false, finish() says
// why and the scan must stop. Offsets are bytes of the text; it is well-formed up to the one last given.
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "document/tree.h"

namespace ge {

// Before a text is scanned: document_limit where it is longer than the limits, or offsets, allow.
Status check_length(ByteSpan text, const std::string& name, const DocumentLimits& limits,
                    std::string fix = "");

class DocumentSink {
 public:
  DocumentSink(DocumentForm form, std::string_view text, std::string name, const DocumentLimits& limits);

  // Events; `offset` is where the token starts, for end() one past it.
  bool scalar(size_t offset, bool is_string = false);
  bool key(size_t offset);
  bool begin(bool object, size_t offset);
  bool end(size_t offset);
  bool is_open() const { return !open_.empty(); }
  bool in_object() const { return open_.back().object; }

  // Stops with a fault at `offset`.
  bool stop(Code code, std::string message, std::string found, size_t offset, std::string fix = "");
  bool faultless() const { return errors_.empty(); }

  Result<Document> finish();

  Document& document() { return document_; }

 private:
  struct Open {
    uint32_t start;
    uint32_t covered;  // bytes that a walk over it needs not visit, as skips know where they end
    uint32_t first_key;
    bool object;
  };
  bool count(size_t offset);
  bool tell_duplicates(size_t at_least);
  int compare_keys(uint32_t a, uint32_t b) const;  // their texts

  Document document_;
  DocumentLimits limits_;
  ErrorList errors_;
  int64_t nodes_ = 0;
  std::vector<Open> open_;     // outermost first
  std::deque<uint32_t> keys_;  // where those of the open objects stand; a deque grows without a second copy
};

}  // namespace ge
