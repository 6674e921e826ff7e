// Axes of [N, C, spatial...] and [N, spatial..., C], the same tensor with its channels last. Entry:
// channels_last_order, channels_second_order and the perms between them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace ge {

// A list by axis (dims, strides, pads, ...) with its channels moved from second to last, and back.
template <class List>
List channels_last_order(List list) {
  auto channels = std::move(list[1]);
  list.erase(list.begin() + 1);
  list.push_back(std::move(channels));
  return list;
}
template <class List>
List channels_second_order(List list) {
  auto channels = std::move(list.back());
  list.pop_back();
  list.insert(list.begin() + 1, std::move(channels));
  return list;
}
// perm of the transpose that moves them.
inline std::vector<int64_t> channels_last_perm(std::size_t rank) {
  std::vector<int64_t> perm(rank);
  std::iota(perm.begin(), perm.end(), int64_t{0});
  return channels_last_order(std::move(perm));
}
inline std::vector<int64_t> channels_second_perm(std::size_t rank) {
  std::vector<int64_t> perm(rank);
  std::iota(perm.begin(), perm.end(), int64_t{0});
  return channels_second_order(std::move(perm));
}
// Where axis `axis` of [N, C, spatial...] stands in [N, spatial..., C].
inline int64_t channels_last_axis(int64_t axis, std::size_t rank) {
  return axis == 0 ? 0 : axis == 1 ? static_cast<int64_t>(rank) - 1 : axis - 1;
}

}  // namespace ge
