#include "fuzz/checker.h"

#include <algorithm>
#include <cmath>

#include "bind_without_device.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "compiler/onnx_ops/lower.h"
#include "compiler/source/graph_json.h"
#include "compiler/source/graph_json_write.h"
#include "contract/plan_json.h"
#include "contract/plan_print.h"
#include "contract/plan_read.h"
#include "fuzz/random.h"
#include "numeric/convert.h"

namespace ge::test {
namespace {

constexpr int kFewSamples = 6, kManySamples = 40;
constexpr int64_t kMostPrinted = int64_t{1} << 26;  // elements: graph.json's own weights are below

Failure failure(std::string kind, std::string detail) {
  return {std::move(kind), std::move(detail)};
}

bool is_bug(const Error& error) {
  return error.kind() == ErrorKind::kBug;
}

std::string dims_text(const Symbols& symbols) {
  std::string text;
  for (const auto& [name, value] : symbols) text += " " + name + "=" + std::to_string(value);
  return text.empty() ? " no dims" : text;
}

struct Difference {
  int64_t count = 0, first = -1;
  std::string text;
};

// How near two floats must lie to need no further look: what one more or one less rounding makes.
bool near(DType dtype, double got, double expected) {
  if (got == expected || (std::isnan(got) && std::isnan(expected))) return true;
  if (!std::isfinite(got) || !std::isfinite(expected)) return false;
  const double units = bits_of(dtype) >= 32 ? 4 : 1;
  return std::abs(got - expected) <= units * unit_of(dtype, std::max(std::abs(got), std::abs(expected)));
}

bool differs(const HostTensor& got, const HostTensor& expected, int64_t i) {
  if (is_float(got.dtype))
    return !near(got.dtype, load_as_double(got.dtype, got.bytes.data(), i),
                 load_as_double(expected.dtype, expected.bytes.data(), i));
  return load_as_int64(got.dtype, got.bytes.data(), i) !=
         load_as_int64(expected.dtype, expected.bytes.data(), i);
}

std::string element_text(const HostTensor& t, int64_t i) {
  char text[40];
  if (is_float(t.dtype))
    std::snprintf(text, sizeof text, "%.17g", load_as_double(t.dtype, t.bytes.data(), i));
  else
    std::snprintf(text, sizeof text, "%lld",
                  static_cast<long long>(load_as_int64(t.dtype, t.bytes.data(), i)));
  return text;
}

// The element of the largest magnitude by a hundredth (integers: by one).
void spoil(HostTensor& t) {
  int64_t at = -1;
  for (int64_t i = 0; i < t.count(); ++i) {
    const double x = std::abs(load_as_double(t.dtype, t.bytes.data(), i));
    if (std::isfinite(x) && (at < 0 || x > std::abs(load_as_double(t.dtype, t.bytes.data(), at)))) at = i;
  }
  if (at < 0) return;
  if (is_float(t.dtype))
    store_from_double(t.dtype, t.bytes.data(), at, load_as_double(t.dtype, t.bytes.data(), at) * 1.01 + 1e-6);
  else
    store_from_int64(t.dtype, t.bytes.data(), at, load_as_int64(t.dtype, t.bytes.data(), at) ^ 1);
}

}  // namespace

// graph.json written, read and written again: the same text. `read` is what the rest works on.
std::optional<Failure> Checker::check_text(const Graph& graph, Graph& read) {
  const auto first = graph_to_json(graph, "");
  if (!first.ok()) return failure("write json", first.error().to_string());
  auto again = read_graph_json(as_bytes(first->json), "graph.json", "");
  if (!again.ok()) return failure("read json", again.error().to_string() + "\n" + first->json);
  const auto second = graph_to_json(*again, "");
  if (!second.ok()) return failure("write json", second.error().to_string());
  if (second->json != first->json)
    return failure("json changes", first->json + "\nread and written again:\n" + second->json);
  read = std::move(again).value();
  read.name = graph.name;
  return std::nullopt;
}

// Printed and parsed: the same text, and still sound.
std::optional<Failure> Checker::check_ir(const Graph& graph, const std::string& what) {
  PrintOptions options;
  options.max_elements = kMostPrinted;
  const std::string text = print(graph, options);
  const auto parsed = parse_ir(text);
  if (!parsed.ok()) return failure("parse ir " + what, parsed.error().to_string() + "\n" + text);
  if (const Status status = verify(*parsed, true); !status.ok())
    return failure("parsed ir " + what, status.error().to_string());
  if (const std::string again = print(*parsed, options); again != text)
    return failure("ir changes " + what, text + "\nagain:\n" + again);
  return std::nullopt;
}

// A graph of core ops, given and as read from its printed form: the same plan.
std::optional<Failure> Checker::check_core(const Graph& lowered) {
  PrintOptions options;
  options.max_elements = kMostPrinted;
  Graph dense = lowered.clone();
  dense.compact();
  for (const NodeId id : dense.order())  // the printed form tells where a node comes from by its path alone
    for (Source& source : dense.node(id).sources)
      if (!source.path.empty()) source.name.clear();
  auto parsed = parse_ir(print(dense, options));
  if (!parsed.ok()) return failure("parse ir lowered", parsed.error().to_string());
  Variant given, read;
  given.name = read.name = "core ops -O2";
  if (auto bad = build(dense, given)) return bad;
  if (auto bad = build(*parsed, read)) return bad;
  if (given.plan != read.plan || given.fault.empty() != read.fault.empty())
    return failure("core ops", "the printed graph gives another plan");
  return std::nullopt;
}

std::optional<Failure> Checker::check_plan(const Variant& v) {
  const auto plan = read_plan_bytes(v.plan);
  if (!plan.ok()) return failure("read plan " + v.name, plan.error().to_string());
  if (print_plan(*plan).empty() || plan_json(*plan).empty())
    return failure("print plan " + v.name, "no text");
  return std::nullopt;
}

std::optional<Failure> Checker::build(const Graph& graph, Variant& v) {
  auto compiled = compile(graph.clone(), v.options);
  if (!compiled.ok()) {
    const Diagnostic& first = compiled.error().first();
    const bool missing = first.code == Code::no_kernel && v.options.targets[0] != "cpu";
    if (missing)
      return failure(kNotThere, first.message + ": " + first.found.substr(first.found.rfind('\n') + 1));
    if (first.code == Code::index_out_of_range && v.options.level > 0) {
      v.fault = compiled.error().to_string();
      return std::nullopt;
    }
    return failure((is_bug(compiled.error()) ? "compile bug " : "compile ") + v.name,
                   compiled.error().to_string());
  }
  v.plan.clear();
  const Status status = compiled->write([&](ByteSpan part) {
    v.plan.insert(v.plan.end(), part.begin(), part.end());
    return Status();
  });
  if (!status.ok()) return failure("write plan " + v.name, status.error().to_string());
  return std::nullopt;
}

std::vector<Checker::Variant> Checker::variants(const Graph& graph) const {
  std::vector<Variant> list;
  const auto add = [&](std::string name, int level, ge_device* device) -> CompileOptions& {
    Variant v;
    v.name = std::move(name);
    v.options.level = level;
    v.device = device;
    if (device == devices_.cuda) v.options.targets = {devices_.cuda_target};
    list.push_back(std::move(v));
    return list.back().options;
  };
  const uint64_t h = hash_text(graph.name, 7);
  if (!devices_.cuda_target.empty()) {
    add("cuda -O2", 2, devices_.cuda);
    if (h % 16 == 0) add("cuda -O1", 1, devices_.cuda);
    return list;
  }
  add("cpu -O2", 2, devices_.cpu);
  switch (h % 12) {
    case 0:
      add("cpu -O1", 1, devices_.cpu);
      break;
    case 1:
      add("cpu -O3", 3, devices_.cpu);
      break;
    case 2:
      add("cpu --exact", 2, devices_.cpu).exact = true;
      break;
    case 3:
    case 4: {
      const auto passes = all_passes();
      const std::string pass(passes[1 + (h >> 8) % (passes.size() - 1)].name);
      add("cpu without " + pass, 2, devices_.cpu).passes.disabled = {pass};
      break;
    }
    default:
      break;
  }
  return list;
}

std::optional<Failure> Checker::compare(const Variant& v, const Graph& graph, const RunResult& got,
                                        const RunResult& expected,
                                        const std::function<Yardstick*(int)>& yardstick) {
  const auto wrong = [&](const std::string& text) { return failure("values " + v.name, text); };
  if (!expected.ok() || !got.ok()) {
    if (got.bug || got.code == "changed") return failure("run " + v.name, got.code + " " + got.error);
    if (!got.ok() && !expected.ok())
      return std::nullopt;  // of several faults in the data one is told, and which depends on the order
    return failure("run " + v.name, "'" + got.code + " " + got.error + "' where the reference has '" +
                                        expected.code + " " + expected.error + "'");
  }
  for (size_t o = 0; o < expected.outputs.size(); ++o) {
    const HostTensor &e = expected.outputs[o], &g = got.outputs[o];
    const std::string where = "output '" + graph.output_names[o] + "' ";
    if (g.dtype != e.dtype || g.dims != e.dims)
      return wrong(where + "is " + std::string(name_of(g.dtype)) + dims_to_string(g.dims) + ", expected " +
                   std::string(name_of(e.dtype)) + dims_to_string(e.dims));
    counts_.elements += e.count();
    std::vector<int64_t> far;
    for (int64_t i = 0; i < e.count(); ++i)
      if (differs(g, e, i)) far.push_back(i);
    if (far.empty()) continue;
    const size_t before = far.size();
    for (const int samples : {kFewSamples, kManySamples}) {
      const Yardstick* y = yardstick(samples);
      if (y == nullptr) break;
      std::erase_if(far, [&](int64_t i) {
        if (is_float(e.dtype))
          return y->explains(o, i, load_as_double(g.dtype, g.bytes.data(), i),
                             load_as_double(e.dtype, e.bytes.data(), i));
        return y->explains_integer(o, i, load_as_int64(g.dtype, g.bytes.data(), i),
                                   load_as_int64(e.dtype, e.bytes.data(), i));
      });
      if (far.empty()) break;
    }
    counts_.explained += static_cast<int64_t>(before - far.size());
    if (far.empty()) continue;
    std::string text = where + std::string(name_of(e.dtype)) + dims_to_string(e.dims) + ": " +
                       std::to_string(far.size()) + " of " + std::to_string(e.count()) + " differ";
    for (size_t k = 0; k < std::min<size_t>(far.size(), 4); ++k)
      text += "\n    [" + std::to_string(far[k]) + "] got " + element_text(g, far[k]) + ", expected " +
              element_text(e, far[k]);
    if (const Yardstick* y = yardstick(kFewSamples)) text += "\n    float64 runs:" + y->range(o, far[0]);
    return wrong(text);
  }
  return std::nullopt;
}

std::optional<Failure> Checker::check_runs(const Graph& graph, const Graph& lowered, Variant& reference,
                                           std::vector<Variant>& all) {
  std::string error;
  reference.session = PlanSession::open(devices_.cpu, reference.plan, error);
  if (reference.session == nullptr) return failure("load " + reference.name, error);
  for (Variant& v : all) {
    if (!v.runs()) continue;
    v.session = PlanSession::open(v.device, v.plan, error);
    if (v.session == nullptr) return failure("load " + v.name, error);
  }
  const auto index_inputs = reference.session->index_inputs();
  const auto sets = case_dims(graph, lowered);
  for (size_t s = 0; s < sets.size(); ++s) {
    for (const Variant& v : all) {
      if (v.device != nullptr || !v.fault.empty() ||
          v.options.targets != std::vector<std::string>{devices_.cuda_target})
        continue;
      const std::string refused = bind_without_device(v.plan, devices_.cuda_target, sets[s]);
      if (refused.find(code_string(Code::launch_refused)) !=
          std::string::npos)  // other refusals are of dims, and the CPU's too
        return failure("bind " + v.name, refused + " at" + dims_text(sets[s]));
    }
    const auto inputs = case_inputs(graph, sets[s], index_inputs);
    if (!inputs) continue;
    const RunResult expected = reference.session->run(*inputs, sets[s], 1);
    if (expected.bug)
      return failure("run " + reference.name,
                     expected.code + " " + expected.error + " at" + dims_text(sets[s]));
    counts_.faults += expected.ok() ? 0 : 1;
    Yardstick yardstick(lowered, sets[s], *inputs, devices_.cpu);
    int have = 0;
    std::string trouble;
    const auto measure = [&](int samples) -> Yardstick* {
      if (have < samples && trouble.empty()) trouble = yardstick.run(samples);
      have = samples;
      return trouble.empty() ? &yardstick : nullptr;
    };
    for (Variant& v : all) {
      if (!v.fault.empty() && expected.ok())
        return failure("compile " + v.name,
                       v.fault + "\n    where the reference runs, at" + dims_text(sets[s]));
      if (!v.runs()) continue;
      ++counts_.runs;
      RunResult got = v.session->run(*inputs, sets[s], v.device == devices_.cuda ? 3 : 1);
      for (HostTensor& t : got.outputs)
        if (devices_.sabotage) spoil(t);
      auto bad = compare(v, graph, got, expected, measure);
      if (bad) {
        bad->detail +=
            "\n    at" + dims_text(sets[s]) + (trouble.empty() ? "" : "\n    no yardstick: " + trouble);
        return bad;
      }
      if (s + 1 < sets.size() || v.device != devices_.cpu || !got.ok() || devices_.sabotage) continue;
      // The last dims again, on several threads, by a session that has seen no others.
      const auto other = PlanSession::open(devices_.cpu_threads, v.plan, error);
      if (other == nullptr) return failure("load " + v.name, error);
      const RunResult again = other->run(*inputs, sets[s], 1);
      for (size_t o = 0; o < got.outputs.size(); ++o)
        if (!again.ok() || !same_tensor(again.outputs[o], got.outputs[o]))
          return failure("threads " + v.name, "output '" + graph.output_names[o] +
                                                  "' has other bits in a fresh session with 3 threads, at" +
                                                  dims_text(sets[s]) + " " + again.error);
    }
  }
  return std::nullopt;
}

std::optional<Failure> Checker::check(const Graph& original) {
  ++counts_.cases;
  Graph graph;
  if (auto bad = check_text(original, graph)) return bad;
  Graph lowered = graph.clone();
  if (const Status status = lower_onnx(lowered); !status.ok()) {
    if (is_bug(status.error())) return failure("lower", status.error().to_string());
    ++counts_.refused;
    return std::nullopt;
  }
  if (const Status status = verify(lowered, true); !status.ok())
    return failure("verify", status.error().to_string());
  Variant reference;
  reference.name = "cpu -O0";
  reference.options.level = 0;
  reference.device = devices_.cpu;
  if (auto bad = build(graph, reference)) return bad;
  std::vector<Variant> all = variants(graph);
  for (Variant& v : all)
    if (auto bad = build(graph, v)) return bad;
  const uint64_t h = hash_text(graph.name, 3);
  if (!all[0].fault.empty()) return check_runs(graph, lowered, reference, all);
  if (h % 4 == 0) {
    Variant again;
    again.name = all[0].name;
    again.options = all[0].options;
    if (auto bad = build(graph, again)) return bad;
    if (again.plan != all[0].plan)
      return failure("bytes " + again.name, "two compilations of the graph give other bytes");
    if (auto bad = check_plan(again)) return bad;
  }
  if (h % 4 == 1) {
    if (auto bad = check_ir(lowered, "lowered")) return bad;
    auto optimised = optimise(graph.clone(), all[0].options, all[0].options.targets[0]);
    if (!optimised.ok()) return failure("optimise", optimised.error().to_string());
    if (auto bad = check_ir(*optimised, "optimised")) return bad;
    if (auto bad = check_core(lowered)) return bad;
  }
  return check_runs(graph, lowered, reference, all);
}

}  // namespace ge::test
