// graph_fuzz: random graphs, compiled and run in several ways that must agree. Failing graphs are made small
// and written as graph.json. Also runs kept graphs, and tells which operators it can generate.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "compiler/onnx_ops/lower.h"
#include "compiler/onnx_ops/registry.h"
#include "compiler/source/graph_json.h"
#include "compiler/source/graph_json_write.h"
#include "fuzz/random.h"
#include "fuzz/random_graph.h"
#include "fuzz/shrink.h"
#include "fuzz/workers.h"
#include "platform/file.h"

namespace ge::test {
namespace {

constexpr const char* kUsage =
    R"(usage: graph_fuzz [--count N] [--seed S] [--device cpu|cuda|compile] [--jobs J] [--out DIR]
                  [--failures N] [--shrink SECONDS] [--op NAME]    random graphs S .. S+N-1
       graph_fuzz --print SEED                          that graph as graph.json
       graph_fuzz GRAPH.json ... | DIR                  kept graphs (and with --shrink, made smaller)
       graph_fuzz --coverage                            operators that no graph can be made of, core ops that none has
       graph_fuzz --sabotage [--count N]                spoils one element of each result: how many graphs show it
--jobs: processes (default: one a core); device compile: for sm_90, without running. Exit 1: a difference; 77: no such device here.
)";

struct Options {
  size_t count = 1000;
  uint64_t seed = 1;
  std::string device = "cpu", op, out = "fuzz_failures";
  int jobs = 0, shrink_s = 60;
  size_t failures = 10;
  bool coverage = false, print = false, sabotage = false;
  std::vector<std::string> files;
};

bool parse(int argc, char** argv, Options& o) {
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const auto value = [&] { return i + 1 < argc ? argv[++i] : ""; };
    const auto number = [&] { return std::strtoull(value(), nullptr, 10); };
    if (flag == "--count")
      o.count = number();
    else if (flag == "--seed")
      o.seed = number();
    else if (flag == "--device")
      o.device = value();
    else if (flag == "--jobs")
      o.jobs = static_cast<int>(number());
    else if (flag == "--out")
      o.out = value();
    else if (flag == "--failures")
      o.failures = number();
    else if (flag == "--shrink")
      o.shrink_s = static_cast<int>(number());
    else if (flag == "--op")
      o.op = value();
    else if (flag == "--sabotage")
      o.sabotage = true;
    else if (flag == "--coverage")
      o.coverage = true;
    else if (flag == "--print") {
      o.print = true;
      o.seed = number();
    } else if (flag.starts_with("-"))
      return false;
    else
      o.files.push_back(flag);
  }
  return o.device == "cpu" || o.device == "cuda" || o.device == "compile";
}

RunOptions run_options(const Options& o) {
  RunOptions r;
  r.cuda = o.device == "cuda";
  r.compile_cuda = o.device == "compile";
  r.jobs = o.jobs > 0 ? o.jobs : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  r.sabotage = o.sabotage;
  r.progress = !o.sabotage && o.count > 2000;
  return r;
}

// The failure of one graph, found in a process of its own.
std::optional<Failure> check_alone(const Graph& graph, const RunOptions& options) {
  RunOptions alone = options;
  alone.jobs = 1;
  alone.progress = false;
  alone.seconds_per_case = 20 * kSlowdown;
  Summary s = run_cases(
      1, [&](size_t) { return graph.clone(); }, alone, 1);
  if (s.failures.empty()) return std::nullopt;
  return std::move(s.failures[0].failure);
}

void report(const Graph& graph, const CaseFailure& f, const Options& o, const std::string& name) {
  const RunOptions run = run_options(o);
  const std::string kind = f.failure.kind;
  Graph small = shrink(
      graph.clone(),
      [&](const Graph& g) {
        const auto bad = check_alone(g, run);
        return bad && bad->kind == kind;
      },
      o.shrink_s);
  const auto last = check_alone(small, run);
  std::filesystem::create_directories(o.out);
  const std::string path = o.out + "/" + name + ".json";
  if (const auto text = graph_to_json(small, ""); text.ok()) std::ofstream(path) << text->json;
  std::printf("FAILED %s: %s, %zu nodes\n    %s\n    again: graph_fuzz --device %s %s\n", name.c_str(),
              kind.c_str(), small.live_nodes(), (last ? last->detail : f.failure.detail).c_str(),
              o.device.c_str(), path.c_str());
  std::fflush(stdout);
}

