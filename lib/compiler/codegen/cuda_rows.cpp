// Ways to reduce along rows: print_row_held and print_row_reread of cuda_methods.h.
#include <numeric>

#include "compiler/codegen/cuda_method_parts.h"

namespace ge {
namespace {

constexpr int kEarlyRegisters = 32;  // of a thread, for what it reads before its inputs are there

// Joins accumulators over the threads of a row. Reductions over a block take one of two buffers by turns.
struct RowJoin {
  int threads = 1;
  int buffer = 0;
  std::string operator()(const std::string& join, const std::string& acc) {
    if (threads == 1) return acc;
    const std::string over = "<" + join + ", " + number(threads) + ">(" + acc;
    if (threads <= 32) return "ge::loop::over_lanes" + over + ")";
    buffer = 1 - buffer;
    return "ge::loop::over_block" + over + (buffer == 1 ? ", shared)" : ", shared + 64)");
  }
};

// Where a row's first vector starts ahead of it repeats after so many rows.
int64_t rows_of_a_kind(const CudaVectors& vectors, int64_t length) {
  return vectors.across_rows ? vectors.width / std::gcd(int64_t{vectors.width}, length) : 1;
}

// The text of row_held and row_across. A group of threads takes a row, or `shape.rows` of a kind one after
// another: rows of a kind start equally far behind a vector's start, so positions, masks and what is the same
// for every row are found once. While a row is worked on the next one is on its way.
class RowHeld {
 public:
  RowHeld(const CudaDomain& domain, const CudaVectors& vectors, const RowShape& shape)
      : domain_(domain),
        vectors_(vectors),
        shape_(shape),
        kernel_(domain),
        outer_{.axes = domain.outer_axes(), .linear = "row"},
        row_{.axes = domain.row_axes(), .linear = "j", .origin = "start"},
        length_(domain.count(row_.axes)),
        rows_(kernel_.arguments().count(outer_.axes)),
        groups_(shape.threads <= 32 ? kWarpBlock / shape.threads : 1),
        kinds_(shape.rows > 1 ? rows_of_a_kind(vectors, length_.value_or(1)) : 1),
        join_{shape.threads} {
    kernel_.set_vector_operands(vectors.operands);
  }

  CudaLoopVariant print() {
    start();
    const CudaPass pass = pass_of();
    if (loops()) open_loop(pass);
    enter("turn");
    if (!loops()) {
      if (reads_early()) kernel_.load_early(pass, kEarlyRegisters);
      kernel_.line("ge::loop::wait_for_inputs();");
    }
    if (!clamps()) kernel_.leave_where("row", outer_.axes);
    if (vectors_.across_rows && !loops()) declare_before("row");
    bases();
    sweeps(pass);
    if (loops()) {
      if (join_.buffer == 1)
        kernel_.line("__syncthreads();");  // the next row's first reduction takes it again
      kernel_.close();
    }
    return finish();
  }

 private:
  // A block has several rows at once.
  bool shares() const { return groups_ > 1; }
  // A warp has several rows at once: its lanes stay together past the last row.
  bool clamps() const { return shape_.threads < 32; }
  // A group of threads takes several rows, one after another.
  bool loops() const { return shape_.rows > 1; }

  // What is the same for every row waits for nobody, and comes from memory where a model's weights do not
  // stay in the caches. More rows hide that behind each other, and leave no registers for it.
  bool reads_early() const {
    return !vectors_.across_rows && length_.value_or(0) != 0 && domain_.max_count(outer_.axes) <= kFewRows;
  }

  void start() {
    kernel_.line("ge::loop::let_next_start();");
    if (loops()) kernel_.line("ge::loop::wait_for_inputs();");
    kernel_.line("const int lane = threadIdx.x" +
                 (shares() ? " % " + number(shape_.threads) : std::string()) + ";");
    if (!shares()) kernel_.line("__shared__ long long shared[128];");
    if (!vectors_.across_rows) kernel_.line("const int start = lane * " + number(vectors_.width) + ";");
    // Rows of a kind, one behind the other, go to the groups of a block by turns.
    std::string first = "blockIdx.x";
    if (kinds_ > 1) first += " / " + number(kinds_);
    if (loops()) first += " * " + number(shape_.rows);
    if (shares())
      first = "(" + first + ") * " + number(groups_) + "ll + threadIdx.x / " + number(shape_.threads);
    if (kinds_ > 1) first = "(" + first + ") * " + number(kinds_) + "ll + blockIdx.x % " + number(kinds_);
    kernel_.line("const long long first = " + first + ";");
  }

