#include "ge_compile/run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "base/text.h"
#include "common/environment.h"
#include "common/overwrite.h"
#include "common/report.h"
#include "compiler/compile.h"
#include "compiler/ir/text.h"
#include "compiler/source/graph_json_write.h"
#include "compiler/target/target.h"
#include "ge/ge.h"
#include "ge_compile/check.h"
#include "ge_compile/lists.h"
#include "ge_compile/model.h"
#include "platform/file.h"

namespace ge {
namespace {

// "native" and the default: the CPU and every visible GPU's architecture, said aloud.
std::vector<std::string> resolve_native(const CompileCommand& c) {
  std::vector<std::string> targets = c.targets;
  const bool said_nothing = targets.empty();
  if (said_nothing) targets.push_back("native");
  std::vector<std::string> out;
  for (const std::string& t : targets) {
    if (t != "native") {
      out.push_back(t);
      continue;
    }
    out.emplace_back("cpu");
    const int32_t gpus = ge_cuda_device_count();
    for (int32_t i = 0; i < gpus; ++i) out.push_back("sm_" + std::to_string(ge_cuda_device_arch(i)));
    std::string list;
    for (const std::string& name : out) list += (list.empty() ? "" : ",") + name;
    note(gpus > 0 ? "native target: " + list : "no GPU here: the plan has cpu only; add -t sm_90");
  }
  return out;
}

CompileOptions compile_options(const CompileCommand& c) {
  CompileOptions o;
  o.targets = resolve_native(c);
  o.level = c.level;
  o.exact = c.exact;
  o.allow = c.allow;
  o.passes.only = c.passes;
  o.passes.disabled = c.disabled;
  o.passes.print_after = c.print_ir.value_or("");
  if (c.print_ir && o.passes.print_after.empty()) o.passes.print_after = "all";
  o.passes.check = c.check_passes;
  o.passes.time = c.time_passes;
  o.passes.print = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); };
  o.explain = c.explain;
  o.keep_ptx = c.ptx;
  o.cuda_source = c.emit == "cuda";
  return o;
}

Status write_text(const std::string& path, std::string_view text) {
  return path == "-" ? write_stdout(as_bytes(text)) : write_file(path, as_bytes(text));
}

Status write_plan_file(const std::string& path, Compiled& compiled) {
  if (path == "-") {
    if (isatty(STDOUT_FILENO) == 1)
      return fail(Code::bad_usage)
          .say("a plan is binary: it is not written to a terminal")
          .try_("-o FILE, or redirect standard output");
    return compiled.write([](ByteSpan bytes) { return write_stdout(bytes); });
  }
  GE_ASSIGN(AtomicFile file, AtomicFile::create(path));
  GE_TRY(compiled.write([&](ByteSpan bytes) { return file.write(bytes); }));
  return file.commit();
}

std::string bytes_text(int64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) value /= 1024, ++unit;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

void print_summary(const Compiled& compiled, double seconds) {
  for (const std::string& text : compiled.notes) note(text);
  std::string line;
  for (const auto& t : compiled.summary.targets)
    line += t.target + ": " + counted(static_cast<int64_t>(t.launches), "launch", "launches") + ", " +
            counted(static_cast<int64_t>(t.kernels), "kernel", "kernels") + ", " +
            bytes_text(t.scratch_bytes) + " scratch; ";
  tell(fmt::format("{}weights {}; {:.2f} s", line, bytes_text(compiled.summary.weight_bytes), seconds));
}

Status emit(const CompileCommand& c, Graph graph) {
  const auto start = std::chrono::steady_clock::now();
  if (c.emit == "graph") return write_graph_json(graph, c.output);
  const CompileOptions options = compile_options(c);
  if (c.emit == "ir" || c.emit == "dot") {
    GE_ASSIGN(const Graph optimised, optimise(std::move(graph), options, options.targets.front()));
    return write_text(c.output, c.emit == "ir" ? print(optimised) : to_dot(optimised));
  }
  GE_ASSIGN(Compiled compiled, compile(std::move(graph), options));
  if (c.explain) std::fwrite(compiled.explanation.data(), 1, compiled.explanation.size(), stderr);
  if (c.emit == "cuda" && compiled.cuda_source.empty())
    note(fmt::format("no target of {} has generated CUDA code", fmt::join(options.targets, ",")));
  GE_TRY(c.emit == "cuda" ? write_text(c.output, compiled.cuda_source) : write_plan_file(c.output, compiled));
  print_summary(compiled, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return {};
}

Status refuse_overwriting(const CompileCommand& c, const Model& model) {
  std::vector<std::string> written{c.output};
  if (c.emit == "graph" && c.output != "-") written.push_back(weights_file(c.output));
  std::vector<FileRead> read{{c.model, "the model"}};
  for (const std::string& file : model.files) read.push_back({file, "its weights"});
  for (const std::string& freeze : c.freezes)
    read.push_back({freeze.substr(freeze.find('=') + 1), "--freeze " + freeze.substr(0, freeze.find('='))});
  ErrorList errors;
  check_places(written, read, errors);
  return errors.take();
}

Status refuse_what_is_not_there(const CompileCommand& c) {
  if (c.tune || c.locked || !c.tuning_db.empty())
    return fail(Code::bad_usage).say("this ge does not tune yet: leave out --tune, --tuning-db and --locked");
  if (c.exact && !c.allow.empty())
    return fail(Code::bad_usage)
        .say("--exact and --allow exclude each other: one keeps every bit, the other gives some up");
  if (c.reference.has_value() && *c.reference > 0)
    return fail(Code::bad_usage).say("this ge's plans hold no reference answers yet: leave out --reference");
  return {};
}

}  // namespace

int run_command(const CompileCommand& command) {
  if (command.lists()) {
    const Status written = print_lists(command);
    return written.ok() ? 0 : report(written.error());
  }
  Status allowed = check_environment({"GE_THREADS", "GE_ONEDNN", "GE_NVRTC"});
  if (allowed.ok()) allowed = refuse_what_is_not_there(command);
  if (!allowed.ok()) return report(allowed.error());
  if (command.check) return check_model(command, compile_options);
  auto model = read_model(command);
  if (!model.ok()) return report(model.error());
  if (Status status = refuse_overwriting(command, *model); !status.ok()) return report(status.error());
  Status status = emit(command, std::move(model->graph));
  return status.ok() ? 0 : report(model->located(std::move(status).take_error()));
}

}  // namespace ge
