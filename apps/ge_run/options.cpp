#include "ge_run/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "base/diagnostic.h"
#include "common/repeated.h"
#include "common/report.h"
#include "common/version.h"
#include "common/whole_number.h"
#include "ge/ge.h"

namespace ge {
namespace {

constexpr const char* kAbout =
    "Runs a plan made by ge-compile.\n"
    "  ge-run plan.bin -i x=x.npy -o y=y.npy\n"
    "  ge-run plan.bin --dim batch=8 --bench";

// The flags whose values need a second look, as they were written.
struct RawOptions {
  std::vector<std::string> inputs, outputs, dims, expected;
  std::string profile;
  bool version = false;
};

using Option = CLI::Option;

// A NaN is no tolerance: everything would agree with it, or nothing.
std::string tolerance_fault(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const bool valid = !text.empty() && *end == '\0' && std::isfinite(value) && value >= 0;
  return valid ? "" : "found " + text + ", allowed a number from 0 up";
}

// CLI11's own range takes a NaN.
std::string duration_fault(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const bool valid = !text.empty() && *end == '\0' && value >= 0.001 && value <= 86400;
  return valid ? "" : "found " + text + ", allowed seconds from 0.001 to 86400";
}

void add_tensors(CLI::App& app, RunCommand& c, RawOptions& raw) {
  const char* group = "Tensors";
  app.add_option("plan", c.plan, "the plan")->type_name("PLAN");
  app.add_option("-i,--input", raw.inputs,
                 "x.npy, w.safetensors:tensor, random[:SEED], zeros, ones, iota, or values 1,2,3; inputs not "
                 "named are random:0; e.g. -i x=x.npy")
      ->type_name("NAME=SOURCE")
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("-o,--output", raw.outputs,
                 "where results go (npy or safetensors; - is standard output); without it a summary is "
                 "printed; e.g. -o y=y.npy, -o results/")
      ->type_name("[NAME=]FILE|DIR/")
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("--dim", raw.dims, "a size, for inputs that are generated; e.g. --dim batch=8")
      ->type_name("NAME=N")
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("--expect", raw.expected,
                 "compare an output with a file; exit 4 and the worst elements when they differ; e.g. "
                 "--expect y=y.npy")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("--rtol", c.rtol,
                 "relative tolerance of --expect; default by element type; e.g. --rtol 1e-3")
      ->type_name("X")
      ->check(tolerance_fault)
      ->group(group);
  app.add_option("--atol", c.atol, "absolute tolerance of --expect; e.g. --atol 1e-5")
      ->type_name("X")
      ->check(tolerance_fault)
      ->group(group);
}

void add_device(CLI::App& app, RunCommand& c) {
  const char* group = "Device";
  app.add_option("-d,--device", c.device,
                 "auto, cpu or cuda[:N]; auto is the GPU where the plan has code for it; e.g. -d cuda:1")
      ->type_name("DEVICE")
      ->group(group);
  app.add_option("--threads", c.threads, "CPU threads; 0 is all this process may use; e.g. --threads 4")
      ->type_name("N")
      ->check(whole_number(0, 4096))
      ->group(group);
  app.add_option_function<std::string>(
         "--trust", [&c](const std::string&) { c.trust_builtin_only = true; },
         "builtin refuses device code that a plan carries; e.g. --trust builtin")
      ->type_name("builtin")
      ->check(CLI::IsMember({"builtin"}))
      ->group(group);
  app.add_flag("--no-graph", c.no_graph, "launch directly on every run, record no CUDA graph")->group(group);
}

void add_measuring(CLI::App& app, RunCommand& c, RawOptions& raw) {
  const char* group = "Measuring";
  app.add_flag("--bench", c.bench,
               "latency over many runs, host and device time apart; e.g. --bench --iterations 100")
      ->group(group);
  app.add_option("--warmup", c.warmup, "runs before the measured ones; e.g. --warmup 10")
      ->type_name("N")
      ->check(whole_number(0, 1000000))
      ->group(group);
  app.add_option("--iterations", c.iterations, "measured runs; e.g. --iterations 100")
      ->type_name("N")
      ->check(whole_number(1, 10000000))
      ->group(group);
  app.add_option("--duration", c.duration_s,
                 "measure for so many seconds instead (default 1); e.g. --duration 10")
      ->type_name("S")
      ->check(duration_fault)
      ->group(group);
  app.add_flag(
         "--cold", c.cold,
         "with --bench: other memory is written before each run, so that no cache holds weights or inputs")
      ->group(group);
  app.add_option(
         "--profile", raw.profile,
         "time, bytes and FLOPs per launch; =FILE.json writes a Perfetto trace; e.g. --profile=trace.json")
      ->type_name("FILE")
      ->expected(0, 1)
      ->default_str("-")
      ->group(group);
  app.add_flag(
         "--measure-ceilings", c.measure_ceilings,
         "what this device reaches at best (GB/s, TFLOP/s, the shortest launch), kept for --profile, which "
         "then has the floor of each launch; needs no plan; e.g. --measure-ceilings -d cuda")
      ->group(group);
  app.add_option("--ceilings", c.ceilings,
                 "where they are kept; without it ge/ceilings.txt in $XDG_CACHE_HOME or ~/.cache; e.g. "
                 "--ceilings h200.txt")
      ->type_name("FILE")
      ->group(group);
  app.add_flag("--startup", c.startup, "where start-up time went: driver, verify, weights, code, first run")
      ->group(group);
}

void add_checks(CLI::App& app, RunCommand& c, RawOptions& raw) {
  const char* group = "Checks and output";
  app.add_flag("--dry-run", c.dry_run, "can this plan run here? yes or no and why; nothing is run")
      ->group(group);
  app.add_flag(
         "--verify", c.verify,
         "check this machine against the reference answers kept in the plan; this version's plans hold none")
      ->group(group);
  app.add_flag("--find-first-difference", c.find_first_difference,
               "name the first launch that differs from the CPU reference; this version's plans hold none")
      ->group(group);
  app.add_flag("--json", c.json, "machine output on standard output")->group(group);
  app.add_flag("--version", raw.version, "version, commit, CUDA and library versions")->group(group);
}

int usage(const std::string& text) {
  tell("error[E0110]: " + visible(text) + "\n  run ge-run --help for the flags");
  return 2;
}

// "NAME=VALUE"; nullopt where there is no name before the '='.
std::optional<std::pair<std::string, std::string>> split(const std::string& text) {
  const size_t at = text.find('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size()) return std::nullopt;
  return std::pair(text.substr(0, at), text.substr(at + 1));
}

// One value of two would be lost.
std::string repeat_fault(const RunCommand& c) {
  const auto fault = [](const char* flag, const auto& list) {
    const std::string name = first_repeated(list, [](const auto& entry) { return entry.first; });
    return name.empty() ? "" : std::string(flag) + " " + name + "= stands twice";
  };
  for (const std::string& text :
       {fault("-i", c.inputs), fault("-o", c.outputs), fault("--expect", c.expected), fault("--dim", c.dims)})
    if (!text.empty()) return text;
  return "";
}

// Empty where all is well.
std::string interpret(const RawOptions& raw, RunCommand& c) {
  for (const std::string& text : raw.inputs) {
    const auto parts = split(text);
    if (!parts) return "-i " + text + ": NAME=SOURCE is needed";
    c.inputs.push_back(*parts);
  }
  for (const std::string& text : raw.outputs) {
    const auto parts = split(text);
    c.outputs.push_back(parts ? *parts : std::pair(std::string(), text));
    if (text.empty() || text.front() == '=' || text.back() == '=')
      return "-o " + text + ": [NAME=]FILE or DIR/ is needed";
  }
  for (const std::string& text : raw.expected) {
    const auto parts = split(text);
    if (!parts) return "--expect " + text + ": NAME=FILE is needed";
    c.expected.push_back(*parts);
  }
  for (const std::string& text : raw.dims) {
    const auto parts = split(text);
    const auto value = parts ? to_integer(parts->second) : std::nullopt;
    if (!value) return "--dim " + text + ": NAME=N is needed, N a whole number";
    c.dims.emplace_back(parts->first, *value);
  }
  if (const std::string fault = repeat_fault(c); !fault.empty()) return fault;
  const bool cuda_number =
      c.device.rfind("cuda:", 0) == 0 && to_integer(c.device.substr(5)).value_or(-1) >= 0;
  if (c.device != "auto" && c.device != "cpu" && c.device != "cuda" && !cuda_number)
    return "--device " + c.device + ": auto, cpu or cuda[:N] is needed";
  c.profile = !raw.profile.empty();
  if (raw.profile != "-") c.trace = raw.profile;
  if (c.iterations && c.duration_s) return "--iterations and --duration exclude each other";
  if (c.iterations && !c.bench && !c.profile)
    return "--iterations counts the runs of --bench or --profile: one of them is needed";
  if (!c.bench && (c.warmup || c.duration_s || c.cold))
    return "--warmup, --duration and --cold say how --bench measures: it is needed";
  if (c.dry_run && !(c.dims.empty() && c.inputs.empty() && c.outputs.empty() && c.expected.empty()))
    return "--dry-run looks at the plan and the device alone: --dim, -i, -o and --expect do not go with it";
  if (c.dry_run && (c.bench || c.profile || c.startup))
    return "--dry-run runs nothing: --bench, --profile and --startup do not go with it";
  const bool about_a_plan = !c.inputs.empty() || !c.outputs.empty() || !c.dims.empty() ||
                            !c.expected.empty() || c.trust_builtin_only || c.no_graph || c.bench ||
                            c.profile || c.startup || c.dry_run || c.verify || c.find_first_difference;
  if (c.plan.empty() && about_a_plan)
    return "--measure-ceilings without a plan takes -d, --threads, --ceilings and --json alone";
  if (c.measure_ceilings && !c.plan.empty() && !c.profile)
    return "--measure-ceilings is for --profile, or for no plan at all";
  if (!c.ceilings.empty() && !c.profile && !c.measure_ceilings)
    return "--ceilings is for --profile and --measure-ceilings: one of them is needed";
  if ((c.rtol || c.atol) && c.expected.empty())
    return "--rtol and --atol say how --expect compares: it is needed";
  const bool to_stdout = std::any_of(c.outputs.begin(), c.outputs.end(),
                                     [](const auto& output) { return output.second == "-"; });
  if (to_stdout && (c.json || c.bench || c.profile || c.startup || !c.expected.empty()))
    return "-o - has standard output for itself: --json, --bench, --profile, --startup and --expect do not "
           "go with it";
  return "";
}

// As CLI11 takes them: without the program, last first. A bare --profile takes no value: "--profile plan.bin"
// names the plan.
std::vector<std::string> arguments(int argc, char** argv) {
  std::vector<std::string> list;
  for (int i = argc - 1; i > 0; --i)
    list.emplace_back(argv[i] == std::string("--profile") ? "--profile=-" : argv[i]);
  return list;
}

}  // namespace

std::optional<int> parse_options(int argc, char** argv, RunCommand& command) {
  CLI::App app{kAbout, "ge-run"};
  RawOptions raw;
  add_tensors(app, command, raw);
  add_device(app, command);
  add_measuring(app, command, raw);
  add_checks(app, command, raw);
  try {
    app.parse(arguments(argc, argv));
  } catch (const CLI::CallForHelp&) {
    return print_and_end(app.help());
  } catch (const CLI::ParseError& e) {
    return usage(e.what());
  }
  if (raw.version) {
    return print_and_end(version_text("ge-run") + "CPU library " + ge_cpu_library() + "\n");
  }
  if (command.plan.empty() && !command.measure_ceilings) return usage("a plan is needed");
  const std::string wrong = interpret(raw, command);
  if (!wrong.empty()) return usage(wrong);
  return std::nullopt;
}

}  // namespace ge
