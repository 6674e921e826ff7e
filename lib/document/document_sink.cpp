// Parse events to nodes in pre-order; keys are stored once; duplicate keys are collected, everything else
// stops the parse.
#include "document/document_sink.h"

#include <algorithm>
#include <cstring>

namespace ge {
namespace {

constexpr int64_t kMostNodes = (int64_t{1} << 28) - 1;  // what a key number and a node number hold
constexpr size_t kMostDuplicates = 20;                  // told at once

}  // namespace

DocumentSink::DocumentSink(std::string name, const DocumentLimits& limits, size_t input_bytes)
    : limits_(limits), input_bytes_(input_bytes) {
  limits_.max_nodes = std::min(limits_.max_nodes, kMostNodes);
  limits_.max_depth = std::min(limits_.max_depth, 1000);
  document_.name_ = std::move(name);
  document_.keys_.emplace_back(0, 0);  // key 0: none
}

void DocumentSink::index_lines(std::string_view text) {
  document_.line_starts_.push_back(0);
  constexpr uint64_t kHighBits = 0x8080808080808080u;
  constexpr uint64_t kNewlines = 0x0a0a0a0a0a0a0a0au;
  constexpr uint64_t kOnes = 0x0101010101010101u;
  for (size_t i = 0; i < text.size();) {
    if (i + 8 <= text.size()) {  // eight plain bytes at a time
      uint64_t word;
      std::memcpy(&word, text.data() + i, 8);
      const uint64_t x = word ^ kNewlines;
      if (((word | ((x - kOnes) & ~x)) & kHighBits) == 0) {
        i += 8;
        continue;
      }
    }
    const size_t end = std::min(i + 8, text.size());
    for (; i < end; ++i) {
      const auto byte = static_cast<uint8_t>(text[i]);
      if (byte == '\n') document_.line_starts_.push_back(static_cast<uint32_t>(i + 1));
      // A byte order mark is no column either.
      if ((byte & 0xc0) == 0x80 || (i == 0 && byte == 0xef))
        document_.continuations_.push_back(static_cast<uint32_t>(i));
    }
  }
}

std::string DocumentSink::place(int64_t offset) const {
  return document_.place_of_byte(offset);
}

bool DocumentSink::stop(Code code, std::string message, std::string found, int64_t offset, std::string fix) {
  errors_.add(
      fail(code).say(std::move(message)).at(place(offset)).because(std::move(found)).try_(std::move(fix)));
  stopped_ = true;
  return false;
}

bool DocumentSink::add(ValueKind kind, uint64_t payload, int64_t offset) {
  Chunked<Document::Node>& nodes = document_.nodes_;
  if (static_cast<int64_t>(nodes.size()) >= limits_.max_nodes) {
    return stop(Code::document_limit, "document holds too many values",
                "more than the allowed " + std::to_string(limits_.max_nodes), offset,
                "keep large arrays in a tensor file beside it");
  }
  if (!open_.empty()) ++nodes[open_.back()].payload;
  Document::Node node{};
  node.payload = payload;
  node.end = static_cast<uint32_t>(nodes.size() + 1);
  node.offset = static_cast<uint32_t>(offset);
  node.key_offset = pending_key_ ? pending_key_offset_ : node.offset;
  node.kind = static_cast<uint32_t>(kind);
  node.key = pending_key_;
  pending_key_ = 0;
  nodes.push_back(node);
  return true;
}

bool DocumentSink::scalar(ValueKind kind, uint64_t payload, int64_t offset) {
  return add(kind, payload, offset);
}

// Texts that are many, or long, get room for all there can be: growing would take three times that.
void DocumentSink::append_to_pool(std::string_view text) {
  constexpr size_t kSmall = 64 << 10;
  std::string& pool = document_.pool_;
  const size_t needed = pool.size() + text.size();
  if (needed > kSmall && needed > pool.capacity()) pool.reserve(std::max(needed, input_bytes_));
  pool.append(text);
}

bool DocumentSink::text(ValueKind kind, std::string_view bytes, int64_t offset) {
  const uint64_t at = document_.pool_.size();
  append_to_pool(bytes);  // no longer than the document, so 32 bits hold both
  return add(kind, at << 32 | bytes.size(), offset);
}

bool DocumentSink::key(const std::string& text, int64_t offset) {
  const auto next = static_cast<uint32_t>(document_.keys_.size());
  const auto [entry, added] = key_ids_.try_emplace(text, next);
  if (added) {
    document_.keys_.emplace_back(static_cast<uint32_t>(document_.pool_.size()),
                                 static_cast<uint32_t>(text.size()));
    append_to_pool(text);
  }
  pending_key_ = entry->second;
  pending_key_offset_ = static_cast<uint32_t>(offset);
  return true;
}

bool DocumentSink::begin(ValueKind kind, int64_t offset) {
  if (static_cast<int>(open_.size()) >= limits_.max_depth) {
    return stop(Code::document_limit, "document is nested too deeply",
                "more than the allowed " + std::to_string(limits_.max_depth) + " levels", offset);
  }
  if (!add(kind, 0, offset)) return false;
  open_.push_back(static_cast<uint32_t>(document_.nodes_.size() - 1));
  return true;
}

bool DocumentSink::end() {
  const uint32_t container = open_.back();
  open_.pop_back();
  document_.nodes_[container].end = static_cast<uint32_t>(document_.nodes_.size());
  if (document_.nodes_[container].kind == static_cast<uint32_t>(ValueKind::kObject))
    find_duplicates(container);
  return !stopped_;
}

void DocumentSink::find_duplicates(uint32_t object) {
  const Chunked<Document::Node>& nodes = document_.nodes_;
  scratch_.clear();
  bool suspicious =
      nodes[object].payload > 24;  // few keys are compared as they come, which is faster than sorting
  for (uint32_t n = object + 1; n < nodes[object].end; n = nodes[n].end) {
    for (size_t i = 0; i < scratch_.size() && !suspicious; ++i)
      suspicious = scratch_[i].first == nodes[n].key;
    scratch_.emplace_back(nodes[n].key, n);
  }
  if (!suspicious) return;
  std::sort(scratch_.begin(), scratch_.end());
  std::vector<std::pair<uint32_t, uint32_t>> repeated;  // node, first node of that key
  for (size_t i = 1, first = 0; i < scratch_.size(); ++i) {
    if (scratch_[i].first != scratch_[first].first) {
      first = i;
    } else {
      repeated.emplace_back(scratch_[i].second, scratch_[first].second);
    }
  }
  std::sort(repeated.begin(), repeated.end());
  // Pointers are found by the ends of what is walked past; containers around this one have none yet.
  for (const uint32_t around : repeated.empty() ? std::vector<uint32_t>() : open_)
    document_.nodes_[around].end = static_cast<uint32_t>(nodes.size());
  for (const auto& [node, first] : repeated) {
    const auto [at, length] = document_.keys_[nodes[node].key];
    errors_.add(fail(Code::duplicate_key)
                    .say("key '" + document_.pool_.substr(at, length) + "' appears twice")
                    .at(place(nodes[node].key_offset))
                    .in(document_.pointer(node))
                    .because("it stands first at " + place(nodes[first].key_offset))
                    .try_("remove one of them"));
    if (errors_.size() >= kMostDuplicates) stopped_ = true;
    if (stopped_) return;
  }
}

Result<Document> DocumentSink::finish() {
  if (Status status = errors_.take(); !status.ok()) return std::move(status).take_error();
  return std::move(document_);
}

}  // namespace ge
