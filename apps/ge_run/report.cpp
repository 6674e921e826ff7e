#include "ge_run/report.h"

#include <fmt/format.h>

#include "base/text.h"
#include "base/usual_fix.h"
#include "common/table.h"

namespace ge {
namespace {

std::string startup_table(const std::vector<StartupPart>& parts) {
  Table table({"start-up", ">ms"});
  for (const StartupPart& part : parts) table.add({part.name, fmt::format("{:.3f}", part.time_us / 1000)});
  return table.text();
}

std::string needs_text(const RunReport& r) {
  const ge_plan_needs& n = *r.needs;
  return fmt::format(
      "yes: {} runs on {} ({}, {})\n  {} of {} ({} generated{})\n  weights {}, prepared {}, "
      "arena {}, inputs and outputs {}; {} free\n",
      visible_line(r.plan), r.device, r.device_name, r.target, counted(n.launches, "launch", "launches"),
      counted(n.kernels, "kernel", "kernels"), n.generated_kernels, n.uses_library ? ", cuBLASLt" : "",
      human_bytes(static_cast<double>(n.weights_bytes)), human_bytes(static_cast<double>(n.prepared_bytes)),
      human_bytes(static_cast<double>(n.arena_bytes)), human_bytes(static_cast<double>(n.io_bytes)),
      human_bytes(static_cast<double>(n.free_bytes)));
}

void write_needs(DocumentBuilder& b, const ge_plan_needs& n) {
  b.key("needs")
      .begin_object()
      .member("launches", n.launches)
      .member("kernels", n.kernels)
      .member("generated_kernels", n.generated_kernels);
  b.member("uses_library", n.uses_library != 0)
      .member("weights_bytes", n.weights_bytes)
      .member("prepared_bytes", n.prepared_bytes);
  b.member("arena_bytes", n.arena_bytes)
      .member("io_bytes", n.io_bytes)
      .member("free_bytes", n.free_bytes)
      .end_object();
}

void write_comparison(DocumentBuilder& b, const Comparison& c) {
  b.begin_object()
      .member("output", c.name)
      .member("file", c.file)
      .member("elements", c.count)
      .member("different", c.different);
  b.member("rtol", c.rtol)
      .member("atol", c.atol)
      .member("max_abs_error", c.max_abs_error)
      .member("max_rel_error", c.max_rel_error)
      .member("nan_against_number", c.nan_against_number);
  b.key("worst").begin_array();
  for (const WorstElement& w : c.worst)
    b.begin_object()
        .key("index")
        .integers(w.index)
        .member("got", w.got)
        .member("expected", w.want)
        .end_object();
  b.end_array().end_object();
}

void write_lists(DocumentBuilder& b, const RunReport& r) {
  b.key("inputs").begin_array();
  for (const InputNote& in : r.inputs) {
    b.begin_object()
        .member("name", in.name)
        .member("dtype", name_of(in.dtype))
        .key("shape")
        .integers(in.dims)
        .member("source", in.source)
        .end_object();
  }
  b.end_array().key("outputs").begin_array();
  for (const TensorSummary& s : r.outputs) write_json(b, s);
  b.end_array().key("files").begin_array();
  for (const std::string& file : r.files) b.value(file);
  b.end_array().key("expect").begin_array();
  for (const Comparison& c : r.comparisons) write_comparison(b, c);
  b.end_array();
}

}  // namespace

std::string report_text(const RunReport& r) {
  std::string text;
  if (r.needs) text += needs_text(r);
  if (!r.outputs.empty()) text += summary_table(r.outputs);
  for (const Comparison& c : r.comparisons) {
    if (c.different == 0) text += comparison_text(c);  // the others are errors
  }
  if (r.bench) text += bench_table(*r.bench);
  if (r.ceilings) text += ceilings_table(*r.ceilings);
  if (r.profile) text += profile_table(*r.profile);
  if (!r.startup.empty()) text += startup_table(r.startup);
  return text;
}

std::string report_json(const RunReport& r) {
  DocumentBuilder b;
  b.begin_object();
  if (!r.plan.empty()) b.member("plan", r.plan).member("model", r.model);
  b.key("device")
      .begin_object()
      .member("id", r.device)
      .member("name", r.device_name)
      .member("target", r.target)
      .member("reason", r.reason)
      .end_object();
  if (r.needs) write_needs(b, *r.needs);
  if (!r.plan.empty()) write_lists(b, r);
  if (r.bench) {
    b.key("bench");
    write_json(b, *r.bench);
  }
  if (r.ceilings) {
    b.key("ceilings");
    write_json(b, *r.ceilings);
  }
  if (r.profile) {
    b.key("profile");
    write_json(b, *r.profile);
  }
  if (!r.startup.empty()) {
    b.key("startup_us").begin_object();
    for (const StartupPart& part : r.startup) b.member(part.name, part.time_us);
    b.end_object();
  }
  b.end_object();
  return to_json(std::move(b).finish()) + "\n";
}

std::string errors_json(const Error& error) {
  DocumentBuilder b;
  b.begin_object().key("errors").begin_array();
  for (const Diagnostic& d : error.list()) {
    b.begin_object()
        .member("code", code_string(d.code))
        .member("message", d.message.empty() ? std::string(title_of(d.code)) : d.message);
    b.member("place", d.place)
        .member("path", d.path)
        .member("found", d.found)
        .member("fix", std::string(fix_of(d)))
        .end_object();
  }
  b.end_array().end_object();
  return to_json(std::move(b).finish()) + "\n";
}

}  // namespace ge
