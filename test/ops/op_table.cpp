// op_table [--device cpu|cuda] [--op NAME] [--out FILE]: every core op in every dtype, reference against the
// device, as a table. Exit code 0: all agree; 1: some differ; 77: no such device here. With GE_QUICK in the
// environment every 24th graph runs.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>

#include "compiler/evaluate.h"
#include "numeric/convert.h"
#include "ops/compile_and_run.h"
#include "ops/op_cases.h"

namespace ge::test {
namespace {

struct Difference {
  size_t count = 0;
  int64_t first = -1;
  double got = 0, expected = 0;
};

bool close_enough(double got, double expected, double rtol, double atol) {
  if (std::isnan(expected) || std::isnan(got)) return std::isnan(expected) && std::isnan(got);
  if (std::isinf(expected) || std::isinf(got)) return got == expected;
  return std::abs(got - expected) <= atol + rtol * std::abs(expected);
}

Difference compare(const HostTensor& got, const HostTensor& expected, double rtol, double atol) {
  Difference d;
  for (int64_t i = 0; i < expected.count(); ++i) {
    bool same = false;
    double g = 0, e = 0;
    if (is_float(expected.dtype)) {
      g = load_as_double(got.dtype, got.bytes.data(), i);
      e = load_as_double(expected.dtype, expected.bytes.data(), i);
      same = close_enough(g, e, rtol, atol);
    } else {
      const int64_t a = load_as_int64(got.dtype, got.bytes.data(), i),
                    b = load_as_int64(expected.dtype, expected.bytes.data(), i);
      same = a == b;
      g = static_cast<double>(a);
      e = static_cast<double>(b);
    }
    if (same) continue;
    if (d.count++ == 0) d = {1, i, g, e};
  }
  return d;
}

// "ok 20" cases, or "FAIL" with the first difference told on standard output.
std::string check_graph(const OpGraph& g, const std::string& device) {
  const auto tell = [&](const std::string& text) {
    std::printf("FAILED %s %s on %s: %s\n", g.op.c_str(), std::string(name_of(g.dtype)).c_str(),
                device.c_str(), text.c_str());
    return std::string("FAIL");
  };
  auto expected = reference_evaluator()(g.graph, g.inputs, {});
  if (!expected.ok()) return tell("reference: " + expected.error().to_string());
  auto got = compile_and_run(g.graph, g.inputs, device, {});
  if (!got.ok()) return tell(got.error().to_string());
  for (size_t i = 0; i < expected->size(); ++i) {
    const HostTensor &e = (*expected)[i], &a = (*got)[i];
    if (a.dims != e.dims || a.dtype != e.dtype) return tell("output " + std::to_string(i) + ": another type");
    const Difference d = compare(a, e, g.rtol, g.atol);
    if (d.count == 0) continue;
    char text[200];
    std::snprintf(text, sizeof text,
                  "case %zu %s: %zu of %lld differ, first at %lld: got %.9g, expected %.9g", i,
                  dims_to_string(e.dims).c_str(), d.count, static_cast<long long>(e.count()),
                  static_cast<long long>(d.first), d.got, d.expected);
    return tell(text);
  }
  return "ok " + std::to_string(expected->size());
}

int run(const std::string& device, const std::string& only, const char* out_path) {
  if (device_target(device).empty()) {
    std::printf("skipped: no %s device here\n", device.c_str());
    return 77;
  }
  std::map<std::string, std::map<DType, std::string>> table;
  std::vector<DType> columns = table_dtypes();
  std::vector<std::string> order;
  bool failed = false;
  const size_t stride = std::getenv("GE_QUICK") != nullptr ? 24 : 1;
  const std::vector<OpGraph> graphs = op_graphs();
  for (size_t i = 0; i < graphs.size(); ++i) {
    const OpGraph& g = graphs[i];
    if (i % stride != 0 || (!only.empty() && g.op != only)) continue;
    const std::string result = check_graph(g, device);
    failed = failed || result == "FAIL";
    if (table.count(g.op) == 0) order.push_back(g.op);
    if (std::find(columns.begin(), columns.end(), g.dtype) == columns.end()) columns.push_back(g.dtype);
    table[g.op][g.dtype] = result;
  }
  std::string text = "cases that agree with the reference on " + device + "\n";
  char cell[64];
  std::snprintf(cell, sizeof cell, "%-20s", "op");
  text += cell;
  for (const DType t : columns) {
    std::snprintf(cell, sizeof cell, "%10s", std::string(name_of(t)).c_str());
    text += cell;
  }
  text += "\n";
  for (const std::string& op : order) {
    std::snprintf(cell, sizeof cell, "%-20s", op.c_str());
    text += cell;
    for (const DType t : columns) {
      std::snprintf(cell, sizeof cell, "%10s", table[op].count(t) != 0 ? table[op][t].c_str() : "-");
      text += cell;
    }
    text += "\n";
  }
  std::fputs(text.c_str(), stdout);
  if (out_path != nullptr)
    if (FILE* f = std::fopen(out_path, "w")) {
      std::fputs(text.c_str(), f);
      std::fclose(f);
    }
  return failed ? 1 : 0;
}

}  // namespace
}  // namespace ge::test

int main(int argc, char** argv) {
  std::string device = "cpu", only;
  const char* out = nullptr;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--device") == 0) device = argv[i + 1];
    if (std::strcmp(argv[i], "--op") == 0) only = argv[i + 1];
    if (std::strcmp(argv[i], "--out") == 0) out = argv[i + 1];
  }
  return ge::test::run(device, only, out);
}
