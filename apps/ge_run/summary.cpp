#include "ge_run/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/table.h"
#include "numeric/convert.h"

namespace ge {
namespace {

constexpr int64_t kFirstValues = 8;
constexpr size_t kFirstShown = 5;

bool has_values(const TensorSummary& s) {
  return s.count > s.nan_count;
}

}  // namespace

std::string element_text(const HostTensor& tensor, int64_t index) {
  const void* data = tensor.bytes.data();
  if (is_bool(tensor.dtype)) return load_as_int64(tensor.dtype, data, index) ? "true" : "false";
  if (tensor.dtype == DType::uint64)
    return fmt::format("{}", static_cast<uint64_t>(load_as_int64(tensor.dtype, data, index)));
  if (is_integer(tensor.dtype)) return fmt::format("{}", load_as_int64(tensor.dtype, data, index));
  const double value = load_as_double(tensor.dtype, data, index);
  if (std::isnan(value)) return "nan";  // whatever its sign
  return tensor.dtype == DType::float64 ? fmt::format("{:.6g}", value)
                                        : fmt::format("{:.6g}", static_cast<float>(value));
}

TensorSummary summarize(const std::string& name, const HostTensor& tensor) {
  TensorSummary s{name, tensor.dtype, tensor.dims, tensor.count(), 0, INFINITY, 0, -INFINITY, {}};
  double sum = 0;
  for (int64_t i = 0; i < s.count; ++i) {
    const double value = load_as_double(tensor.dtype, tensor.bytes.data(), i);
    if (std::isnan(value)) {
      ++s.nan_count;
      continue;
    }
    s.min = std::min(s.min, value);
    s.max = std::max(s.max, value);
    sum += value;
  }
  s.mean = has_values(s) ? sum / static_cast<double>(s.count - s.nan_count) : 0;
  for (int64_t i = 0; i < std::min(s.count, kFirstValues); ++i) s.first.push_back(element_text(tensor, i));
  return s;
}

std::string summary_table(const std::vector<TensorSummary>& rows) {
  Table table({"output", "dtype", "shape", ">min", ">mean", ">max", ">nan", "first values"});
  for (const TensorSummary& s : rows) {
    const auto number = [&](double v) { return has_values(s) ? number_text(v) : std::string("-"); };
    std::string first;
    for (size_t i = 0; i < std::min(s.first.size(), kFirstShown); ++i) first += (i ? " " : "") + s.first[i];
    if (s.count > static_cast<int64_t>(kFirstShown)) first += " ...";
    table.add({s.name, std::string(name_of(s.dtype)), dims_to_string(s.dims), number(s.min), number(s.mean),
               number(s.max), std::to_string(s.nan_count), first});
  }
  return table.text();
}

void write_json(DocumentBuilder& b, const TensorSummary& s) {
  b.begin_object().member("name", s.name).member("dtype", name_of(s.dtype)).key("shape").integers(s.dims);
  if (has_values(s)) b.member("min", s.min).member("mean", s.mean).member("max", s.max);
  b.member("nan_count", s.nan_count).key("first").begin_array();
  for (const std::string& text : s.first) b.value(text);
  b.end_array().end_object();
}

}  // namespace ge
