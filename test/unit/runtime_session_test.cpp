// Sessions on the CPU: bind, run, rebind, refuse; several sessions on several threads over one model.
#include <cstddef>
#include <thread>

#include "catch.h"
#include "runtime_sample.h"

using namespace ge;
using namespace ge::test;

namespace {

std::vector<float> ramp(size_t count, float from) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = from + 0.5f * static_cast<float>(i);
  return values;
}

}  // namespace

TEST_CASE("a session runs a plan and rebinds without reloading", "[runtime]") {
  Run r(affine_plan());
  REQUIRE(r.opened.message == "");
  for (const int64_t batch : {1, 3, 64, 2, 3}) {
    CAPTURE(batch);
    REQUIRE(r.bind({{"batch", batch}}).message == "");
    const std::vector<float> x = ramp(static_cast<size_t>(batch) * 3, -2);
    REQUIRE(r.write(0, x).ok());
    for (int again = 0; again < 3; ++again) REQUIRE(r.run().message == "");
    REQUIRE(r.output_dims(0) == std::vector<int64_t>{batch, 4});
    REQUIRE(r.read<float>(0) == affine_expected(x));
  }
}

TEST_CASE("a batch of zero runs and gives an empty output", "[runtime]") {
  Run r(affine_plan());
  REQUIRE(r.bind({{"batch", 0}}).ok());
  REQUIRE(r.write(0, std::vector<float>()).ok());
  REQUIRE(r.run().message == "");
  REQUIRE(r.output_dims(0) == std::vector<int64_t>{0, 4});
  REQUIRE(r.read<float>(0).empty());
}

TEST_CASE("binding from shapes solves the symbols", "[runtime]") {
  Run r(affine_plan());
  const int64_t shape[] = {5, 3};
  const int64_t* shapes[] = {shape};
  const int32_t ranks[] = {2};
  REQUIRE(Outcome(ge_session_bind_shapes(r.session, shapes, ranks, 1)).message == "");
  REQUIRE(r.output_dims(0) == std::vector<int64_t>{5, 4});
}

TEST_CASE("what does not fit is refused with its code", "[runtime]") {
  Run r(affine_plan());
  SECTION("a dim above its range") {
    const Outcome o = r.bind({{"batch", 65}});
    REQUIRE(o.code == "E0605");
    REQUIRE(o.kind == GE_ERROR_USER);
  }
  SECTION("an unknown dim offers the nearest name") {
    const Outcome o = r.bind({{"bach", 3}});
    REQUIRE(o.code == "E0612");
    REQUIRE_THAT(o.message, contains("did you mean batch?"));
    REQUIRE_THAT(o.json, contains("\"fix\":\"did you mean batch?\""));
  }
  SECTION("a shape of the wrong rank") {
    const int64_t shape[] = {5};
    const int64_t* shapes[] = {shape};
    const int32_t ranks[] = {1};
    REQUIRE(Outcome(ge_session_bind_shapes(r.session, shapes, ranks, 1)).code == "E0603");
  }
  SECTION("running before binding") {
    REQUIRE(r.run().code == "E0110");
  }
  SECTION("an input of the wrong size") {
    REQUIRE(r.bind().ok());
    const Outcome o = r.write(0, std::vector<float>(5));
    REQUIRE(o.code == "E0603");
    REQUIRE_THAT(o.message, contains("20 bytes were given; float32[2, 3] is 24"));
  }
  SECTION("an input that is not there") {
    REQUIRE(r.bind().ok());
    REQUIRE(r.write(1, std::vector<float>(6)).code == "E0601");
  }
  SECTION("a failed bind leaves the former one in force") {
    REQUIRE(r.bind({{"batch", 3}}).ok());
    REQUIRE_FALSE(r.bind({{"batch", 99}}).ok());
    REQUIRE(r.output_dims(0) == std::vector<int64_t>{3, 4});
  }
}

TEST_CASE("a plan without this device's target lists what it has", "[runtime]") {
  PlanMaker m("sm_90");
  m.input("x", {m.number(1)});
  const Run r(m.file());
  REQUIRE(r.opened.code == "E0507");
  REQUIRE_THAT(r.opened.message, contains("the device is cpu; the plan has sm_90"));
  REQUIRE_THAT(r.opened.message, contains("compile the model with -t cpu"));
}

TEST_CASE("a kernel that this build lacks is named", "[runtime]") {
  PlanMaker m;
  const TensorRef x = m.input("x", {m.number(1)}), y = m.output("y", {m.number(1)});
  m.program().run.steps = {m.launch(m.builtin("map_of_the_future"), {x, y}, {}, "/nodes/0")};
  const Run r(m.file());
  REQUIRE(r.opened.code == "E0506");
  REQUIRE_THAT(r.opened.message, contains("map_of_the_future"));
}

TEST_CASE("damaged weights are found while they are loaded", "[runtime]") {
  std::vector<std::byte> file = affine_plan();
  file[file.size() - 1] ^= std::byte{1};
  const Run r(file);
  REQUIRE(r.opened.code == "E0504");
}

