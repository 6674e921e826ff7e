// One case: a graph through the reader, the compiler at several settings and the devices; everything that
// must agree is compared. Entry: Checker::check. Invariant: what is checked, and with which data, follows
// from the graph alone.
#pragma once
#include <array>
#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "fuzz/plan_session.h"
#include "fuzz/yardstick.h"

namespace ge::test {

struct Failure {
  std::string kind;    // "values cpu -O2": shrinking keeps it
  std::string detail;  // several lines
};

// Not a failure: a GPU has no kernel for a dtype that the CPU has one for.
inline constexpr const char* kNotThere = "no kernel";

struct Counts {
  std::atomic<int64_t> cases{0}, refused{0}, runs{0}, elements{0}, near{0}, explained{0}, faults{0};
};

struct Devices {                     // of one process
  ge_device* cpu = nullptr;          // one thread
  ge_device* cpu_threads = nullptr;  // three
  ge_device* cuda = nullptr;         // null where it is not asked for
  std::string cuda_target;           // "sm_90"; with no `cuda`: compiled for, not run
  bool sabotage = false;             // spoil one element of each output: a check of the checker
};

class Checker {
 public:
  Checker(const Devices& devices, Counts& counts) : devices_(devices), counts_(counts) {}
  // nullopt where all agrees, or where the compiler refuses the graph as the user's fault.
  std::optional<Failure> check(const Graph& graph);

 private:
  struct Variant {
    std::string name;  // "cpu -O2"
    CompileOptions options;
    ge_device* device = nullptr;  // null: compiled only
    std::vector<std::byte> plan;
    std::string fault;  // of the data, met while folding: there is no plan, and every run must meet one
    std::unique_ptr<PlanSession> session;
    bool runs() const { return device != nullptr && fault.empty(); }
  };
  std::optional<Failure> check_text(const Graph& graph, Graph& read);
  std::optional<Failure> check_ir(const Graph& graph, const std::string& what);
  std::optional<Failure> check_core(const Graph& lowered);
  std::optional<Failure> check_plan(const Variant& v);
  std::optional<Failure> build(const Graph& graph, Variant& v);
  std::vector<Variant> variants(const Graph& graph) const;
  std::optional<Failure> check_runs(const Graph& graph, const Graph& lowered, Variant& reference,
                                    std::vector<Variant>& all);
  std::optional<Failure> compare(const Variant& v, const Graph& graph, const RunResult& got,
                                 const RunResult& expected, const std::function<Yardstick*(int)>& yardstick);
  const Devices& devices_;
  Counts& counts_;
};

}  // namespace ge::test
