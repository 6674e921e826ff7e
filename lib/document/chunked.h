// A list that grows at its end without ever moving what it holds: while a document is read, memory is what
// its values take, not up to three times that. Entry: Chunked. Invariant: every chunk but the last is full.
#pragma once
#include <cstddef>
#include <vector>

namespace ge {

template <class T>
class Chunked {
 public:
  static constexpr size_t kBits = 14, kChunk = size_t{1} << kBits;

  size_t size() const { return chunks_.empty() ? 0 : (chunks_.size() - 1) * kChunk + chunks_.back().size(); }
  bool empty() const { return chunks_.empty(); }
  T& operator[](size_t i) { return chunks_[i >> kBits][i & (kChunk - 1)]; }
  const T& operator[](size_t i) const { return chunks_[i >> kBits][i & (kChunk - 1)]; }
  const T& back() const { return chunks_.back().back(); }
  void push_back(const T& value) {
    if (chunks_.empty() || chunks_.back().size() == kChunk) {
      const bool first = chunks_.empty();  // small documents are many: theirs grows as it needs
      chunks_.emplace_back();
      if (!first) chunks_.back().reserve(kChunk);
    }
    chunks_.back().push_back(value);
  }
  // How many of them, which ascend, are below `bound`.
  template <class Bound>
  size_t count_below(const Bound& bound) const {
    size_t low = 0, high = size();
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      if ((*this)[middle] < bound)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

 private:
  std::vector<std::vector<T>> chunks_;
};

}  // namespace ge
