// Writes one kernel's text: positions, loads, the instructions of a pass over elements, row values, stores.
// Entry: CudaKernel. The methods (cuda_methods.cpp) decide which thread takes which elements; this class
// knows how an element is computed.
//
// A pass is two unrolled loops over the thread's `chunks` of `vector` neighbouring elements: the first issues
// all loads, the second computes, reduces and stores. Names in the text: b<i> an operand's data, i<k> the
// index along a merged axis, r<i> a register, q<i> what divides by it, x<i>[t] a register of the thread's
// element t (a load, or a value held for later passes), acc<i> an accumulator.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "compiler/codegen/cuda_domain.h"

namespace ge {

inline std::string number(int64_t i) {
  return std::to_string(i);
}

// Neighbouring axes walked by one linear position; `linear` names a long long in scope.
struct CudaGroup {
  std::vector<int> axes;
  std::string linear;
  // Where the pointers of operands that are one axis along the group stand already (an int in scope; empty:
  // at its first position): offsets from there are constants where the positions' are.
  std::string origin = {};
};

struct CudaPass {
  int sweep = 0;
  int chunks = 1, vector = 1;
  CudaGroup group;        // its last axis is the vector's
  std::string position;   // linear position of chunk k's first element, in terms of k
  std::string condition;  // of that position being inside, in terms of the linear's name; empty: always
  // Where a valid position is known, positions outside take `instead` of their own and all is computed
  // without branches; `inside` (of the position before that; empty: always) then masks reductions, and with
  // `alive` (empty: always) stores.
  std::string instead = {}, inside = {}, alive = {};
  // The chunks that lie inside whichever thread it is: no text asks of them.
  int safe_from = 0, safe_to = 0;
  // Vectors that may reach over the ends of a row of this length (empty: none does). They are read whole,
  // what lies outside too, where `readable` (empty: everywhere); the text has `before` in scope, by how much
  // the first vector starts ahead of the row.
  std::string across = {}, readable = {};
};

// What a sweep leaves to the next: of the values it wanted, those that are held.
void take_held(const std::vector<bool>& want, const std::vector<bool>& hold, std::vector<bool>& have);

class CudaKernel {
 public:
  explicit CudaKernel(const CudaDomain& domain);

  const CudaDomain& domain() const { return domain_; }
  CudaArguments& arguments() { return args_; }
  void line(const std::string& text) {
    body_ += std::string(static_cast<size_t>(indent_) * 2, ' ') + text + "\n";
  }
  void open(const std::string& text) {
    line(text.empty() ? "{" : text + " {");
    ++indent_;
  }
  void close() {
    --indent_;
    line("}");
  }
  const std::string& body() const { return body_; }

  bool uses(size_t operand) const { return used_operands_[operand]; }  // not where all its loads are dead
  // Which operands may be read and written whole vectors at a time (contiguous there, aligned by fact or
  // guard).
  void set_vector_operands(std::vector<bool> which) { vector_operands_ = std::move(which); }
  // Loads of `operand` take this expression instead of its memory.
  void replace_load(size_t operand, std::string expression) { replaced_[operand] = std::move(expression); }

  // Blocks past the last position of `axes` have nothing to do, whatever the grid.
  void leave_where(const std::string& position, const std::vector<int>& axes);
  // i<k> for each axis of the group, where something needs them one by one.
  void declare_indices(const CudaGroup& group);
  // b<i> of each used operand that has none yet, moved to the position of `groups` and to the origin of
  // `inner`.
  void declare_bases(const std::vector<CudaGroup>& groups, const CudaGroup* inner = nullptr);
  // w<i>: loads that are the same for every row, read once before the rows with the positions of `pass`. They
  // stay in shared memory, each thread of the `block` takes back what it put there: in registers they would
  // leave too few warps.
  std::vector<bool> loads_of_every_row() const;
  void keep_loads(const CudaPass& pass, int block);
  // w<i>: those of them that no launch writes, read into registers before the kernel waits for its inputs,
  // where at most `registers` hold them. For threads that take one row.
  void load_early(const CudaPass& pass, int registers);
  int64_t early_operands() const;  // which load_early reads; bit k: operand k
  // What the first pass over a row reads, `except` aside, may be read while the row before is still worked
  // on: declare_ahead before the rows, load_ahead wherever a row is about to come.
  void declare_ahead(const CudaPass& pass, const std::vector<bool>& except);
  void load_ahead(const CudaPass& pass);
  // x<i>: arrays of `elements` that live on across passes.
  void declare_held(const std::vector<bool>& hold, int elements);
  // Values of row level that are ready before `sweep`. `finish` gives the text that joins an accumulator over
  // the row's threads.
  using Finish = std::function<std::string(const std::string& join, const std::string& accumulator)>;
  void row_values(int sweep, const Finish& finish);
  void start_accumulators(int sweep);  // of reductions made in `sweep`
  void row_stores(const std::string& condition);
  void pass(const CudaPass& pass, const std::vector<bool>& hold);

