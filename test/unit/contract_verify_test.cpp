// Load-time checks: each rule refuses the plan that breaks it and names the record.
#include "catch.h"
#include "contract/plan_read.h"
#include "contract/plan_verify.h"
#include "contract_sample.h"

using namespace ge;
using namespace ge::test;

namespace {

// The sample after `change`, written and read again; "" or path and reason of the refusal.
template <class F>
std::string refusal(F&& change, Code expected = Code::plan_malformed) {
  Sample s = sample_plan();
  change(s);
  auto file = read_plan_bytes(s.file());
  REQUIRE_OK(file);
  const auto kernels = verify_plan(file->plan, file->code.span(), test_kernels());
  if (kernels.ok()) return "";
  const Diagnostic& d = kernels.error().first();
  CHECK(code_string(d.code) == code_string(expected));
  return d.path + ": " + d.found;
}
template <class F>
std::string in_cpu(F&& change) {
  return refusal([&](Sample& s) { change(s.plan.programs[0]); });
}
Launch& launch(Program& p, size_t i) {
  return p.run.steps[i].launch[0];
}

}  // namespace

TEST_CASE("the sample plan passes") {
  CHECK(refusal([](Sample&) {}) == "");
}

TEST_CASE("kernels must be here, under their revision") {
  CHECK(refusal(
            [](Sample& s) {
              s.plan.kernels[1].revision = 2;
              s.plan.kernels[2].name = "gone";
            },
            Code::unknown_kernel) == "/programs/0: gone (revision 1), scale_reference (revision 2)");
}

TEST_CASE("kernels of a program that is not asked for may be missing") {
  Sample s = sample_plan();
  s.plan.kernels[4].name = "not_here";
  auto file = read_plan_bytes(s.file());
  REQUIRE_OK(file);
  CHECK(verify_plan(file->plan, file->code.span(), test_kernels(), 0).ok());
  REQUIRE_CODE(verify_plan(file->plan, file->code.span(), test_kernels(), 1), Code::unknown_kernel);
}

TEST_CASE("kernels fit device and arch of the target") {
  CHECK(in_cpu([](Program& p) { launch(p, 1).choices[0].kernel = 4; }) ==
        "/programs/0/run/steps/1/launch/choices/0: kernel \"scale_f32_sm80\" runs on another device than the "
        "target");
  CHECK(refusal([](Sample& s) { s.plan.programs[1].target = "sm_80"; }) ==
        "/programs/1/run/steps/0/launch/choices/0: kernel \"loop_relu_sm90\" needs a newer GPU than the "
        "target");
  CHECK(refusal([](Sample& s) { s.plan.programs[1].target = "sm_120"; }) ==
        "/programs/1/run/steps/0/launch/choices/0: its code is for sm_90");
}

TEST_CASE("operands and attributes fit the kernel") {
  const std::string at = "/programs/0/run/steps/1/launch/choices/0";
  CHECK(in_cpu([](Program& p) { launch(p, 1).choices[0].operands.pop_back(); }) ==
        at + ": kernel \"scale_reference\" takes 3 operands, found 2");
  CHECK(in_cpu([](Program& p) { launch(p, 1).choices[0].operands[0] = {}; }) ==
        at + "/operands/0: operand \"x\" is absent");
  CHECK(in_cpu([](Program& p) { launch(p, 1).choices[0].operands[0].dtype = DType::int64; }) ==
        at + "/operands/0: operand \"x\" cannot be int64");
  CHECK(in_cpu([](Program& p) {
          launch(p, 1).choices[0].operands[1] = launch(p, 1).choices[0].operands[0];
        }) == at + "/operands/1: operand \"bias\" cannot have rank 2");
  CHECK(in_cpu([](Program& p) { launch(p, 1).choices[0].attrs[0].first = "beta"; }) ==
        at + ": it takes no attribute \"beta\"");
  CHECK(in_cpu([](Program& p) {
          launch(p, 1).choices[0].attrs.erase(launch(p, 1).choices[0].attrs.begin());
        }) == at + ": attribute \"alpha\" is missing");
}

