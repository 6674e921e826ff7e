// plan_fuzz PLAN [STEP]: changes every (STEP-th) byte of header, program and loop programs, with checksums
// made right again, and opens, loads, binds and runs each such plan on the CPU. Fails where nothing is
// refused or nothing runs; memory errors are for the sanitizers and the kernel to find.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "ge/ge.h"
#include "plan_mutation.h"
#include "platform/file.h"

namespace {

constexpr int64_t kLargestDim = 512;  // a mutation may raise a symbol's bounds: no need to compute for hours

enum Outcome { kOpen, kLoad, kBind, kRun, kHarmless, kOutcomes };
const char* const kNames[kOutcomes] = {"refused when opened", "when loaded", "when bound", "when run",
                                       "harmless"};

bool failed(ge_error* error) {
  const bool bad = error != nullptr;
  ge_error_free(error);
  return bad;
}

struct Pieces {
  ge_plan* plan = nullptr;
  ge_model* model = nullptr;
  ge_session* session = nullptr;
  ~Pieces() {
    if (session) ge_session_free(session);
    if (model) ge_model_free(model);
    if (plan) ge_plan_close(plan);
  }
};

// The dims to run at: opt, min and max of every symbol, where they are small enough.
std::vector<std::vector<int64_t>> dims_of(const ge_model* model, std::vector<std::string>& names) {
  std::vector<std::vector<int64_t>> sets(3);
  for (int32_t i = 0; i < ge_model_symbol_count(model); ++i) {
    ge_symbol s{};
    s.size = sizeof s;
    if (failed(ge_model_symbol(model, i, &s))) return {};
    names.emplace_back(s.name);
    sets[0].push_back(s.opt);
    sets[1].push_back(s.min);
    sets[2].push_back(s.max);
  }
  return sets;
}

Outcome run_once(ge_session* session, const std::vector<std::string>& names,
                 const std::vector<int64_t>& dims) {
  std::vector<const char*> texts;
  for (const std::string& name : names) texts.push_back(name.c_str());
  if (failed(ge_session_bind(session, texts.data(), dims.data(), static_cast<int32_t>(dims.size()))))
    return kBind;
  return failed(ge_session_run(session)) ? kRun : kHarmless;
}

Outcome try_plan(ge_device* device, const std::vector<std::byte>& file) {
  Pieces p;
  if (failed(ge_plan_open_memory(file.data(), file.size(), nullptr, &p.plan))) return kOpen;
  if (failed(ge_model_load(p.plan, device, nullptr, &p.model))) return kLoad;
  if (failed(ge_session_create(p.model, nullptr, &p.session))) return kLoad;
  std::vector<std::string> names;
  Outcome worst = kHarmless;
  for (const auto& dims : dims_of(p.model, names)) {
    bool small = true;
    for (const int64_t d : dims) small &= d <= kLargestDim;
    if (small) worst = std::min(worst, run_once(p.session, names, dims));
  }
  return worst;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const size_t step = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1;
  const auto file = ge::read_file(argv[1]);
  ge_device* device = nullptr;
  ge_device_options options{};
  options.size = sizeof options;
  options.threads = 1;
  if (!file.ok() || failed(ge_device_open(&options, &device))) return 3;
  size_t counts[kOutcomes] = {};
  const std::vector<std::byte> whole(file->span().begin(), file->span().end());
  const bool sound = try_plan(device, whole) == kHarmless;
  const size_t total = ge::test::for_each_mutation(
      whole, [&](const ge::test::Mutation& m) { ++counts[try_plan(device, m.file)]; }, step);
  size_t cut = 0;
  ge::test::for_each_truncation(
      whole,
      [&](ge::ByteSpan bytes) {
        cut += try_plan(device, {bytes.begin(), bytes.end()}) != kOpen ? 1 : 0;
      },
      step * step);
  ge_device_close(device);
  std::printf("%s: %zu changes", argv[1], total);
  for (int i = 0; i < kOutcomes; ++i) std::printf(", %s %zu", kNames[i], counts[i]);
  std::printf("; truncations accepted: %zu\n", cut);
  const bool expected = sound && total > 0 && cut == 0 && counts[kOpen] > 0 && counts[kLoad] > 0 &&
                        counts[kBind] > 0 && counts[kHarmless] > 0;
  return expected ? 0 : 1;
}
