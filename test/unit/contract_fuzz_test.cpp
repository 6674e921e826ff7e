// The contract's promise: any byte of header, program or loop program may change, with checksums made right
// again, and the plan is refused or stays inside its memory.
#include <map>

#include "catch.h"
#include "contract/plan_read.h"
#include "contract_sample.h"
#include "plan_mutation.h"

using namespace ge;
using namespace ge::test;

namespace {

struct Outcome {
  size_t read = 0, verify = 0, bind = 0, harmless = 0;
};

void bind_everywhere(const PlanFile& file, const PlanKernels& kernels, const std::string& what,
                     bool& all_bound) {
  for (uint32_t i = 0; i < file.plan.programs.size(); ++i) {
    const Program& p = file.plan.programs[i];
    DeviceLimits limits =
        parse_target(p.target)->device == KernelDevice::kCpu ? DeviceLimits{} : gpu_limits();
    limits.memory_bytes = 1 << 20;
    INFO(what);
    const auto prepare = bind_prepare(file.plan, kernels, i, limits);
    if (prepare.ok()) REQUIRE(outside_memory(file.plan, *prepare) == "");
    std::vector<std::vector<int64_t>> values = {optimal_symbols(p)};
    for (const bool high : {false, true}) {
      values.emplace_back();
      for (const Symbol& s : p.symbols) values.back().push_back(high ? s.max : s.min);
    }
    for (const auto& symbols : values) {
      const auto binding = ge::bind(file.plan, kernels, i, symbols, limits);
      all_bound &= binding.ok();
      if (!binding.ok()) continue;
      REQUIRE(outside_memory(file.plan, *binding) == "");
      REQUIRE(binding->arena_bytes <= limits.memory_bytes);
    }
  }
}

}  // namespace

TEST_CASE("any changed byte is refused or harmless") {
  Sample sample = sample_plan();
  const auto file = sample.file();
  Outcome outcome;
  const size_t count = for_each_mutation(file, [&](const Mutation& m) {
    const auto read = read_plan_bytes(m.file);
    if (!read.ok()) {
      ++outcome.read;
      return;
    }
    const auto kernels = verify_plan(read->plan, read->code.span(), test_kernels());
    if (!kernels.ok()) {
      ++outcome.verify;
      return;
    }
    bool bound = true;
    bind_everywhere(*read, *kernels, m.what, bound);
    ++(bound ? outcome.harmless : outcome.bind);
  });
  INFO(count << " mutations: refused by read " << outcome.read << ", verify " << outcome.verify << ", bind "
             << outcome.bind << "; harmless " << outcome.harmless);
  CHECK(count > 50000);
  CHECK(outcome.read > 0);
  CHECK(outcome.verify > 0);
  CHECK(outcome.bind > 0);
  CHECK(outcome.harmless > 0);
}