  CudaPass pass_of() {
    CudaPass pass{.chunks = shape_.chunks,
                  .vector = vectors_.width,
                  .group = row_,
                  .position = "start + k * " + number(shape_.threads * vectors_.width)};
    if (length_.value_or(0) == 0) {
      pass.condition = (clamps() ? "live && j < " : "j < ") + kernel_.arguments().count(row_.axes);
      return pass;
    }
    pass.alive = clamps() ? "live" : "";
    pass.safe_to = static_cast<int>(*length_ / (int64_t{shape_.threads} * vectors_.width));
    if (vectors_.across_rows) {
      // Chunks between the first and the last lie inside wherever the row starts.
      pass.across = number(*length_);
      pass.safe_from = 1;
      const auto total = domain_.count(domain_.all_axes());
      if (!total || *total % vectors_.width != 0) pass.readable = "row + 1 < " + rows_;
    } else {
      // A row that has elements: all threads may read and compute, `row` is a valid one.
      pass.inside = pass.safe_to == shape_.chunks ? "" : number(*length_);
      pass.instead = number(*length_ - vectors_.width);
    }
    return pass;
  }

  void open_loop(const CudaPass& pass) {
    if (vectors_.across_rows) declare_before("first");
    kernel_.declare_ahead(pass, kernel_.loads_of_every_row());
    read_ahead(pass, "0", "");
    kernel_.keep_loads(pass, shape_.threads * groups_);
    kernel_.line("#pragma unroll 1");
    kernel_.open("for (int turn = 0; turn < " + number(shape_.rows) + "; ++turn)");
  }

  void declare_before(const std::string& row) {
    const std::string width = number(vectors_.width);
    kernel_.line("const int before = static_cast<int>(" + row + " * " + number(*length_) + "ll % " + width +
                 "), start = lane * " + width + " - before;");
  }

  // `row`, by its number among those of a group.
  void enter(const std::string& turn) {
    kernel_.line("const long long own_row = first" +
                 (loops() ? " + " + turn + " * " + number(groups_ * kinds_) + "ll" : std::string()) + ";");
    if (clamps()) {
      kernel_.line("const bool live = own_row < " + rows_ + ";");
      // Past the last row a valid one stands in, of the same kind: its vectors lie as this group's do.
      kernel_.line("const long long row = live ? own_row : " +
                   (kinds_ > 1 ? "blockIdx.x % " + number(kinds_) : rows_ + " - 1") + ";");
    } else {
      kernel_.line("const long long row = own_row;");
    }
  }
  void bases() {
    kernel_.declare_indices(outer_);
    kernel_.declare_bases({outer_}, &row_);
  }

  void read_ahead(const CudaPass& pass, const std::string& turn, const std::string& condition) {
    kernel_.open(condition.empty() ? "" : "if (" + condition + ")");
    enter(turn);
    if (!clamps()) kernel_.open("if (row < " + rows_ + ")");
    bases();
    kernel_.load_ahead(pass);
    if (!clamps()) kernel_.close();
    kernel_.close();
  }

  void sweeps(CudaPass pass) {
    const auto hold = kernel_.choose_held();
    kernel_.declare_held(hold, shape_.chunks * vectors_.width);
    const CudaKernel::Finish join = [&](const std::string& j, const std::string& acc) {
      return join_(j, acc);
    };
    const int sweeps = domain_.program().sweeps;
    for (int s = 0; s < sweeps; ++s) {
      kernel_.row_values(s, join);
      kernel_.start_accumulators(s);
      pass.sweep = s;
      kernel_.pass(pass, hold);
      if (s > 0 || !loops()) continue;
      read_ahead(pass, "(turn + 1)", "turn + 1 < " + number(shape_.rows));
      if (shares()) kernel_.line("__syncwarp();");  // they are issued here, not where they are used
    }
    kernel_.row_values(sweeps, join);
    kernel_.row_stores(clamps() ? "live && lane == 0" : "lane == 0");
  }

