// op_table [--device cpu|cuda|compile] [--op NAME] [--jobs N] [--out FILE]: every core op in every dtype that
// it takes, as a table. Each case is compared twice with a second source (second_source.h): the product's
// reference kernels, and what the compiler makes for the device. `compile` compiles and binds for sm_90
// without a GPU. Exit code 0: all agree; 1: some differ; 77: no such device here. With GE_QUICK in the
// environment every 24th graph runs, in this process.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <thread>

#include "bind_without_device.h"
#include "compiler/codegen/nvrtc.h"
#include "compiler/evaluate.h"
#include "ge/ge.h"
#include "numeric/convert.h"
#include "ops/compile_and_run.h"
#include "ops/op_cases.h"
#include "ops/second_source.h"

namespace ge::test {
namespace {

struct Options {
  std::string device = "cpu", only;
  const char* out = nullptr;
  int jobs = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
};

struct Difference {
  size_t count = 0;
  int64_t first = -1;
  double got = 0, expected = 0;
};

double least_of(DType dtype) {  // the least number above 0
  constexpr std::byte kOne[8] = {std::byte{1}};
  return load_as_double(dtype, kOne, 0);
}

// `terms`: the sum of the terms' sizes, of which the row's absolute part may be a share.
bool close_enough(double got, double expected, double terms, const OpGraph& g) {
  if (std::isnan(expected) || std::isnan(got)) return std::isnan(expected) && std::isnan(got);
  if (std::isinf(expected) || std::isinf(got)) return got == expected;
  const double absolute = g.of_terms ? g.atol * terms + least_of(g.dtype) : g.atol;
  return std::abs(got - expected) <= absolute + g.rtol * std::abs(expected);
}

Difference compare(const HostTensor& got, const Numbers& expected, const OpGraph& g) {
  Difference d;
  for (int64_t i = 0; i < expected.count(); ++i) {
    const auto at = static_cast<size_t>(i);
    bool same = false;
    double a = 0, e = 0;
    if (is_float(expected.dtype)) {
      a = load_as_double(got.dtype, got.bytes.data(), i);
      e = static_cast<double>(expected.real[at]);
      same = close_enough(a, e, expected.terms.empty() ? 0 : static_cast<double>(expected.terms[at]), g);
    } else {
      const Whole whole = wrapped_to(got.dtype, load_as_int64(got.dtype, got.bytes.data(), i));
      same = whole == expected.whole[at];
      a = static_cast<double>(whole);
      e = static_cast<double>(expected.whole[at]);
    }
    if (same) continue;
    if (d.count++ == 0) d = {1, i, a, e};
  }
  return d;
}

// "" or the first difference.
std::string difference_text(const std::vector<HostTensor>& got, const std::vector<Numbers>& expected,
                            const OpGraph& g) {
  for (size_t i = 0; i < expected.size(); ++i) {
    const Numbers& e = expected[i];
    if (got[i].dims != e.dims || got[i].dtype != e.dtype)
      return "output " + std::to_string(i) + ": another type";
    const Difference d = compare(got[i], e, g);
    if (d.count == 0) continue;
    char text[200];
    std::snprintf(text, sizeof text,
                  "case %zu %s%s: %zu of %lld differ, first at %lld: got %.9g, expected %.9g", i,
                  std::string(name_of(e.dtype)).c_str(), dims_to_string(e.dims).c_str(), d.count,
                  static_cast<long long>(e.count()), static_cast<long long>(d.first), d.got, d.expected);
    return text;
  }
  return "";
}

std::string compile_only(const OpGraph& g) {
  constexpr const char* kTarget = "sm_90";
  CompileOptions options;
  options.targets = {kTarget};
  auto compiled = compile(g.graph.clone(), options);
  if (!compiled.ok()) return compiled.error().to_string();
  std::vector<std::byte> bytes;
  const Status written = compiled->write([&](ByteSpan part) {
    bytes.insert(bytes.end(), part.begin(), part.end());
    return Status();
  });
  return written.ok() ? bind_without_device(bytes, kTarget, {}) : written.error().to_string();
}

// "ok 20" cases, or "FAIL" with the first difference told on standard output.
std::string check_graph(const OpGraph& g, const std::string& device) {
  const auto tell = [&](const std::string& text) {
    std::printf("FAILED %s %s on %s: %s\n", g.op.c_str(), std::string(name_of(g.dtype)).c_str(),
                device.c_str(), text.c_str());
    std::fflush(stdout);
    return std::string("FAIL");
  };
  const std::string fine = "ok " + std::to_string(g.graph.outputs.size());
  if (device == "compile") {
    const std::string wrong = compile_only(g);
    return wrong.empty() ? fine : tell(wrong);
  }
  const std::vector<Numbers> expected = second_answer(g.graph, g.inputs);
  const auto reference = reference_evaluator()(g.graph, g.inputs, {});
  if (!reference.ok()) return tell("reference: " + reference.error().to_string());
  if (const auto text = difference_text(*reference, expected, g); !text.empty())
    return tell("reference: " + text);
  const auto got = compile_and_run(g.graph, g.inputs, device, {});
  if (!got.ok()) return tell(got.error().to_string());
  const std::string text = difference_text(*got, expected, g);
  return text.empty() ? fine : tell(text);
}

constexpr int kNoDevice = 77;

bool is_here(const std::string& device) {
  return device == "compile" ? Nvrtc::open().ok() : !device_target(device).empty();
}

// Checks the graphs of one job; each result is a line "INDEX TEXT" on the pipe.
int work(const std::vector<OpGraph>& graphs, const std::vector<size_t>& chosen, size_t job, size_t jobs,
         const Options& o, int pipe) {
  if (!is_here(o.device)) return kNoDevice;
  ge_device* kept = nullptr;  // one context for all graphs
  ge_device_options options{};
  options.size = sizeof options;
  options.kind = GE_DEVICE_CUDA;
  if (o.device == "cuda") ge_error_free(ge_device_open(&options, &kept));
  for (size_t k = job; k < chosen.size(); k += jobs) {
    const std::string line =
        std::to_string(chosen[k]) + " " + check_graph(graphs[chosen[k]], o.device) + "\n";
    if (write(pipe, line.data(), line.size()) != static_cast<ssize_t>(line.size())) return 1;
  }
  if (kept != nullptr) ge_device_close(kept);
  return 0;
}

// Results by the graph's index; nullopt where there is no device. A process that dies leaves its results out.
std::optional<std::map<size_t, std::string>> results_of(const std::vector<OpGraph>& graphs,
                                                        const std::vector<size_t>& chosen, const Options& o) {
  int ends[2];
  if (pipe(ends) != 0) return std::nullopt;
  std::fflush(nullptr);
  std::vector<pid_t> children;
  for (size_t job = 0; job < static_cast<size_t>(o.jobs); ++job) {
    const pid_t child = fork();
    if (child == 0) _exit(work(graphs, chosen, job, static_cast<size_t>(o.jobs), o, ends[1]));
    if (child > 0) children.push_back(child);
  }
  close(ends[1]);
  std::string told;
  char part[4096];
  for (ssize_t n = read(ends[0], part, sizeof part); n > 0; n = read(ends[0], part, sizeof part))
    told.append(part, static_cast<size_t>(n));
  close(ends[0]);
  bool missing = false;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    missing = missing || (WIFEXITED(status) && WEXITSTATUS(status) == kNoDevice);
  }
  if (missing) return std::nullopt;
  std::map<size_t, std::string> results;
  for (size_t at = 0; at < told.size();) {
    const size_t end = told.find('\n', at), space = told.find(' ', at);
    results[std::strtoull(told.c_str() + at, nullptr, 10)] = told.substr(space + 1, end - space - 1);
    at = end + 1;
  }
  return results;
}

std::optional<std::map<size_t, std::string>> results_here(const std::vector<OpGraph>& graphs,
                                                          const std::vector<size_t>& chosen,
                                                          const Options& o) {
  if (!is_here(o.device)) return std::nullopt;
  std::map<size_t, std::string> results;
  for (const size_t i : chosen) results[i] = check_graph(graphs[i], o.device);
  return results;
}

struct Row {
  std::map<DType, std::string> cells;
  std::string tolerance;
};

std::string padded(const std::string& text, int width) {
  char cell[64];
  std::snprintf(cell, sizeof cell, "%*s", width, text.c_str());
  return cell;
}

std::string table_text(const std::vector<std::string>& order, const std::map<std::string, Row>& rows,
                       const std::string& device) {
  std::string text =
      "cases of core ops that agree with a second source on " + device + "\n" + padded("op", -17);
  for (const DType t : table_dtypes()) {
    std::string name(name_of(t));
    if (name.starts_with("bfloat")) name = "bf16";
    if (name.starts_with("float")) name = "f" + name.substr(5, name.size() > 8 ? 5 : 2);
    text += padded(name, 8);
  }
  text += "  tolerance\n";
  for (const std::string& op : order) {
    const Row& row = rows.at(op);
    text += padded(op, -17);
    for (const DType t : table_dtypes()) text += padded(row.cells.contains(t) ? row.cells.at(t) : "-", 8);
    text += "  " + row.tolerance + "\n";
  }
  return text +
         "tolerance of float32, relative + absolute; float64: 1e-7 of it, 16 bits: 2e-3 at least (bfloat16 "
         "1.6e-2), "
         "float8: one step;\nsum |a b|: of the terms of a product, in 16 bits too, but attention's weights "
         "are "
         "rounded there (one unit, 2^-11 or 2^-8);\nintegers, bool and exact rows: none. -: no row; 4-bit "
         "elements are unpacked to "
         "8 bits by "
         "all operators but these.\n";
}

int run(const Options& o) {
  const size_t stride = std::getenv("GE_QUICK") != nullptr ? 24 : 1;
  const std::vector<OpGraph> graphs = op_graphs();
  std::vector<size_t> chosen;
  for (size_t i = 0; i < graphs.size(); i += stride)
    if (o.only.empty() || graphs[i].op == o.only) chosen.push_back(i);
  const auto results = stride > 1 ? results_here(graphs, chosen, o) : results_of(graphs, chosen, o);
  if (!results) {
    std::printf("skipped: no %s device here\n", o.device.c_str());
    return kNoDevice;
  }
  std::map<std::string, Row> rows;
  std::vector<std::string> order;
  bool failed = false;
  for (const size_t i : chosen) {
    const OpGraph& g = graphs[i];
    const bool done = results->contains(i);
    if (!done)
      std::printf("FAILED %s %s: its process ended\n", g.op.c_str(), std::string(name_of(g.dtype)).c_str());
    if (!rows.contains(g.op)) order.push_back(g.op);
    Row& row = rows[g.op];
    row.cells[g.dtype] = done ? results->at(i) : "CRASH";
    failed = failed || row.cells[g.dtype] == "FAIL" || !done;
    char tolerance[40];
    std::snprintf(tolerance, sizeof tolerance, "%.0e + %.0e%s", g.shown_rtol, g.shown_atol,
                  g.of_terms ? " sum |a b|" : "");
    row.tolerance = g.shown_rtol == 0 && g.shown_atol == 0 ? "exact" : tolerance;
  }
  const std::string text = table_text(order, rows, o.device);
  std::fputs(text.c_str(), stdout);
  if (FILE* f = o.out != nullptr ? std::fopen(o.out, "w") : nullptr; f != nullptr) {
    std::fputs(text.c_str(), f);
    std::fclose(f);
  }
  return failed ? 1 : 0;
}

}  // namespace
}  // namespace ge::test

int main(int argc, char** argv) {
  ge::test::Options o;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--device") == 0) o.device = argv[i + 1];
    if (std::strcmp(argv[i], "--op") == 0) o.only = argv[i + 1];
    if (std::strcmp(argv[i], "--out") == 0) o.out = argv[i + 1];
    if (std::strcmp(argv[i], "--jobs") == 0) o.jobs = std::max(1, std::atoi(argv[i + 1]));
  }
  return ge::test::run(o);
}
