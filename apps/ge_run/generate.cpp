#include "ge_run/generate.h"

#include <charconv>
#include <cmath>

#include "numeric/convert.h"

namespace ge {
namespace {

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15u;

uint64_t splitmix64(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

uint64_t fnv1a(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (unsigned char c : text) hash = (hash ^ c) * 0x100000001b3u;
  return hash;
}

double fraction(uint64_t key, uint64_t index) {
  return static_cast<double>(splitmix64(key + (index + 1) * kGolden) >> 11) * 0x1p-53;
}

void fill_random(uint64_t seed, const PortInfo& port, HostTensor& tensor) {
  const uint64_t key = splitmix64(seed + kGolden) ^ fnv1a(port.name);
  const double span = port.hint_high - port.hint_low;
  const int64_t count = tensor.count();
  void* data = tensor.bytes.data();
  for (int64_t i = 0; i < count; ++i) {
    const double r = fraction(key, static_cast<uint64_t>(i));
    double value = r * 2 - 1;
    if (port.hint_kind == "index") {
      value = port.hint_low + std::floor(r * span);
    } else if (port.hint_kind == "bool" || is_bool(port.dtype)) {
      value = r < 0.5 ? 1 : 0;
    } else if (port.hint_kind == "unit") {
      value = port.hint_low + r * span;
    } else if (is_integer(port.dtype)) {
      value = std::floor(r * (bits_of(port.dtype) == 4 ? 8 : 10));
    }
    store_from_double(port.dtype, data, i, value);
  }
}

}  // namespace

Result<std::optional<Generated>> parse_generated(const std::string& source) {
  if (source == "zeros") return std::optional(Generated{Generator::kZeros, 0});
  if (source == "ones") return std::optional(Generated{Generator::kOnes, 0});
  if (source == "iota") return std::optional(Generated{Generator::kIota, 0});
  if (source != "random" && source.rfind("random:", 0) != 0) return std::optional<Generated>();
  Generated made;
  if (source == "random") return std::optional(made);
  const char* end = source.data() + source.size();
  const auto parsed = std::from_chars(source.data() + 7, end, made.seed);
  if (parsed.ec != std::errc() || parsed.ptr != end) {
    return fail(Code::bad_usage).because("the seed in " + source + " is no number").try_("random:7");
  }
  return std::optional(made);
}

Result<HostTensor> generate(const Generated& what, const PortInfo& port, const std::vector<int64_t>& dims) {
  GE_ASSIGN(HostTensor tensor, make_host_tensor(port.dtype, dims, true));
  const int64_t count = tensor.count();
  if (what.kind == Generator::kRandom) fill_random(what.seed, port, tensor);
  for (int64_t i = 0; i < count && what.kind == Generator::kOnes; ++i)
    store_from_double(port.dtype, tensor.bytes.data(), i, 1);
  for (int64_t i = 0; i < count && what.kind == Generator::kIota; ++i) {
    is_float(port.dtype) ? store_from_double(port.dtype, tensor.bytes.data(), i, static_cast<double>(i))
                         : store_from_int64(port.dtype, tensor.bytes.data(), i, i);
  }
  return tensor;
}

}  // namespace ge
