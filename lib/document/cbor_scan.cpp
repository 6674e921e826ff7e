// One pass over CBOR with an explicit stack. See cbor_scan.h.
#include "document/cbor_scan.h"

#include <cstdio>
#include <vector>

#include "document/utf8.h"

namespace ge {
namespace {

enum Major : uint8_t { kUnsigned, kNegative, kBytes, kText, kArray, kMap, kTag, kSimple };

struct Container {
  uint64_t remaining;  // items; a map's keys and values count apart
  bool indefinite;
  bool map;
  bool at_key;
};

struct Head {
  Major major = kUnsigned;
  uint8_t info = 0;
  uint64_t argument = 0;
};

class Scanner {
 public:
  Scanner(ByteSpan bytes, const std::string& name, const DocumentLimits& limits)
      : bytes_(bytes), name_(name), limits_(limits) {}

  Status scan() {
    do {
      GE_TRY(item());
    } while (!open_.empty());
    if (at_ != bytes_.size()) {
      return wrong(std::to_string(bytes_.size() - at_) + " bytes follow the end of the value");
    }
    return {};
  }

 private:
  size_t left() const { return bytes_.size() - at_; }

  Diagnostic fault(Code code, std::string message, std::string found) const {
    char place[32];
    std::snprintf(place, sizeof place, "+0x%zx", start_);
    return fail(code).say(std::move(message)).at(name_ + place).because(std::move(found));
  }
  Diagnostic wrong(std::string found) const {
    return fault(Code::json_syntax, "not valid CBOR", std::move(found));
  }

  // The initial byte and its argument.
  Result<Head> head() {
    start_ = at_;
    if (left() == 0) return wrong("the bytes end where a value should start");
    const auto initial = static_cast<uint8_t>(bytes_[at_++]);
    Head head{static_cast<Major>(initial >> 5), static_cast<uint8_t>(initial & 31),
              static_cast<uint64_t>(initial & 31)};
    if (head.info >= 28 && head.info <= 30) return wrong("reserved initial byte " + std::to_string(initial));
    if (head.info < 24 || head.info == 31) return head;
    const size_t size = size_t{1} << (head.info - 24);
    if (left() < size) return wrong("the bytes end inside a value");
    head.argument = 0;
    for (size_t i = 0; i < size; ++i)
      head.argument = head.argument << 8 | static_cast<uint8_t>(bytes_[at_++]);
    return head;
  }

  Status item() {
    GE_ASSIGN(const Head head, this->head());
    if (head.major == kSimple && head.info == 31) return close_indefinite();
    if (!open_.empty() && open_.back().map && open_.back().at_key && head.major != kText) {
      return wrong("a key must be text");
    }
    const bool key = !open_.empty() && open_.back().map && open_.back().at_key;
    if (!key && ++nodes_ > limits_.max_nodes) {
      return fault(Code::document_limit, "document holds too many values",
                   "more than the allowed " + std::to_string(limits_.max_nodes));
    }
    switch (head.major) {
      case kUnsigned:
      case kNegative:
        return integer(head);
      case kBytes:
      case kText:
        return string(head);
      case kArray:
      case kMap:
        return container(head);
      case kTag:
        return wrong("tags are not supported");
      case kSimple:
        return simple(head);
    }
    return wrong("unknown major type");
  }

  Status integer(const Head& head) {
    if (head.info == 31) return wrong("an integer without a value");
    if (head.major == kNegative && head.argument >> 63) return wrong("integer does not fit in 64 bits");
    return complete();
  }

  Status string(const Head& head) {
    if (head.info == 31) return wrong("strings of indefinite length are not supported");
    if (head.argument > left()) {
      return wrong("a string claims " + std::to_string(head.argument) + " bytes, " + std::to_string(left()) +
                   " are left");
    }
    const auto size = static_cast<size_t>(head.argument);
    if (head.major == kText && !valid_utf8(as_text(bytes_.subspan(at_, size))))
      return wrong("text is not UTF-8");
    at_ += size;
    return complete();
  }

  Status container(const Head& head) {
    const bool map = head.major == kMap;
    const bool indefinite = head.info == 31;
    // Every item takes a byte at least.
    if (!indefinite && head.argument > (map ? left() / 2 : left())) {
      return wrong((map ? "a map claims " : "an array claims ") + std::to_string(head.argument) +
                   " entries, " + std::to_string(left()) + " bytes are left");
    }
    if (static_cast<int>(open_.size()) >= limits_.max_depth) {
      return fault(Code::document_limit, "document is nested too deeply",
                   "more than the allowed " + std::to_string(limits_.max_depth) + " levels");
    }
    const uint64_t items = indefinite ? 0 : head.argument * (map ? 2 : 1);
    if (items == 0 && !indefinite) return complete();
    open_.push_back({items, indefinite, map, map});
    return {};
  }

  Status simple(const Head& head) {
    const bool literal = head.info >= 20 && head.info <= 22;  // false, true, null
    const bool number = head.info >= 25 && head.info <= 27;
    if (!literal && !number)
      return wrong("simple value " + std::to_string(head.argument) + " is not supported");
    return complete();
  }

  Status close_indefinite() {
    if (open_.empty() || !open_.back().indefinite)
      return wrong("a break outside a container of indefinite length");
    if (open_.back().map && !open_.back().at_key) return wrong("a key without a value");
    open_.pop_back();
    return complete();
  }

  // A value has ended: so may the containers that it completes.
  Status complete() {
    while (!open_.empty()) {
      Container& top = open_.back();
      if (top.map) top.at_key = !top.at_key;
      if (top.indefinite || --top.remaining > 0) break;
      open_.pop_back();
    }
    return {};
  }

  ByteSpan bytes_;
  const std::string& name_;
  const DocumentLimits& limits_;
  size_t at_ = 0;
  size_t start_ = 0;  // of the item being read
  int64_t nodes_ = 0;
  std::vector<Container> open_;
};

}  // namespace

Status scan_cbor(ByteSpan bytes, const std::string& name, const DocumentLimits& limits) {
  return Scanner(bytes, name, limits).scan();
}

}  // namespace ge