  // Element values worth keeping from one pass to the next: loads and costly ones that several sweeps want.
  std::vector<bool> choose_held() const;
  int loads_in_sweep(int sweep) const;  // nothing being held
  // Values of one element that a thread has at once: those held into a sweep and what the sweep loads; the
  // most of all sweeps.
  int live_values(const std::vector<bool>& hold) const;
  bool holds_anything_wide() const;  // a register of 8 bytes is held or reduced

  static std::string type_name(DType register_type);
  static std::string memory_type_name(DType dtype);

 private:
  bool is_load(size_t r) const { return p_.code[r].op == static_cast<uint16_t>(LoopOp::kLoad); }
  bool is_store(size_t r) const { return p_.code[r].op == static_cast<uint16_t>(LoopOp::kStore); }
  bool is_inline(size_t r) const {
    return p_.code[r].op == static_cast<uint16_t>(LoopOp::kConstant) ||
           p_.code[r].op == static_cast<uint16_t>(LoopOp::kRowCount);
  }
  std::vector<bool> wanted(int sweep) const;
  bool needs_indices(const CudaGroup& group) const;
  std::string offset(size_t operand, const CudaGroup& group);
  std::string base(size_t operand, const std::vector<CudaGroup>& groups, const CudaGroup* inner);
  std::string index_of(uint32_t domain_axis, const CudaPass* pass) const;
  std::string value(uint16_t r);
  std::string literal(size_t r);
  std::string expression(size_t r, const CudaPass* pass);
  std::string narrow_expression(const LoopInstruction& c);
  bool is_divisor(size_t r) const;  // of row level, and elements are divided by it in ge::narrow
  void drop_casts_before_stores();
  void keep_products_steady();
  std::vector<bool> without_idle(std::vector<bool> hold) const;
  std::string join_of(size_t r) const;
  void open_chunk(const CudaPass& pass);
  void close_chunk(const CudaPass& pass);
  bool is_raw(size_t r, const CudaPass& pass) const;
  void declare_raw(size_t r, const CudaPass& pass);
  std::string raw_type(size_t r, const CudaPass& pass) const;
  std::string raw(size_t r) const;  // of chunk k
  void load(size_t r, const CudaPass& pass, bool whole);
  void load_chunks(const std::vector<size_t>& loads, const CudaPass& pass);
  void store(size_t r, const CudaPass& pass);
  void join(size_t r, const std::string& element, const CudaPass& pass);
  void join_later(const std::vector<size_t>& joins, const CudaPass& pass);
  std::vector<size_t> stores_of(const CudaPass& pass) const;
  std::vector<size_t> joins_of(const CudaPass& pass) const;
  void compute(const CudaPass& pass, const std::vector<bool>& want, const std::vector<bool>& hold);
  void store_all(const std::vector<size_t>& stores, const CudaPass& pass);

  const CudaDomain& domain_;
  const LoopProgram& p_;
  CudaArguments args_;
  int indent_ = 1;
  std::string body_;
  std::vector<bool> needed_, used_operands_, held_, vector_operands_;
  std::vector<bool> ahead_;       // loads of the first sweep that stand in w<i> before it
  std::vector<bool> kept_;        // loads in shared memory before the rows begin
  std::vector<bool> early_;       // loads in registers before the inputs are waited for
  std::vector<bool> based_;       // operands whose b<i> is in scope
  std::vector<bool> narrow_;      // may be computed by ge::narrow
  bool small_floats_;             // and keeps results below 2^-126 there
  std::vector<bool> steady_;      // products that several sweeps want: the same number in each
  std::vector<bool> dropped_;     // casts that the stores behind them do anyway
  std::vector<uint16_t> stored_;  // by store: the register whose value it takes
  std::vector<std::string> replaced_;
};

}  // namespace ge
