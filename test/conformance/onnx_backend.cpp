// The ONNX backend's tests, in process: onnx_backend FOLDER... [--device cpu|cuda] [--filter TEXT] [--exclude
// FILE]
// [--jobs N] [--level N] [--list] [--json] [--verbose]. Exit 0 where every test is right and the list of
// exclusions is exact: excluded tests run too, and one that is right makes the list too long. 77: no folder,
// no GPU, or a build that reads no ONNX files.
#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include "compiler/onnx_file/onnx_file.h"
#include "conformance/backend_case.h"
#include "document/writer.h"
#include "ge/ge.h"

using namespace ge;
using namespace ge::test;

namespace {

constexpr int kSkipped = 77;

struct Command {
  std::vector<std::string> roots;
  std::string device = "cpu", filter, exclude;
  int level = 2;
  unsigned jobs = 1;
  bool list = false, json = false, verbose = false;
};

std::optional<Command> parse(int argc, char** argv) {
  Command c;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const auto value = [&]() { return i + 1 < argc ? std::string(argv[++i]) : std::string(); };
    if (flag == "--device")
      c.device = value();
    else if (flag == "--filter")
      c.filter = value();
    else if (flag == "--exclude")
      c.exclude = value();
    else if (flag == "--level")
      c.level = std::atoi(value().c_str());
    else if (flag == "--jobs")
      c.jobs = static_cast<unsigned>(std::max(1, std::atoi(value().c_str())));
    else if (flag == "--list")
      c.list = true;
    else if (flag == "--json")
      c.json = true;
    else if (flag == "--verbose")
      c.verbose = true;
    else if (flag.starts_with("--"))
      return std::nullopt;
    else
      c.roots.push_back(flag);
  }
  if (c.roots.empty() || (c.device != "cpu" && c.device != "cuda")) return std::nullopt;
  return c;
}

// "suite/name" -> reason. The file: a line "reason:" of its own, then the tests it holds for, one a line.
std::optional<std::map<std::string, std::string>> read_exclusions(const std::string& path) {
  std::map<std::string, std::string> list;
  if (path.empty()) return list;
  std::ifstream in(path);
  if (!in) return std::nullopt;
  std::string line, reason;
  while (std::getline(in, line)) {
    if (line.empty() || line[0] == '#') continue;
    if (line.ends_with(":"))
      reason = line.substr(0, line.size() - 1);
    else
      list[line] = reason;
  }
  return list;
}

std::string key_of(const BackendCase& test) {
  return test.suite + "/" + test.name;
}

std::vector<Outcome> run_all(const std::vector<BackendCase>& cases, const Command& c) {
  CompileOptions options;
  options.level = c.level;
  options.targets = {c.device == "cpu" ? "cpu" : "sm_" + std::to_string(ge_cuda_device_arch(0))};
  std::vector<Outcome> outcomes(cases.size());
  std::atomic<size_t> next = 0;
  const auto work = [&]() {
    for (size_t i = next++; i < cases.size(); i = next++) outcomes[i] = run_case(cases[i], c.device, options);
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < c.jobs; ++i) threads.emplace_back(work);
  work();
  for (std::thread& t : threads) t.join();
  return outcomes;
}

struct Row {
  int right = 0, wrong = 0, refused = 0, excluded = 0, frozen = 0;
};

const char* word(Verdict v) {
  return v == Verdict::kRight ? "right" : v == Verdict::kWrong ? "wrong" : "refused";
}

void print_table(const std::vector<BackendCase>& cases, const std::vector<Outcome>& outcomes,
                 const std::map<std::string, std::string>& excluded) {
  std::map<std::string, Row> rows;
  Row total;
  for (size_t i = 0; i < cases.size(); ++i) {
    for (Row* row : {&rows[outcomes[i].op], &total}) {
      const Verdict v = outcomes[i].verdict;
      (v == Verdict::kRight ? row->right : v == Verdict::kWrong ? row->wrong : row->refused)++;
      row->excluded += excluded.contains(key_of(cases[i])) ? 1 : 0;
      row->frozen += outcomes[i].frozen.empty() ? 0 : 1;
    }
  }
  fmt::print("{:<28} {:>6} {:>6} {:>8} {:>9} {:>7}\n", "operator", "right", "wrong", "refused", "excluded",
             "frozen");
  const auto print = [](const std::string& name, const Row& r) {
    fmt::print("{:<28} {:>6} {:>6} {:>8} {:>9} {:>7}\n", name, r.right, r.wrong, r.refused, r.excluded,
               r.frozen);
  };
  for (const auto& [name, row] : rows) print(name, row);
  print("all", total);
}