TEST_CASE("ports and symbols describe themselves", "[runtime]") {
  Run r(affine_plan());
  REQUIRE(ge_model_input_count(r.model) == 1);
  ge_port port{};
  port.size = sizeof port;
  REQUIRE(Outcome(ge_model_input(r.model, 0, &port)).ok());
  REQUIRE(std::string(port.name) == "x");
  REQUIRE(port.dtype == GE_FLOAT32);
  REQUIRE(port.rank == 2);
  REQUIRE(port.dims[0] == -1);
  REQUIRE(std::string(port.dim_names[0]) == "batch");
  REQUIRE(port.dims[1] == 3);
  REQUIRE(port.dim_names[1] == nullptr);
  ge_symbol symbol{};
  symbol.size = sizeof symbol;
  REQUIRE(Outcome(ge_model_symbol(r.model, 0, &symbol)).ok());
  REQUIRE(symbol.max == 64);
  ge_port small{};
  REQUIRE(Outcome(ge_model_input(r.model, 0, &small)).code == "E0110");  // its size is not set
}

TEST_CASE("a plan can be checked without loading its weights", "[runtime]") {
  Run r(affine_plan());
  ge_plan_needs needs{};
  needs.size = sizeof needs;
  REQUIRE(Outcome(ge_plan_check(r.plan, r.device, &needs)).message == "");
  REQUIRE(std::string(needs.target) == "cpu");
  REQUIRE(needs.launches == 1);
  REQUIRE(needs.kernels == 1);
  REQUIRE(needs.generated_kernels == 0);
  REQUIRE(needs.weights_bytes == 512);  // 48 and 16 bytes, each in 256
  REQUIRE(needs.prepared_bytes == 256);
  REQUIRE(needs.io_bytes == 2 * 3 * 4 + 2 * 4 * 4);
}

TEST_CASE("eight sessions on eight threads share one model", "[runtime][threads]") {
  Run r(affine_plan());
  REQUIRE(r.opened.ok());
  std::vector<std::string> faults(8);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      ge_session* session = nullptr;
      const auto failed = [&](ge_error* error) {
        const Outcome o(error);
        if (!o.ok()) faults[static_cast<size_t>(t)] += o.message + "\n";
        return !o.ok();
      };
      if (failed(ge_session_create(r.model, nullptr, &session))) return;
      for (int64_t round = 0; round < 20; ++round) {
        const int64_t batch = 1 + (round * 7 + t) % 64;
        const char* name = "batch";
        if (failed(ge_session_bind(session, &name, &batch, 1))) break;
        const std::vector<float> x = ramp(static_cast<size_t>(batch) * 3, static_cast<float>(t));
        std::vector<float> y(static_cast<size_t>(batch) * 4);
        if (failed(ge_session_write_input(session, 0, x.data(), x.size() * 4)) ||
            failed(ge_session_run(session)) ||
            failed(ge_session_read_output(session, 0, y.data(), y.size() * 4)))
          break;
        if (y != affine_expected(x)) faults[static_cast<size_t>(t)] += "wrong values\n";
      }
      ge_session_free(session);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& fault : faults) CHECK(fault == "");
}

TEST_CASE("profile and time report each launch", "[runtime]") {
  Run r(affine_plan());
  REQUIRE(r.bind().ok());
  REQUIRE(r.write(0, ramp(6, 0)).ok());
  int32_t count = 0;
  REQUIRE(Outcome(ge_session_profile(r.session, 3, &count)).message == "");
  REQUIRE(count == 1);
  ge_launch_profile entry{};
  entry.size = sizeof entry;
  REQUIRE(Outcome(ge_session_profile_entry(r.session, 0, &entry)).ok());
  REQUIRE(std::string(entry.kernel) == "dot_reference");
  REQUIRE(std::string(entry.source_nodes) == "/nodes/0");
  REQUIRE(entry.flops == 1000);
  REQUIRE(entry.bytes == 96);
  REQUIRE(entry.time_us > 0);
  REQUIRE(entry.dtype == GE_FLOAT32);
  double device_us[4] = {}, host_us[4] = {};
  ge_timing_options timing{sizeof timing, 1, 4, 0};
  REQUIRE(Outcome(ge_session_time(r.session, nullptr, device_us, host_us)).message.find("options") !=
          std::string::npos);
  REQUIRE(Outcome(ge_session_time(r.session, &timing, device_us, host_us)).ok());
  for (int i = 0; i < 4; ++i) {
    REQUIRE(device_us[i] > 0);
    REQUIRE(host_us[i] >= device_us[i]);
  }
  timing.cold = 1;
  REQUIRE(Outcome(ge_session_time(r.session, &timing, device_us, host_us)).ok());
  REQUIRE(device_us[3] > 0);
  ge_startup startup{};
  startup.size = sizeof startup;
  REQUIRE(Outcome(ge_session_startup(r.session, &startup)).ok());
  REQUIRE(startup.first_run_us > 0);
  REQUIRE(startup.bind_us > 0);
}

TEST_CASE("a device's ceilings are measured", "[runtime]") {
  Run r(affine_plan(), 2);
  ge_ceilings most{};
  REQUIRE(r.measure_ceilings(most).message == "");
  REQUIRE(most.gb_per_s > 0.1);
  REQUIRE(most.launch_us > 0);
  REQUIRE(most.launch_us < 1000);
  REQUIRE(most.tflop_per_s_f32 > 0.0001);
  REQUIRE(most.tflop_per_s_f16 == 0);
  ge_ceilings part{};
  REQUIRE(r.measure_ceilings(part, offsetof(ge_ceilings, launch_us)).message == "");
  REQUIRE(part.gb_per_s > 0.1);
  REQUIRE(part.launch_us == 0);  // the caller's struct has no room for it
  REQUIRE(Outcome(ge_device_measure_ceilings(r.device, nullptr)).message.find("size") != std::string::npos);
}
