// ge-inspect: shows, checks and compares plans. Reads plans only; needs no GPU.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/diagnostic.h"
#include "common/guarded_main.h"
#include "common/report.h"
#include "common/version.h"
#include "ge_inspect/inspect.h"

namespace {

constexpr const char* kAbout =
    "Shows what a plan holds: sections, targets, signature, launches, memory, needs.\n"
    "  ge-inspect plan.bin\n"
    "  ge-inspect diff before.bin after.bin";

struct Options {
  std::string plan, a, b;
  bool json = false, verify = false, version = false, diff = false;
};

void add_flags(CLI::App& app, Options& o) {
  app.add_option("plan", o.plan, "the plan to show")->type_name("PLAN");
  app.add_flag(
      "--json", o.json,
      "every record as JSON (schemas/plan.schema.json); e.g. ge-inspect plan.bin --json | jq .plan.kernels");
  app.add_flag("--verify", o.verify,
               "only check: checksums, records, loop programs, weights; e.g. ge-inspect plan.bin --verify");
  app.add_flag("--version", o.version, "version, commit, CUDA and library versions");
  CLI::App* diff =
      app.add_subcommand("diff", "compare two plans by source node; exit code 4 where they differ");
  diff->add_option("a", o.a, "first plan")->type_name("A");
  diff->add_option("b", o.b, "second plan")->type_name("B");
  diff->callback([&o] { o.diff = true; });
}

int usage(const std::string& what) {
  std::fputs((to_string(ge::fail(ge::Code::bad_usage).say(what).try_("ge-inspect -h lists the flags")) + "\n")
                 .c_str(),
             stderr);
  return ge::exit_code(ge::ErrorKind::kUsage);
}

int run(const Options& o) {
  if (o.version) return ge::print_and_end(ge::version_text("ge-inspect"));
  if (o.diff)
    return !o.b.empty() && o.plan.empty() && !o.json && !o.verify
               ? ge::diff(o.a, o.b)
               : usage("diff takes two plans and nothing else");
  if (o.plan.empty()) return usage("a plan is needed");
  if (o.json && o.verify) return usage("--json and --verify exclude each other");
  return o.verify ? ge::verify(o.plan) : ge::show(o.plan, o.json);
}

int parse_and_run(int argc, char** argv) {
  CLI::App app{kAbout, "ge-inspect"};
  Options options;
  add_flags(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return ge::print_and_end(app.help());
  } catch (const CLI::ParseError& e) {
    return usage(e.what());
  }
  return run(options);
}

}  // namespace

int main(int argc, char** argv) {
  return ge::guarded_main([&] { return parse_and_run(argc, argv); });
}
