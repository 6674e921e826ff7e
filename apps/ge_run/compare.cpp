#include "ge_run/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "common/table.h"
#include "ge_run/summary.h"
#include "numeric/convert.h"
#include "tensor_file/npy.h"
#include "tensor_file/safetensors.h"

namespace ge {
namespace {

constexpr size_t kWorst = 5;

std::pair<double, double> default_tolerance(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return {1e-9, 1e-12};
    case DType::float32:
      return {1e-4, 1e-5};
    case DType::float16:
      return {1e-2, 1e-3};
    case DType::bfloat16:
      return {2e-2, 1e-2};
    case DType::float8e4m3fn:
    case DType::float8e5m2:
      return {1e-1, 1e-2};
    default:
      return {0, 0};
  }
}

Result<HostTensor> read_expected(const std::string& source) {
  const std::string mark = ".safetensors:";
  const size_t at = source.find(mark);
  if (at == std::string::npos) return read_npy_file(source);
  GE_ASSIGN(const SafetensorsFile file, SafetensorsFile::open_path(source.substr(0, at + mark.size() - 1)));
  return file.read(source.substr(at + mark.size()));
}

std::vector<int64_t> index_of(int64_t flat, const std::vector<int64_t>& dims) {
  std::vector<int64_t> index(dims.size());
  for (size_t axis = dims.size(); axis-- > 0;) {
    index[axis] = flat % dims[axis];
    flat /= dims[axis];
  }
  return index;
}

// Share of the tolerance that the difference takes: above 1 they differ. Infinite where no tolerance could
// help.
double share(double got, double want, const Comparison& c) {
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) == std::isnan(want) ? 0 : INFINITY;
  if (got == want) return 0;
  if (std::isinf(got) || std::isinf(want)) return INFINITY;
  const double allowed = c.atol + c.rtol * std::fabs(want);
  return allowed > 0 ? std::fabs(got - want) / allowed : INFINITY;
}

class Comparer {
 public:
  Comparer(Comparison& c, const HostTensor& got, const HostTensor& want) : c_(c), got_(got), want_(want) {}
  void run() {
    const bool exact = !is_float(got_.dtype);
    for (int64_t i = 0; i < c_.count; ++i) {
      exact ? integer(i) : real(i);
    }
    std::sort(worst_.begin(), worst_.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    for (const auto& [error, i] : worst_) {
      c_.worst.push_back({index_of(i, got_.dims), element_text(got_, i), element_text(want_, i), error});
    }
  }

 private:
  void integer(int64_t i) {
    const int64_t a = load_as_int64(got_.dtype, got_.bytes.data(), i),
                  b = load_as_int64(want_.dtype, want_.bytes.data(), i);
    const double difference = std::fabs(static_cast<double>(a) - static_cast<double>(b));
    c_.max_abs_error = std::max(c_.max_abs_error, difference);
    if (a != b && difference > c_.atol) note(i, difference);
  }
  void real(int64_t i) {
    const double a = load_as_double(got_.dtype, got_.bytes.data(), i),
                 b = load_as_double(want_.dtype, want_.bytes.data(), i);
    if (std::isnan(a) != std::isnan(b)) ++c_.nan_against_number;
    if (std::isfinite(a) && std::isfinite(b)) {
      c_.max_abs_error = std::max(c_.max_abs_error, std::fabs(a - b));
      if (b != 0) c_.max_rel_error = std::max(c_.max_rel_error, std::fabs((a - b) / b));
    } else if (a != b && !std::isnan(a) && !std::isnan(b)) {
      c_.max_abs_error = c_.max_rel_error = INFINITY;
    }
    const double error = share(a, b, c_);
    if (error > 1) note(i, error);
  }
  void note(int64_t i, double error) {
    ++c_.different;
    if (worst_.size() < kWorst) {
      worst_.emplace_back(error, i);
      return;
    }
    const auto least = std::min_element(worst_.begin(), worst_.end(),
                                        [](const auto& a, const auto& b) { return a.first < b.first; });
    if (error > least->first) *least = {error, i};
  }
  Comparison& c_;
  const HostTensor& got_;
  const HostTensor& want_;
  std::vector<std::pair<double, int64_t>> worst_;
};

Diagnostic differs(const std::string& name, const std::string& file, const std::string& why) {
  return fail(Code::results_differ).at(file).in(name).because(why);
}

}  // namespace

Result<Comparison> compare(const std::string& name, const std::string& file, const HostTensor& got,
                           const RunCommand& command) {
  GE_ASSIGN(const HostTensor want, read_expected(file));
  if (got.dims != want.dims)
    return differs(
        name, file,
        "the output is " + dims_to_string(got.dims) + ", the file holds " + dims_to_string(want.dims));
  if (is_float(got.dtype) != is_float(want.dtype)) {
    return differs(name, file,
                   "the output is " + std::string(name_of(got.dtype)) + ", the file holds " +
                       std::string(name_of(want.dtype)));
  }
  const auto [rtol, atol] = default_tolerance(got.dtype);
  Comparison c;
  c.name = name;
  c.file = file;
  c.count = got.count();
  c.rtol = command.rtol.value_or(rtol);
  c.atol = command.atol.value_or(atol);
  Comparer(c, got, want).run();
  return c;
}

std::string comparison_text(const Comparison& c) {
  std::string tolerance = fmt::format("rtol {:g}, atol {:g}; largest error {:.3g} absolute, {:.3g} relative",
                                      c.rtol, c.atol, c.max_abs_error, c.max_rel_error);
  if (c.nan_against_number > 0) tolerance += fmt::format("; {} NaN against a number", c.nan_against_number);
  const std::string name = visible_line(c.name), file = visible_line(c.file);
  if (c.different == 0)
    return fmt::format("{}: {} with {} ({})\n", name, counted(c.count, "element agrees", "elements agree"),
                       file, tolerance);
  std::string text = fmt::format("{}: {} of {} from {} ({})\n", name, c.different,
                                 counted(c.count, "element differs", "elements differ"), file, tolerance);
  Table table({"element", ">got", ">expected", ">error / tolerance"});
  for (const WorstElement& w : c.worst)
    table.add({dims_to_string(w.index), w.got, w.want, number_text(w.error)});
  return text + table.text();
}

}  // namespace ge
