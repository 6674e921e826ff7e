#include "ge_compile/options.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/diagnostic.h"
#include "common/repeated.h"
#include "common/report.h"
#include "common/version.h"
#include "common/whole_number.h"

namespace ge {
namespace {

constexpr const char* kAbout =
    "Compiles a model into a plan that ge-run executes.\n"
    "  ge-compile graph.json -o plan.bin -t cpu,sm_90";

void add_input_output(CLI::App& app, CompileCommand& c) {
  app.add_option("model", c.model, "graph.json, model.onnx, or - for standard input")->type_name("MODEL");
  app.add_option("-o,--output", c.output, "what to write; - is standard output")->type_name("FILE");
  app.add_option("--emit", c.emit,
                 "what -o receives: plan, graph (canonical JSON), ir, dot, cuda; e.g. --emit ir -o -")
      ->check(CLI::IsMember({"plan", "graph", "ir", "dot", "cuda"}));
  app.add_flag("--check", c.check, "list every unsupported or wrong thing in the model, write nothing");
}

void add_target(CLI::App& app, CompileCommand& c) {
  app.add_option("-t,--target", c.targets,
                 "cpu, sm_80, sm_86, sm_89, sm_90, sm_100, sm_120, native; e.g. -t cpu,sm_90")
      ->type_name("LIST")
      ->delimiter(',')
      ->group("Target");
  app.add_flag("--ptx", c.ptx,
               "also keep PTX of the highest arch, for newer GPUs; this version's ge-run does not use it yet")
      ->group("Target");
}

void add_model(CLI::App& app, CompileCommand& c) {
  app.add_option("--dim", c.dims, "pin or bound a symbolic dim; e.g. --dim batch=8, --dim batch=1:64:8")
      ->type_name("NAME=N|MIN:MAX[:OPT]")
      ->allow_extra_args(false)
      ->group("Model");
  app.add_option("--freeze", c.freezes, "turn a graph input into a constant; e.g. --freeze mask=mask.npy")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false)
      ->group("Model");
}

void add_optimisation(CLI::App& app, CompileCommand& c) {
  app.add_option("-O", c.level,
                 "0 reference kernels, no fusion; 1 exact rewrites; 2 default; 3 every candidate; e.g. -O 1")
      ->check(whole_number(0, 3))
      ->group("Optimisation");
  app.add_flag("--exact", c.exact, "only rewrites that keep every bit")->group("Optimisation");
  app.add_option("--allow", c.allow,
                 "lossy rewrites that may be made: tf32, fast-math, fp16-accumulate; this version makes none")
      ->type_name("LIST")
      ->delimiter(',')
      ->check(CLI::IsMember({"tf32", "fast-math", "fp16-accumulate"}))
      ->group("Optimisation");
  app.add_flag("--tune", c.tune, "time candidates on the GPU; not in this version, which refuses it")
      ->group("Optimisation");
  app.add_option("--tuning-db", c.tuning_db,
                 "where tuning results are kept; not in this version, which refuses it")
      ->type_name("FILE")
      ->group("Optimisation");
  app.add_flag("--locked", c.locked,
               "a miss in the tuning database is an error; not in this version, which refuses it")
      ->group("Optimisation");
  app.add_option(
         "--reference", c.reference,
         "store N seeded input sets and their reference outputs in the plan; not in this version, which "
         "refuses it")
      ->type_name("N")
      ->expected(0, 1)
      ->default_str("1")
      ->group("Optimisation");
}

void add_looking(CLI::App& app, CompileCommand& c) {
  app.add_option("--print-ir", c.print_ir,
                 "print the graph after a pass, or after all; e.g. --print-ir=fuse_epilogues")
      ->type_name("PASS|all")
      ->expected(0, 1)
      ->default_str("all")
      ->group("Look inside");
  app.add_option("--disable-pass", c.disabled, "leave a pass out; e.g. --disable-pass fuse_elementwise")
      ->type_name("NAME")
      ->delimiter(',')
      ->group("Look inside");
  app.add_option("--passes", c.passes, "run only these; e.g. --passes canonicalize,fold_constants")
      ->type_name("A,B")
      ->delimiter(',')
      ->group("Look inside");
  app.add_flag("--check-passes", c.check_passes, "run the graph before and after every pass on the reference")
      ->group("Look inside");
  app.add_flag("--time-passes", c.time_passes, "time of every pass")->group("Look inside");
  app.add_flag("--explain", c.explain,
               "the kernel chosen for each node, its cost, why the others were refused")
      ->group("Look inside");
}

void add_lists(CLI::App& app, CompileCommand& c) {
  app.add_flag("--list-ops", c.list_ops, "supported operators")->group("Lists");
  app.add_flag("--list-passes", c.list_passes, "passes in order of running")->group("Lists");
  app.add_flag("--list-kernels", c.list_kernels, "built-in kernels")->group("Lists");
  app.add_flag("--list-targets", c.list_targets, "targets")->group("Lists");
  app.add_flag("--json", c.json, "machine output for --check and the lists")->group("Lists");
}

int usage(const std::string& text) {
  tell("error[E0110]: " + visible(text) + "\n  run ge-compile --help for the flags");
  return 2;
}

// Of NAME=VALUE; a name may hold '='.
std::string name_part(const std::string& text) {
  return text.substr(0, text.rfind('='));
}

}  // namespace

std::optional<int> parse_options(int argc, char** argv, CompileCommand& command) {
  CLI::App app{kAbout, "ge-compile"};
  bool version = false;
  app.add_flag("--version", version, "version, commit, CUDA and library versions");
  add_input_output(app, command);
  add_target(app, command);
  add_model(app, command);
  add_optimisation(app, command);
  add_looking(app, command);
  add_lists(app, command);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return print_and_end(app.help());
  } catch (const CLI::ParseError& e) {
    return usage(e.what());
  }
  if (version) return print_and_end(version_text("ge-compile"));
  if (command.lists()) return std::nullopt;
  if (const std::string name = first_repeated(command.dims, name_part); !name.empty())
    return usage("--dim " + name + "= stands twice");
  if (const std::string name = first_repeated(command.freezes, name_part); !name.empty())
    return usage("--freeze " + name + "= stands twice");
  if (command.model.empty()) return usage("a model is needed");
  if (command.check && (!command.output.empty() || command.emit != "plan"))
    return usage("--check writes nothing: -o and --emit do not go with it");
  if (command.output.empty() && !command.check) return usage("-o FILE is needed (or --check)");
  return std::nullopt;
}

}  // namespace ge