TEST_CASE("prepare writes prepared buffers only, run writes none of them") {
  CHECK(in_cpu([](Program& p) { p.prepare.steps[0].copy[0].to.buffer = 1; }) ==
        "/programs/0/prepare/steps/0/copy/to: prepare may write prepared buffers only");
  CHECK(in_cpu([](Program& p) { p.prepare.steps[0].copy[0].from.buffer = 0; }) ==
        "/programs/0/prepare/steps/0/copy/from: prepare may read weights and prepared buffers only");
  CHECK(in_cpu([](Program& p) {
          p.prepare.steps.push_back(p.run.steps[3]);
          p.run.steps.erase(p.run.steps.begin() + 3);
        }) == "/programs/0/prepare/steps/2: prepare holds launches, copies and fills only");
  CHECK(in_cpu([](Program& p) { p.prepare.steps[0].copy[0].from.dims[0] = p.signature.inputs[0].dims[0]; }) ==
        "/programs/0/prepare: it may not depend on dims");
  const std::string why = "run may not write inputs, weights, prepared buffers or the device block";
  for (const uint32_t buffer : {0u, 4u, 6u, 11u, 10u}) {
    const std::string result = in_cpu([&](Program& p) { p.run.steps[5].copy[0].to.buffer = buffer; });
    CHECK(result == (buffer == 10 ? "" : buffer == 11 ? "" : "/programs/0/run/steps/5/copy/to: " + why));
  }
  CHECK(in_cpu([](Program& p) { p.run.steps[5].copy[0].to.buffer = 12; }) ==
        "/programs/0/run/steps/5/copy/to: " + why);
}

TEST_CASE("buffers lie where their region says") {
  CHECK(in_cpu([](Program& p) { p.buffers[8].slot = 2; }) ==
        "/programs/0/buffers/8: its slot does not exist, or it needs none");
  CHECK(in_cpu([](Program& p) { p.buffers[0].slot = 0; }) ==
        "/programs/0/buffers/0: its slot does not exist, or it needs none");
  CHECK(in_cpu([](Program& p) { p.buffers[4].blob = 2; }) ==
        "/programs/0/buffers/4: its blob does not exist, or it needs none");
  CHECK(in_cpu([](Program& p) { p.buffers[3].alias_of = 1; }) ==
        "/programs/0/buffers/3: only an output may share an input's storage");
  CHECK(in_cpu([](Program& p) { p.buffers[1].alias_of = 2; }) ==
        "/programs/0/buffers/3: two outputs share one input");
  CHECK(in_cpu([](Program& p) { p.buffers[6].size_bytes = p.buffers[0].size_bytes; }) ==
        "/programs/0/buffers/6: its size may not depend on dims");
  CHECK(in_cpu([](Program& p) { p.buffers[0].size_bytes = kNoExpr; }) ==
        "/programs/0/buffers/0: it has no size");
}

TEST_CASE("the signature names each buffer of inputs and outputs once") {
  CHECK(in_cpu([](Program& p) { p.signature.inputs[1].buffer = 0; }) ==
        "/programs/0/signature/inputs/1: its buffer is another's");
  CHECK(in_cpu([](Program& p) { p.signature.inputs[1].buffer = 1; }) ==
        "/programs/0/signature/inputs/1: its buffer is none of that kind");
  CHECK(in_cpu([](Program& p) { p.signature.inputs.pop_back(); }) ==
        "/programs/0/buffers/2: no input or output uses it");
  CHECK(in_cpu([](Program& p) { p.signature.inputs[1].name = "x"; }) ==
        "/programs/0/signature/inputs/1: its name is empty or stands twice");
  CHECK(in_cpu([](Program& p) { p.signature.inputs[0].hint.kind = "odd"; }) ==
        "/programs/0/signature/inputs/0: its hint is unknown or an empty range");
}

