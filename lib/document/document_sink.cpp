// Limits, skips and duplicate keys. Duplicates are collected, everything else stops the scan.
#include "document/document_sink.h"

#include <algorithm>

namespace ge {
namespace {

constexpr size_t kMostDuplicates = 20;  // told at once
// Containers that take a walk of as many bytes are skips. Each has that many bytes of its own, so there are
// few of them, however the text nests.
constexpr uint32_t kSkipBytes = 128;

}  // namespace

Status check_length(ByteSpan text, const std::string& name, const DocumentLimits& limits, std::string fix) {
  const int64_t most = std::min(limits.max_bytes, kMostDocumentBytes);
  if (static_cast<int64_t>(text.size()) <= most) return {};
  return fail(Code::document_limit)
      .say("document is too large")
      .at(name)
      .because(std::to_string(text.size()) + " bytes; allowed are " + std::to_string(most))
      .try_(std::move(fix));
}

DocumentSink::DocumentSink(DocumentForm form, std::string_view text, std::string name,
                           const DocumentLimits& limits)
    : limits_(limits) {
  limits_.max_depth = std::min(limits_.max_depth, 1000);
  document_.form_ = form;
  document_.text_ = text;
  document_.name_ = std::move(name);
  if (form == DocumentForm::kJson) document_.mark_lines();
}

bool DocumentSink::stop(Code code, std::string message, std::string found, size_t offset, std::string fix) {
  errors_.add(fail(code)
                  .say(std::move(message))
                  .at(document_.place_of_byte(static_cast<int64_t>(offset)))
                  .because(std::move(found))
                  .try_(std::move(fix)));
  return false;
}

bool DocumentSink::count(size_t offset) {
  if (open_.empty()) document_.root_ = static_cast<uint32_t>(offset);
  if (++nodes_ <= limits_.max_nodes) return true;
  return stop(Code::document_limit, "document holds too many values",
              "more than the allowed " + std::to_string(limits_.max_nodes), offset,
              "keep large arrays in a tensor file beside it");
}

bool DocumentSink::scalar(size_t offset, bool is_string) {
  document_.strings_ += is_string ? 1 : 0;
  return count(offset);
}

bool DocumentSink::key(size_t offset) {
  keys_.push_back(static_cast<uint32_t>(offset));
  // Of very many that are the same the first are told, before all the others have been collected.
  constexpr size_t kMany = 1024;
  const size_t keys = keys_.size() - open_.back().first_key;
  return keys < kMany || (keys & (keys - 1)) != 0 || tell_duplicates(kMostDuplicates);
}

bool DocumentSink::begin(bool object, size_t offset) {
  if (static_cast<int>(open_.size()) >= limits_.max_depth) {
    return stop(Code::document_limit, "document is nested too deeply",
                "more than the allowed " + std::to_string(limits_.max_depth) + " levels", offset);
  }
  if (!count(offset)) return false;
  document_.objects_ += object ? 1 : 0;
  open_.push_back({static_cast<uint32_t>(offset), 0, static_cast<uint32_t>(keys_.size()), object});
  return true;
}

bool DocumentSink::end(size_t offset) {
  const Open& closed = open_.back();
  if (closed.object && !tell_duplicates(1)) return false;
  const auto end = static_cast<uint32_t>(offset);
  uint32_t covered = closed.covered;
  if (end - closed.start - covered >= kSkipBytes) {
    document_.skips_.push_back({closed.start, end});
    covered = end - closed.start - 1;
  }
  keys_.resize(closed.first_key);
  open_.pop_back();
  if (!open_.empty()) open_.back().covered += covered;
  return true;
}

int DocumentSink::compare_keys(uint32_t a, uint32_t b) const {
  const auto plain_a = document_.plain_at(a), plain_b = document_.plain_at(b);
  if (plain_a && plain_b) return plain_a->compare(*plain_b);
  return document_.string_at(a).compare(document_.string_at(b));
}

// The keys of the innermost object, which are sorted here. Fewer than `at_least` are not told yet.
bool DocumentSink::tell_duplicates(size_t at_least) {
  const auto begin = keys_.begin() + open_.back().first_key;
  if (keys_.end() - begin < 2) return true;
  std::sort(begin, keys_.end(), [&](uint32_t a, uint32_t b) {
    const int order = compare_keys(a, b);
    return order != 0 ? order < 0 : a < b;
  });
  std::vector<std::pair<uint32_t, uint32_t>> repeated;  // a key, and the first that is the same
  auto first = begin;
  for (auto key = begin + 1; key != keys_.end(); ++key) {
    if (compare_keys(*key, *first) != 0) {
      first = key;
      continue;
    }
    repeated.emplace_back(*key, *first);
    if (repeated.size() < 2 * kMostDuplicates) continue;
    std::nth_element(repeated.begin(), repeated.begin() + kMostDuplicates, repeated.end());
    repeated.resize(kMostDuplicates);
  }
  if (repeated.size() < at_least) return true;
  std::sort(repeated.begin(), repeated.end());
  std::sort(document_.skips_.begin(), document_.skips_.end());  // for the walk to where they stand
  std::string around;
  for (size_t i = 0; i + 1 < open_.size(); ++i)
    document_.append_step(open_[i].start, open_[i + 1].start, around);
  for (const auto& [key, same] : repeated) {
    std::string pointer = around;
    document_.append_key(key, pointer);
    pointer = shortened(pointer);
    errors_.add(fail(Code::duplicate_key)
                    .say("key '" + document_.shown_at(key) + "' appears twice")
                    .at(document_.place_of_byte(key))
                    .in(std::move(pointer))
                    .because("it stands first at " + document_.place_of_byte(same))
                    .try_("remove one of them"));
    if (errors_.size() >= kMostDuplicates) return false;
  }
  return true;
}

Result<Document> DocumentSink::finish() {
  if (Status status = errors_.take(); !status.ok()) return std::move(status).take_error();
  std::sort(document_.skips_.begin(), document_.skips_.end());
  return std::move(document_);
}

}  // namespace ge