void print_json(const std::vector<BackendCase>& cases, const std::vector<Outcome>& outcomes,
                const std::map<std::string, std::string>& excluded) {
  DocumentBuilder b;
  b.begin_array();
  for (size_t i = 0; i < cases.size(); ++i) {
    const Outcome& o = outcomes[i];
    const auto at = excluded.find(key_of(cases[i]));
    b.begin_object()
        .member("test", key_of(cases[i]))
        .member("operator", o.op)
        .member("verdict", word(o.verdict));
    b.member("why", o.why)
        .member("excluded", at == excluded.end() ? "" : at->second)
        .member("seconds", o.seconds);
    b.key("frozen").begin_array();
    for (const std::string& name : o.frozen) b.value(name);
    b.end_array().end_object();
  }
  b.end_array();
  fmt::print("{}\n", to_json(std::move(b).finish(), 2));
}

// Faults of the run and of the list.
int judge(const std::vector<BackendCase>& cases, const std::vector<Outcome>& outcomes,
          const std::map<std::string, std::string>& excluded, bool whole) {
  int faults = 0;
  std::set<std::string> seen;
  for (size_t i = 0; i < cases.size(); ++i) {
    const std::string key = key_of(cases[i]);
    seen.insert(key);
    const bool right = outcomes[i].verdict == Verdict::kRight;
    if (right == !excluded.contains(key)) continue;
    ++faults;
    if (right)
      fmt::print(stderr, "{}: right, but excluded: take it off the list\n", key);
    else
      fmt::print(stderr, "{}: {}: {}\n", key, word(outcomes[i].verdict), outcomes[i].why);
  }
  for (const auto& [key, reason] : excluded) {
    if (!whole || seen.contains(key)) continue;
    ++faults;
    fmt::print(stderr, "{}: excluded, but not there: take it off the list\n", key);
  }
  return faults;
}

}  // namespace

int main(int argc, char** argv) {
  const auto c = parse(argc, argv);
  if (!c) {
    fmt::print(
        stderr,
        "usage: onnx_backend FOLDER... [--device cpu|cuda] [--filter TEXT] [--exclude FILE] [--jobs N] "
        "[--level N] [--list] [--json] [--verbose]\n");
    return 2;
  }
  if (c->device == "cuda" && ge_cuda_device_count() == 0) {
    fmt::print(stderr, "skipped: no GPU here\n");
    return kSkipped;
  }
  std::vector<BackendCase> cases = find_cases(c->roots);
  std::erase_if(cases, [&](const BackendCase& t) { return key_of(t).find(c->filter) == std::string::npos; });
  if (cases.empty()) {
    fmt::print(stderr, "skipped: no tests there\n");
    return kSkipped;
  }
  const auto excluded = read_exclusions(c->exclude);
  if (!excluded) {
    fmt::print(stderr, "{}: cannot be read\n", c->exclude);
    return 2;
  }
  if (c->list) {
    for (const BackendCase& t : cases) fmt::print("{}\n", key_of(t));
    return 0;
  }
  const std::vector<Outcome> outcomes = run_all(cases, *c);
  if (c->json)
    print_json(cases, outcomes, *excluded);
  else
    print_table(cases, outcomes, *excluded);
  if (c->verbose) {
    for (size_t i = 0; i < cases.size(); ++i)
      fmt::print("{} {} {:.3f} s {}\n", key_of(cases[i]), word(outcomes[i].verdict), outcomes[i].seconds,
                 outcomes[i].why);
  }
  return judge(cases, outcomes, *excluded, c->filter.empty()) == 0 ? 0 : 1;
}