TEST_CASE("launches end with an unguarded choice and wait for earlier steps") {
  CHECK(in_cpu([](Program& p) { launch(p, 0).choices.pop_back(); }) ==
        "/programs/0/run/steps/0/launch: its last choice has a guard");
  CHECK(in_cpu([](Program& p) { launch(p, 0).choices.clear(); }) ==
        "/programs/0/run/steps/0/launch: it has no choice, or more than 256");
  CHECK(in_cpu([](Program& p) { launch(p, 1).after = {1}; }) ==
        "/programs/0/run/steps/1/launch: it waits for a step that is not earlier, or twice");
  CHECK(in_cpu([](Program& p) { launch(p, 0).lane = 16; }) ==
        "/programs/0/run/steps/0/launch: its lane is 16 or higher");
  CHECK(in_cpu([](Program& p) { launch(p, 0).choices[0].kernel = 5; }) ==
        "/programs/0/run/steps/0/launch/choices/0: its kernel does not exist");
  CHECK(in_cpu([](Program& p) { launch(p, 0).choices[0].block[1] = 0; }) ==
        "/programs/0/run/steps/0/launch/choices/0: its block or cluster is not within 1 .. 1024");
}

TEST_CASE("a launch that starts early follows one, waits itself, and runs where that is possible") {
  const auto refused = [](size_t program, size_t step, auto&& change) {
    return refusal([&](Sample& s) {
      change(s.plan);
      launch(s.plan.programs[program], step).dependent_launch = true;
    });
  };
  const auto as_it_is = [](Plan&) {};
  CHECK(refused(1, 0, as_it_is) ==
        "/programs/1/run/steps/0/launch/dependent_launch: no launch stands before it");
  CHECK(refused(1, 1, as_it_is) ==
        "/programs/1/run/steps/1/launch/dependent_launch: kernel \"scale_f32_sm80\" does not wait for its "
        "predecessor");
  CHECK(refused(0, 1, as_it_is) ==
        "/programs/0/run/steps/1/launch/dependent_launch: the target has no dependent launches");
  // Twice the generated kernel, which says that it waits.
  CHECK(refused(1, 1, [](Plan& plan) {
          for (KernelRef& k : plan.kernels)
            for (KernelDesc& d : k.generated) d.waits_for_predecessor = d.device == KernelDevice::kCuda;
          Launch& second = launch(plan.programs[1], 1);
          second.choices = launch(plan.programs[1], 0).choices;
        }) == "");
}

TEST_CASE("a dependent launch may have choices that do not wait beside one that does") {
  CHECK(refusal([](Sample& s) {
          for (KernelRef& k : s.plan.kernels)
            for (KernelDesc& d : k.generated) d.waits_for_predecessor = d.device == KernelDevice::kCuda;
          Program& p = s.plan.programs[1];
          Choice waits = launch(p, 0).choices[0];
          waits.guard = {};
          launch(p, 1).dependent_launch = true;
          launch(p, 1).choices.push_back(waits);
          launch(p, 1).choices[0].guard = launch(p, 0).choices[0].guard;
        }) == "");
}

TEST_CASE("what a kernel reads before its predecessor is done is constant while the program runs") {
  const std::string at = "/programs/1/run/steps/1/launch/choices/0: ";
  const auto refused = [](int64_t early) {
    return refusal([&](Sample& s) {
      for (KernelRef& k : s.plan.kernels)
        for (KernelDesc& d : k.generated)
          if (d.device == KernelDevice::kCuda)
            d.attrs.push_back({"early", AttrType::kInt, 0, INT64_MAX, false});
      Program& p = s.plan.programs[1];
      launch(p, 1).choices = launch(p, 0).choices;
      for (Choice& c : launch(p, 1).choices) c.attrs = {{"early", early}};
    });
  };
  CHECK(refused(0) == "");
  CHECK(refused(6) == "");  // a prepared buffer and a weight
  CHECK(refused(1) == at + "operand 0 is read early and is no constant of the run");
  CHECK(refused(8) == at + "operand 3 is read early and is no constant of the run");
  CHECK(refused(int64_t{1} << 62) == at + "operand 62 is read early and is no constant of the run");
}