  CudaLoopVariant finish() {
    const std::string method = (vectors_.across_rows ? "row_across_" : "row_held_") + number(shape_.threads) +
                               "x" + number(shape_.chunks) + "x" + number(vectors_.width) +
                               (loops() ? "_rows" + number(shape_.rows) : "");
    const int block = shape_.threads * groups_, warps = block / 32;
    const int blocks = (shape_.warps + warps - 1) / warps;
    CudaLoopVariant v = finish_method(kernel_, method, block, 1, &vectors_, blocks);
    if (!length_) {
      const auto& all = domain_.axes();
      v.desc.requirements.push_back({RequirementKind::kExtentAtMost,
                                     static_cast<int8_t>(domain_.whole_operand()),
                                     static_cast<int8_t>(all[static_cast<size_t>(row_.axes.front())].from),
                                     static_cast<int8_t>(all[static_cast<size_t>(row_.axes.back())].to),
                                     int64_t{shape_.threads} * shape_.chunks * vectors_.width});
    }
    add_grid_terms(domain_, outer_.axes, groups_ * kinds_ * shape_.rows, v.grid);
    v.grid.times = kinds_;
    return v;
  }

  const CudaDomain& domain_;
  const CudaVectors& vectors_;
  const RowShape shape_;
  CudaKernel kernel_;
  const CudaGroup outer_, row_;
  const std::optional<int64_t> length_;
  const std::string rows_;
  const int groups_;  // of threads, in a block
  const int64_t kinds_;
  RowJoin join_;
};

}  // namespace

CudaLoopVariant print_row_held(const CudaDomain& domain, const CudaVectors& vectors, const RowShape& shape) {
  return RowHeld(domain, vectors, shape).print();
}

CudaLoopVariant print_row_reread(const CudaDomain& domain, const CudaVectors& vectors, int threads) {
  CudaKernel kernel(domain);
  kernel.set_vector_operands(vectors.operands);
  const CudaGroup outer = group_of(domain.outer_axes(), "row"), row = group_of(domain.row_axes(), "j");
  kernel.line("ge::loop::let_next_start();");
  kernel.line("ge::loop::wait_for_inputs();");
  kernel.line("const long long row = blockIdx.x;");
  kernel.leave_where("row", outer.axes);
  kernel.line("__shared__ long long shared[128];");
  kernel.declare_indices(outer);
  kernel.declare_bases({outer});
  const std::string length = kernel.arguments().count(row.axes);
  RowJoin turns{threads};
  const CudaKernel::Finish join = [&](const std::string& j, const std::string& acc) { return turns(j, acc); };
  const std::vector<bool> nothing(domain.program().code.size(), false);
  for (int s = 0; s < domain.program().sweeps; ++s) {
    kernel.row_values(s, join);
    kernel.start_accumulators(s);
    const int loads = std::max(1, kernel.loads_in_sweep(s));
    const int chunks = std::clamp(std::min(4 / loads, most_elements(domain) / vectors.width), 1, 4);
    kernel.open("for (long long base = 0; base < " + length +
                "; base += " + number(int64_t{threads} * vectors.width * chunks) + ")");
    kernel.pass({.sweep = s,
                 .chunks = chunks,
                 .vector = vectors.width,
                 .group = row,
                 .position = "base + (k * " + number(threads) + " + static_cast<int>(threadIdx.x)) * " +
                             number(vectors.width),
                 .condition = "j < " + length},
                nothing);
    kernel.close();
  }
  kernel.row_values(domain.program().sweeps, join);
  kernel.row_stores("threadIdx.x == 0");
  CudaLoopVariant v = finish_method(kernel, "row_reread_" + number(threads) + "x" + number(vectors.width),
                                    threads, 1, &vectors);
  add_grid_terms(domain, outer.axes, 1, v.grid);
  return v;
}

}  // namespace ge