int finish(const Summary& s, double seconds) {
  if (!s.no_device.empty()) {
    std::printf("skipped: %s\n", s.no_device.c_str());
    return 77;
  }
  std::printf(
      "%lld graphs in %.1f s (%.0f a second), %lld refused, %lld runs, %lld ended by a fault of the data, "
      "%lld elements compared, "
      "%lld apart by rounding, %zu failures\n",
      static_cast<long long>(s.cases), seconds, static_cast<double>(s.cases) / seconds,
      static_cast<long long>(s.refused), static_cast<long long>(s.runs), static_cast<long long>(s.faults),
      static_cast<long long>(s.elements), static_cast<long long>(s.explained), s.failures.size());
  for (const auto& [what, graphs] : s.not_there)
    std::printf("not compared, %lld graphs: %s\n", static_cast<long long>(graphs), what.c_str());
  return s.failures.empty() ? 0 : 1;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Graph graph_of(const Options& o, size_t index) {
  if (o.op.empty()) return random_graph(o.seed + index);
  auto graph = random_graph_of(o.op, o.seed + index, 200, nullptr);
  return graph ? *std::move(graph) : random_graph(o.seed + index);
}

// What is hidden by a wide range of right answers, or has no elements, shows nothing.
int sabotage(const Options& o) {
  const auto make = [&](size_t i) { return graph_of(o, i); };
  const Summary s = run_cases(o.count, make, run_options(o), o.count);
  std::printf("spoiled results were found in %zu of %zu graphs\n", s.failures.size(), o.count);
  return s.failures.size() * 10 >= o.count * 9 ? 0 : 1;
}

int fuzz(const Options& o) {
  const auto start = std::chrono::steady_clock::now();
  const auto make = [&](size_t i) { return graph_of(o, i); };
  RunOptions run = run_options(o);
  run.tell = [&](const CaseFailure& f) {
    std::fprintf(stderr, "seed %llu fails: %s\n    %s\n", static_cast<unsigned long long>(o.seed + f.index),
                 f.failure.kind.c_str(), f.failure.detail.c_str());
  };
  const Summary s = run_cases(o.count, make, run, o.failures);
  const double seconds = seconds_since(start);
  std::map<std::string, int> told;  // of each kind
  for (const CaseFailure& f : s.failures) {
    if (told[f.failure.kind] == 12) continue;
    if (++told[f.failure.kind] > 3 || o.shrink_s == 0) {
      std::printf("FAILED seed %llu: %s\n    %s\n", static_cast<unsigned long long>(o.seed + f.index),
                  f.failure.kind.c_str(), f.failure.detail.c_str());
      continue;
    }
    report(make(f.index), f, o, "seed_" + std::to_string(o.seed + f.index));
  }
  return finish(s, seconds);
}

int replay(const Options& o) {
  std::vector<std::string> paths;
  for (const std::string& file : o.files) {
    if (!std::filesystem::is_directory(file)) {
      paths.push_back(file);
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(file))
      if (entry.path().extension() == ".json") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Graph> graphs;
  for (const std::string& path : paths) {
    const auto text = read_file(path);
    auto graph = text.ok()
                     ? read_graph_json(text->span(), path, std::filesystem::path(path).parent_path().string())
                     : Result<Graph>(text.error());
    if (!graph.ok()) {
      std::printf("%s\n", graph.error().to_string().c_str());
      return 1;
    }
    graphs.push_back(std::move(graph).value());
  }
  const auto start = std::chrono::steady_clock::now();
  RunOptions run = run_options(o);
  run.tell = [&](const CaseFailure& f) {
    std::printf("FAILED %s: %s\n    %s\n", paths[f.index].c_str(), f.failure.kind.c_str(),
                f.failure.detail.c_str());
    std::fflush(stdout);
  };
  const Summary s = run_cases(
      graphs.size(), [&](size_t i) { return graphs[i].clone(); }, run, graphs.size());
  if (s.refused > 0)
    std::printf("%lld graphs were refused: a kept graph must lower\n", static_cast<long long>(s.refused));
  const int code = finish(s, seconds_since(start));
  return code == 0 && (s.refused > 0 || graphs.empty()) ? 1 : code;
}

// Core ops and dtypes of graphs, as lowered.
struct Seen {
  std::set<Op> ops;
  std::set<DType> dtypes;
  size_t graphs = 0;
  void look(Graph graph) {
    if (!lower_onnx(graph).ok()) return;
    ++graphs;
    for (const NodeId id : graph.order()) {
      ops.insert(graph.node(id).op);
      for (const ValueId v : graph.node(id).results) dtypes.insert(graph.type(v).dtype);
    }
  }
  int tell_missing() const {
    static constexpr Op kAll[] = {
#define GE_CORE_OP(name, ...) Op::name,
#include "compiler/ir/core_ops.def"
#undef GE_CORE_OP
#define GE_SCALAR_OP(name, ...) Op::name,
#include "contract/scalar_ops.def"
#undef GE_SCALAR_OP
    };
    // Groups are made by passes; no operator is lowered to the last three, which op_table tries.
    const std::set<Op> elsewhere{Op::fused, Op::expm1, Op::log1p, Op::trunc};
    int missing = 0;
    const auto miss = [&](std::string_view what) {
      ++missing;
      std::printf("%s: in none of %zu graphs\n", std::string(what).c_str(), graphs);
    };
    for (const Op op : kAll)
      if (!elsewhere.contains(op) && !ops.contains(op)) miss(name_of(op));
    for (int i = 0; i < kDTypeCount; ++i)
      if (!dtypes.contains(static_cast<DType>(i))) miss(name_of(static_cast<DType>(i)));
    std::printf("%zu core ops, %zu dtypes in %zu graphs\n", ops.size(), dtypes.size(), graphs);
    return missing;
  }
};

int coverage(const Options& o) {
  constexpr int kEach = 12;
  int missing = 0;
  size_t count = 0;
  Seen seen;
  for (const std::string domain : {"", "com.microsoft"}) {
    for (const std::string& name : operator_names(domain)) {
      ++count;
      const std::string named = domain.empty() ? name : domain + ":" + name;
      std::string refusal = "nothing fits its operands";
      int made = 0;
      for (uint64_t i = 0; i < kEach; ++i)
        if (auto graph = random_graph_of(named, o.seed + hash_text(named, i), 100, &refusal)) {
          ++made;
          seen.look(*std::move(graph));
        }
      if (made > 0) continue;
      ++missing;
      std::printf("%s: %s\n", named.c_str(), refusal.c_str());
    }
  }
  std::printf("%zu operators, %d that no graph was made of\n", count, missing);
  for (uint64_t i = 0; i < 2000; ++i) seen.look(random_graph(o.seed + i));
  return missing + seen.tell_missing() == 0 ? 0 : 1;
}

int print_graph(uint64_t seed) {
  const auto text = graph_to_json(random_graph(seed), "");
  if (!text.ok()) return 1;
  std::fputs(text->json.c_str(), stdout);
  return 0;
}

}  // namespace
}  // namespace ge::test

int main(int argc, char** argv) {
  ge::test::Options o;
  if (!ge::test::parse(argc, argv, o)) {
    std::fputs(ge::test::kUsage, stderr);
    return 2;
  }
  if (o.coverage) return ge::test::coverage(o);
  if (o.print) return ge::test::print_graph(o.seed);
  if (o.sabotage) return ge::test::sabotage(o);
  return o.files.empty() ? ge::test::fuzz(o) : ge::test::replay(o);
}