TEST_CASE("blocks form a forest of bounded depth") {
  CHECK(in_cpu([](Program& p) { p.run.steps[3].if_[0].else_block = 0; }) ==
        "/programs/0/run/steps/3/if: its block is another step's too");
  CHECK(in_cpu([](Program& p) { p.run.steps[3].if_[0].else_block = 9; }) ==
        "/programs/0/run/steps/3/if: its block does not exist");
  CHECK(in_cpu([](Program& p) { p.blocks.emplace_back(); }) ==
        "/programs/0/blocks: a block is no step's body, or contains itself");
  CHECK(in_cpu([](Program& p) {
          p.blocks[2].steps = {p.run.steps[4]};
          p.run.steps.erase(p.run.steps.begin() + 4);
        }) == "/programs/0/blocks: a block is no step's body, or contains itself");
  CHECK(in_cpu([](Program& p) {
          for (uint32_t i = 3; i < 20; ++i) {
            p.blocks.emplace_back();
            p.blocks[i - 1].steps = {p.run.steps[4]};
            p.blocks[i - 1].steps[0].loop[0].body = i;
          }
        }) == "/programs/0: blocks nest deeper than 8");
}

TEST_CASE("symbols have sound ranges") {
  CHECK(in_cpu([](Program& p) { p.symbols[0].opt = 65; }) ==
        "/programs/0/symbols/0: 0 <= min <= opt <= max does not hold");
  CHECK(in_cpu([](Program& p) { p.symbols[0].min = -1; }) ==
        "/programs/0/symbols/0: 0 <= min <= opt <= max does not hold");
  CHECK(in_cpu([](Program& p) { p.symbols[1].name = "batch"; }) ==
        "/programs/0/symbols/1: its name is empty or stands twice");
}

TEST_CASE("a loop program and its description say the same") {
  const auto loop = [](auto&& change) {
    return refusal([&](Sample& s) {
      LoopProgram l = relu_loop();
      change(l, s.plan.kernels[0].generated[0]);
      s.image_bytes[0] = encode_loop(l);
    });
  };
  const std::string at = "/kernels/0: loop program: ";
  CHECK(loop([](LoopProgram&, KernelDesc& d) { d.operands[0].role = OperandRole::kInOut; }) != "");
  CHECK(loop([](LoopProgram&, KernelDesc& d) { d.operands[0].dtypes = {DType::float16}; }) ==
        at + "an operand's dtype differs from its description");
  CHECK(loop([](LoopProgram&, KernelDesc& d) { d.operands[0].max_rank = 3; }) ==
        at + "an operand's rank differs from its description");
  CHECK(loop([](LoopProgram&, KernelDesc& d) { d.args.pop_back(); }) ==
        at + "its arguments are not the views of its operands in order");
  CHECK(loop([](LoopProgram&, KernelDesc& d) { std::swap(d.args[0].operand, d.args[1].operand); }) ==
        at + "its arguments are not the views of its operands in order");
  CHECK(loop([](LoopProgram& l, KernelDesc&) { l.operands.push_back(l.operands[0]); }) ==
        at + "it differs from its description in the number of operands");
  CHECK(loop([](LoopProgram& l, KernelDesc&) { l.code[2].a = 7; }) != "");
}

TEST_CASE("code must have the hash that the program names") {
  Sample s = sample_plan();
  auto file = read_plan_bytes(s.file());
  REQUIRE_OK(file);
  file->plan.images[1].hash[0] = file->plan.images[1].hash[0] == '0' ? '1' : '0';
  REQUIRE_CODE(verify_plan(file->plan, file->code.span(), test_kernels()), Code::plan_checksum);
}

TEST_CASE("reference launches write host memory only") {
  CHECK(in_cpu([](Program& p) { launch(p, 0).shadow[0].operands[2].buffer = 8; }) ==
        "/programs/0/run/steps/0/launch/shadow/0: a reference launch may write host scratch only");
}

TEST_CASE("targets") {
  CHECK(parse_target("cpu")->arch == 0);
  CHECK(parse_target("sm_90")->arch == 90);
  CHECK(parse_target("sm_120")->arch == 120);
  for (const char* bad : {"", "gpu", "sm_", "sm_9", "sm_09", "sm_9a", "sm_1200", "SM_90"})
    CHECK_FALSE(parse_target(bad).has_value());
}
