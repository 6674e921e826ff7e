// CBOR, scanned once with an explicit stack. Entry: parse_cbor.
#include <vector>

#include "document/cbor_bytes.h"
#include "document/document_sink.h"
#include "document/utf8.h"

namespace ge {
namespace {

using namespace cbor;

class CborScan {
 public:
  CborScan(std::string_view bytes, DocumentSink& sink) : bytes_(bytes), sink_(sink) {}

  // False where the sink was told of a fault.
  bool run() {
    do {
      if (!item()) return false;
    } while (!open_.empty());
    start_ = at_;
    return at_ == bytes_.size() || wrong(std::to_string(left()) + " bytes follow the end of the value");
  }

 private:
  struct Container {
    uint64_t remaining;  // items; a map's keys and values count apart
    bool indefinite;
    bool map;
    bool at_key;
  };
  size_t left() const { return bytes_.size() - at_; }
  bool wrong(std::string found) {
    return sink_.stop(Code::json_syntax, "not valid CBOR", std::move(found), start_);
  }

  bool head(Head& head) {
    start_ = at_;
    if (left() == 0) return wrong("the bytes end where a value should start");
    const auto initial = static_cast<uint8_t>(bytes_[at_]);
    const int info = initial & 31;
    if (info >= 28 && info <= 30) return wrong("reserved initial byte " + std::to_string(initial));
    if (info >= 24 && info < 28 && left() < 1 + (size_t{1} << (info - 24)))
      return wrong("the bytes end inside a value");
    head = head_at(bytes_, at_);
    at_ += head.size;
    return true;
  }

  bool item() {
    Head head;
    if (!this->head(head)) return false;
    if (head.major == kSimple && head.info == kIndefinite) return close_indefinite();
    const bool key = !open_.empty() && open_.back().map && open_.back().at_key;
    if (key && head.major != kText) return wrong("a key must be text");
    switch (head.major) {
      case kUnsigned:
      case kNegative:
        if (head.info == kIndefinite) return wrong("an integer without a value");
        if (head.major == kNegative && head.argument >> 63) return wrong("integer does not fit in 64 bits");
        return sink_.scalar(start_) && complete();
      case kBytes:
      case kText:
        return string(head) && (key ? sink_.key(start_) : sink_.scalar(start_, head.major == kText)) &&
               complete();
      case kArray:
      case kMap:
        return container(head);
      case kTag:
        return wrong("tags are not supported");
      case kSimple:
        return simple(head) && sink_.scalar(start_) && complete();
    }
    return wrong("unknown major type");
  }

  bool string(const Head& head) {
    if (head.info == kIndefinite) return wrong("strings of indefinite length are not supported");
    if (head.argument > left()) {
      return wrong("a string claims " + std::to_string(head.argument) + " bytes, " + std::to_string(left()) +
                   " are left");
    }
    const auto size = static_cast<size_t>(head.argument);
    if (head.major == kText && !valid_utf8(bytes_.substr(at_, size))) return wrong("text is not UTF-8");
    at_ += size;
    return true;
  }

  bool container(const Head& head) {
    const bool map = head.major == kMap;
    const bool indefinite = head.info == kIndefinite;
    // Every item takes a byte at least.
    if (!indefinite && head.argument > (map ? left() / 2 : left())) {
      return wrong((map ? "a map claims " : "an array claims ") + std::to_string(head.argument) +
                   " entries, " + std::to_string(left()) + " bytes are left");
    }
    if (!sink_.begin(map, start_)) return false;
    const uint64_t items = indefinite ? 0 : head.argument * (map ? 2 : 1);
    if (items == 0 && !indefinite) return sink_.end(at_) && complete();
    open_.push_back({items, indefinite, map, map});
    return true;
  }

  bool simple(const Head& head) {
    const bool literal = head.info >= 20 && head.info <= 22;  // false, true, null
    const bool number = head.info >= 25 && head.info <= 27;
    return literal || number || wrong("simple value " + std::to_string(head.argument) + " is not supported");
  }

  bool close_indefinite() {
    if (open_.empty() || !open_.back().indefinite)
      return wrong("a break outside a container of indefinite length");
    if (open_.back().map && !open_.back().at_key) return wrong("a key without a value");
    open_.pop_back();
    return sink_.end(at_) && complete();
  }

  // An item has ended: so may the containers that it completes.
  bool complete() {
    while (!open_.empty()) {
      Container& top = open_.back();
      if (top.map) top.at_key = !top.at_key;
      if (top.indefinite || --top.remaining > 0) break;
      open_.pop_back();
      if (!sink_.end(at_)) return false;
    }
    return true;
  }

  std::string_view bytes_;
  DocumentSink& sink_;
  size_t at_ = 0;
  size_t start_ = 0;  // of the item being read
  std::vector<Container> open_;
};

}  // namespace

Result<Document> parse_cbor(ByteSpan bytes, std::string name, DocumentLimits limits) {
  GE_TRY(check_length(bytes, name, limits));
  try {
    DocumentSink sink(DocumentForm::kCbor, as_text(bytes), name, limits);
    CborScan(as_text(bytes), sink).run();
    return sink.finish();
  } catch (const std::bad_alloc&) {
    return fail(Code::out_of_memory).say("out of memory while reading '" + name + "'").at(name);
  }
}

}  // namespace ge
