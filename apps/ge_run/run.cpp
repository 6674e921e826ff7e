#include "ge_run/run.h"

#include <cstdio>

#include "base/text.h"
#include "common/environment.h"
#include "common/report.h"
#include "ge_run/device.h"
#include "ge_run/inputs.h"
#include "ge_run/outputs.h"
#include "ge_run/report.h"
#include "platform/clock.h"
#include "platform/file.h"

namespace ge {
namespace {

constexpr int32_t kProfileIterations = 10;

void say(const std::string& text) {
  tell(visible_line(text));
}

// One run of the program, from plan to report.
class Runner {
 public:
  explicit Runner(const RunCommand& command) : c_(command) {}
  Status run();
  const RunReport& report() const { return report_; }

 private:
  Status open();
  std::string ceilings_file() const { return c_.ceilings.empty() ? usual_ceilings_file() : c_.ceilings; }
  Status measure_ceilings();
  Status add_floors(Profile& profile);
  Status dry_run();
  Status load();
  Status feed();
  Status collect();
  Status compare_outputs();
  Status measure();
  Status write_trace();
  Status refuse_missing_references() const;
  Status startup();

  const RunCommand& c_;
  RunReport report_;
  Runtime r_;
  std::vector<PortInfo> inputs_, outputs_;
  std::vector<HostTensor> results_;
  int64_t began_ns_ = monotonic_ns();
  double inputs_us_ = 0;
};

Status Runner::run() {
  GE_TRY(check_environment({"GE_THREADS", "GE_ONEDNN", "GE_CUBLASLT"}));
  GE_TRY(open());
  if (c_.measure_ceilings) GE_TRY(measure_ceilings());
  if (c_.plan.empty()) return {};
  if (c_.dry_run) return dry_run();
  GE_TRY(refuse_missing_references());
  GE_TRY(load());
  GE_ASSIGN(const auto destinations, plan_outputs(c_, outputs_));
  for (const auto& [name, file] : c_.expected) {
    GE_TRY([&]() -> Status {
      auto found = find_port(outputs_, name, Code::unknown_output);
      return found.ok() ? Status() : Status(std::move(found).take_error());
    }());
  }
  GE_TRY(make_output_folders(c_));
  GE_TRY(feed());
  GE_TRY(status_of(ge_session_run(r_.session.get())));
  if (c_.startup) GE_TRY(startup());
  GE_TRY(collect());
  GE_TRY(write_outputs(destinations, outputs_, results_));
  for (const Destination& d : destinations) report_.files.push_back(d.file);
  GE_TRY(measure());
  return compare_outputs();
}

Status Runner::open() {
  if (!c_.plan.empty()) {
    ge_plan_options options{};
    options.size = sizeof options;
    options.trust_builtin_only = c_.trust_builtin_only;
    ge_plan* plan = nullptr;
    GE_TRY(status_of(ge_plan_open_file(c_.plan.c_str(), &options, &plan)));
    r_.plan.reset(plan);
    report_.plan = c_.plan;
    report_.model = ge_plan_model_name(plan);
  }
  GE_ASSIGN(ChosenDevice chosen, open_chosen_device(c_, r_.plan.get()));
  r_.device = std::move(chosen.device);
  report_.device = chosen.text;
  report_.reason = chosen.reason;
  report_.target = ge_device_target(r_.device.get());
  report_.device_name = ge_device_name(r_.device.get());
  say("device: " + chosen.text + " (" + report_.device_name + "): " + chosen.reason);
  return {};
}

Status Runner::dry_run() {
  ge_plan_needs needs{};
  needs.size = sizeof needs;
  GE_TRY(status_of(ge_plan_check(r_.plan.get(), r_.device.get(), &needs)));
  report_.needs = needs;
  return {};
}

// Kept where the next --profile finds them; where there is no such place they are only told.
Status Runner::measure_ceilings() {
  GE_ASSIGN(report_.ceilings, measure_ceilings_of(r_.device.get(), c_.threads));
  const std::string file = ceilings_file();
  if (file.empty()) {
    note("the ceilings are not kept: HOME is not set; --ceilings FILE names a place");
    return {};
  }
  GE_TRY(keep(*report_.ceilings, file));
  report_.files.push_back(file);
  return {};
}

// The floor of each launch, where this device's ceilings are known.
Status Runner::add_floors(Profile& profile) {
  std::optional<DeviceCeilings> known = report_.ceilings;
  const std::string file = ceilings_file();
  if (!known && !file.empty()) {
    GE_ASSIGN(known, kept(file, ceilings_name(r_.device.get(), c_.threads), c_.ceilings.empty()));
  }
  if (!known) {
    note("the floor of each launch is told once --measure-ceilings has measured this device");
    return {};
  }
  for (ProfileRow& row : profile.rows) row.floor_us = floor_us(row, known->most);
  return {};
}

// Both switches compare with references that are kept in a plan; this format's writer keeps none yet that
// this runtime runs.
Status Runner::refuse_missing_references() const {
  if (!c_.verify && !c_.find_first_difference) return {};
  const char* flag =
      c_.verify ? "--verify needs reference answers" : "--find-first-difference needs reference launches";
  return fail(Code::reference_missing)
      .at(c_.plan)
      .because(std::string(flag) + "; this plan was written without")
      .try_("compare with a file: --expect NAME=FILE.npy, or with a plan compiled with -O 0");
}

Status Runner::load() {
  ge_model* model = nullptr;
  GE_TRY(status_of(ge_model_load(r_.plan.get(), r_.device.get(), nullptr, &model)));
  r_.model.reset(model);
  ge_session_options options{};
  options.size = sizeof options;
  options.no_graph = c_.no_graph;
  ge_session* session = nullptr;
  GE_TRY(status_of(ge_session_create(model, &options, &session)));
  r_.session.reset(session);
  GE_ASSIGN(inputs_, input_ports(model));
  GE_ASSIGN(outputs_, output_ports(model));
  return {};
}

Status Runner::feed() {
  const int64_t began = monotonic_ns();
  GE_ASSIGN(std::vector<InputSource> sources, read_sources(c_, inputs_));
  GE_TRY(bind_session(r_.session.get(), sources, c_));
  GE_TRY(fill_inputs(r_.session.get(), inputs_, sources));
  std::string generated;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    GE_ASSIGN(auto dims, input_dims(r_.session.get(), static_cast<int32_t>(i)));
    if (!sources[i].named) generated += " " + inputs_[i].name + dims_to_string(dims);
    report_.inputs.push_back({inputs_[i].name, sources[i].text, inputs_[i].dtype, std::move(dims)});
  }
  if (!generated.empty()) note("random:0 for" + generated);
  inputs_us_ = static_cast<double>(monotonic_ns() - began) / 1000;
  return {};
}

Status Runner::collect() {
  const bool other_product = c_.bench || c_.profile || c_.startup || !c_.expected.empty();
  const bool summary = c_.outputs.empty() && (!other_product || (c_.json && !c_.bench && !c_.profile));
  if (!summary && c_.outputs.empty() && c_.expected.empty()) return {};
  for (size_t i = 0; i < outputs_.size(); ++i) {
    GE_ASSIGN(HostTensor tensor, read_output(r_.session.get(), static_cast<int32_t>(i)));
    if (summary || c_.json) report_.outputs.push_back(summarize(outputs_[i].name, tensor));
    results_.push_back(std::move(tensor));
  }
  return {};
}

Status Runner::compare_outputs() {
  ErrorList errors;
  for (const auto& [name, file] : c_.expected) {
    GE_ASSIGN(const int32_t index, find_port(outputs_, name, Code::unknown_output));
    auto compared = compare(name, file, results_[static_cast<size_t>(index)], c_);
    if (!compared.ok()) {
      errors.add(std::move(compared).take_error());
      continue;
    }
    report_.comparisons.push_back(*compared);
    if (compared->different == 0) continue;
    std::string text = comparison_text(*compared);
    text.pop_back();  // its last line break
    errors.add(fail(Code::results_differ).at(file).in(name).because(std::move(text)));
  }
  return errors.take();
}

Status Runner::measure() {
  if (c_.bench) {
    GE_ASSIGN(report_.bench, run_bench(r_.session.get(), c_));
  }
  if (!c_.profile) return {};
  GE_ASSIGN(report_.profile, run_profile(r_.session.get(), c_.iterations.value_or(kProfileIterations)));
  GE_TRY(add_floors(*report_.profile));
  return c_.trace.empty() ? Status() : write_trace();
}

Status Runner::write_trace() {
  GE_TRY(write_file(c_.trace, as_bytes(trace_json(*report_.profile, report_.device_name))));
  report_.files.push_back(c_.trace);
  return {};
}

Status Runner::startup() {
  ge_startup s{};
  s.size = sizeof s;
  GE_TRY(status_of(ge_session_startup(r_.session.get(), &s)));
  report_.startup = {{"read plan", s.read_us},
                     {"open device", s.driver_us},
                     {"verify", s.verify_us},
                     {"weights", s.weights_us},
                     {"code", s.code_us},
                     {"prepare", s.prepare_us},
                     {"bind", s.bind_us},
                     {"inputs", inputs_us_ - s.bind_us},
                     {"first run", s.first_run_us},
                     {"all, from the start of main", static_cast<double>(monotonic_ns() - began_ns_) / 1000}};
  return {};
}

// What goes to standard output: the report, also where results differ; with --json an error is a document
// too.
std::string product_of(const RunCommand& command, const RunReport& report, const Status& status) {
  if (status.ok() || status.error().kind() == ErrorKind::kMismatch)
    return command.json ? report_json(report) : visible(report_text(report));
  if (command.json) return errors_json(status.error());
  if (!command.dry_run) return "";
  const Diagnostic& d = status.error().first();
  return visible("no: " + (d.message.empty() ? std::string(title_of(d.code)) : d.message) + "\n");
}

}  // namespace

int run_command(const RunCommand& command) {
  Runner runner(command);
  Status status = runner.run();
  const std::string product = product_of(command, runner.report(), status);
  Status written = product.empty() ? Status() : write_stdout(as_bytes(product));
  if (!status.ok()) return report(status.error());
  return written.ok() ? 0 : report(written.error());
}

}  // namespace ge
