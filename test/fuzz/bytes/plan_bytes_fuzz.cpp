// Plan bytes with checksums made right: opened, loaded, bound and run on the CPU, or refused. The sizes of
// the code and the weights are the header's, cut to what there is; the program takes what lies between.
#include <algorithm>
#include <string>
#include <vector>

#include "contract/hash.h"
#include "contract/plan.h"
#include "contract/plan_layout.h"
#include "fuzz_target.h"
#include "ge/ge.h"

using namespace ge;

namespace {

constexpr int64_t kLargestDim = 256;  // bytes may raise a symbol's bounds: no need to compute for hours

bool failed(ge_error* error) {
  const bool bad = error != nullptr;
  ge_error_free(error);
  return bad;
}

std::vector<std::byte> with_right_checksums(ByteSpan input) {
  if (input.size() < kPlanHeaderBytes) return {input.begin(), input.end()};
  const auto size_of = [&](SectionKind kind) {
    return load_as<uint64_t>(input.data() + 32 + 32 * static_cast<size_t>(kind) + 16);
  };
  ByteSpan rest = input.subspan(kPlanHeaderBytes);
  const auto take = [&](uint64_t n, bool at_end) {
    n = std::min<uint64_t>(n, rest.size());
    const ByteSpan part = at_end ? rest.last(n) : rest.first(n);
    rest = at_end ? rest.first(rest.size() - n) : rest.subspan(n);
    return part;
  };
  PlanHeader h;
  h.format = load_as<uint32_t>(input.data() + 8);
  ByteSpan parts[kSectionCount];
  parts[static_cast<size_t>(SectionKind::kCode)] = take(size_of(SectionKind::kCode), false);
  const ByteSpan weights = take(size_of(SectionKind::kWeights), true);
  parts[static_cast<size_t>(SectionKind::kWeights)] = weights;
  // What aligned the sections is in the rest too: the program starts at its first byte that is not 0.
  const auto first = std::ranges::find_if(rest, [](std::byte b) { return b != std::byte{0}; });
  parts[static_cast<size_t>(SectionKind::kProgram)] = {first, rest.end()};
  std::vector<std::byte> sums(8 * chunk_count(weights.size()));
  for (size_t i = 0; i < sums.size() / 8; ++i) {
    const size_t at = i << 22;
    store_as<uint64_t>(&sums[8 * i],
                       hash64(weights.subspan(at, std::min<size_t>(weights.size() - at, 1 << 22))));
  }
  parts[static_cast<size_t>(SectionKind::kChecksums)] = sums;
  for (size_t k = 0; k < kSectionCount; ++k) {
    h.sections[k].kind = static_cast<SectionKind>(k);
    h.sections[k].size_bytes = parts[k].size();
    if (k != static_cast<size_t>(SectionKind::kWeights)) h.sections[k].hash = hash64(parts[k]);
  }
  place_sections(h);
  std::vector<std::byte> file(h.file_size_bytes);
  std::ranges::copy(encode_header(h), file.begin());
  for (size_t k = 0; k < kSectionCount; ++k)
    std::ranges::copy(parts[k], file.begin() + static_cast<std::ptrdiff_t>(h.sections[k].offset));
  return file;
}

void run(ge_model* model) {
  std::vector<const char*> names;
  std::vector<int64_t> dims;
  for (int32_t i = 0; i < ge_model_symbol_count(model); ++i) {
    ge_symbol s{};
    s.size = sizeof s;
    if (failed(ge_model_symbol(model, i, &s)) || s.opt > kLargestDim) return;
    names.push_back(s.name);
    dims.push_back(s.opt);
  }
  ge_session* session = nullptr;
  if (failed(ge_session_create(model, nullptr, &session))) return;
  if (!failed(ge_session_bind(session, names.data(), dims.data(), static_cast<int32_t>(dims.size()))))
    failed(ge_session_run(session));
  ge_session_free(session);
}

ge_device* device() {
  static ge_device* const one = [] {
    ge_device* d = nullptr;
    ge_device_options options{};
    options.size = sizeof options;
    options.threads = 1;
    test::promise(!failed(ge_device_open(&options, &d)), "the CPU opens");
    return d;
  }();
  return one;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = with_right_checksums(test::input_bytes(data, size));
  ge_plan* plan = nullptr;
  ge_model* model = nullptr;
  if (failed(ge_plan_open_memory(file.data(), file.size(), nullptr, &plan))) return 0;
  if (!failed(ge_model_load(plan, device(), nullptr, &model))) {
    run(model);
    ge_model_free(model);
  }
  ge_plan_close(plan);
  return 0;
}
