// The checks of check.h.
#include "kernels/common/check.h"

#include "kernels/common/window.h"

namespace ge::kernels {

Diagnostic refuse(std::string found) {
  return fail(Code::launch_refused).because(std::move(found));
}

std::string dims_text(const TensorView& view) {
  std::string text = "[";
  for (int i = 0; i < view.rank; ++i) {
    if (i > 0) text += ',';
    text += std::to_string(view.dims[i]);
  }
  return text + "]";
}

Status check_same_dims(const TensorView& a, std::string_view a_name, const TensorView& b,
                       std::string_view b_name) {
  bool same = a.rank == b.rank;
  for (int i = 0; same && i < a.rank; ++i) same = a.dims[i] == b.dims[i];
  if (same) return {};
  return refuse(std::string(a_name) + " has dims " + dims_text(a) + ", " + std::string(b_name) + " has " +
                dims_text(b));
}

Status check_same_dtype(const TensorView& a, std::string_view a_name, const TensorView& b,
                        std::string_view b_name) {
  if (a.dtype == b.dtype) return {};
  return refuse(std::string(a_name) + " is " + std::string(name_of(a.dtype)) + ", " + std::string(b_name) +
                " is " + std::string(name_of(b.dtype)));
}

Status check_axis(int64_t axis, int rank) {
  if (axis >= 0 && axis < rank) return {};
  return refuse("axis " + std::to_string(axis) + ", rank " + std::to_string(rank));
}

Status check_within(const TensorView& part, std::string_view part_name, const TensorView& whole,
                    std::string_view whole_name, int axis) {
  bool within = part.rank == whole.rank;
  for (int i = 0; within && i < part.rank; ++i) within = i == axis || part.dims[i] <= whole.dims[i];
  if (within) return {};
  return refuse(std::string(part_name) + " has dims " + dims_text(part) + ", " + std::string(whole_name) +
                " has " + dims_text(whole) + "; only axis " + std::to_string(axis) + " may be longer");
}

Status check_dim(int64_t found, int64_t expected, std::string_view what) {
  if (found == expected) return {};
  return refuse(std::string(what) + " is " + std::to_string(found) + ", expected " +
                std::to_string(expected));
}

Status check_writable(const TensorView& out, std::string_view name) {
  // Nothing is written to an empty tensor; its dense strides may be 0.
  for (int i = 0; i < out.rank; ++i)
    if (out.dims[i] == 0) return {};
  for (int i = 0; i < out.rank; ++i) {
    if (out.dims[i] > 1 && out.strides[i] == 0) {
      return refuse(std::string(name) + " is written, but its axis " + std::to_string(i) + " has stride 0");
    }
  }
  return {};
}

Status check_list(const Attrs& attrs, std::string_view name, int count) {
  const AttrValue* value = find_attr(attrs, name);
  const auto* list = value != nullptr ? std::get_if<std::vector<int64_t>>(value) : nullptr;
  const size_t found = list != nullptr ? list->size() : 0;
  if (found == static_cast<size_t>(count)) return {};
  return refuse(std::string(name) + " has " + std::to_string(found) + " entries, expected " +
                std::to_string(count));
}

}  // namespace ge::kernels
