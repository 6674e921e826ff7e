// Checks that built-in rows share. Entry: refuse, check_same_dims, check_same_dtype, check_axis.
// All return launch_refused with what was found; `names` in messages are the row's operand names.
#pragma once
#include <string>
#include <string_view>

#include "contract/kernel_desc.h"

namespace ge::kernels {

Diagnostic refuse(std::string found);
inline bool is_absent(const TensorView& view) {
  return view.rank < 0;
}
std::string dims_text(const TensorView& view);  // "[2,3]"

Status check_same_dims(const TensorView& a, std::string_view a_name, const TensorView& b,
                       std::string_view b_name);
Status check_same_dtype(const TensorView& a, std::string_view a_name, const TensorView& b,
                        std::string_view b_name);
Status check_axis(int64_t axis, int rank);  // 0 <= axis < rank
// `part` has `whole`'s rank and fits into it on every axis but `axis` (-1: on all).
Status check_within(const TensorView& part, std::string_view part_name, const TensorView& whole,
                    std::string_view whole_name, int axis);
Status check_dim(int64_t found, int64_t expected, std::string_view what);

// An output's elements must be distinct bytes: no axis of extent > 1 has stride 0.
Status check_writable(const TensorView& out, std::string_view name);

}  // namespace ge::kernels
