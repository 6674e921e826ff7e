#include "fuzz/graph_maker.h"

#include <algorithm>
#include <limits>

#include "compiler/ir/infer.h"
#include "compiler/onnx_ops/lower.h"
#include "numeric/convert.h"
#include "tensor_file/host_tensor.h"

namespace ge::test {
namespace {

constexpr size_t kMaxInputs = 5;
constexpr int kOldestMade = 13;  // the oldest opset that every operator the makers use is in
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// What initializers hold; inputs get theirs from case_data.
enum Contents { kSmallFloats, kSmallIntegers, kPositive, kSpecial, kUniform };

TensorData tensor_of_integers(DType dtype, const std::vector<int64_t>& dims,
                              const std::vector<int64_t>& values) {
  TensorData data = tensor_of(values);
  data.dims = dims;
  if (dtype == DType::int64) return data;
  ByteBuffer bytes = ByteBuffer::allocate(static_cast<size_t>(bytes_of(dtype, data.count())), true);
  for (size_t i = 0; i < values.size(); ++i)
    store_from_int64(dtype, bytes.data(), static_cast<int64_t>(i), values[i]);
  data.dtype = dtype;
  data.bytes = std::make_shared<const ByteBuffer>(std::move(bytes));
  return data;
}

// Every symbol that dims may use, with bounds for sizing.
SymbolRanges all_symbols(const SymbolRanges& declared) {
  SymbolRanges all = declared;
  all.try_emplace("free", SymbolRange{0, kMaxSymbol, 1});
  return all;
}

}  // namespace

GraphMaker::GraphMaker(uint64_t seed) : random_(seed) {
  opset_ = random_.chance(70) ? kNewestOpset : static_cast<int>(random_.in(kOldestMade, kNewestOpset));
  if (random_.chance(4)) max_elements_ = kMaxElementsLarge;
  graph_.name = "fuzz " + std::to_string(seed);
  declare_symbols();
  lowered_.symbols = graph_.symbols;
}

void GraphMaker::declare_symbols() {
  static const char* const kNames[] = {"n", "m"};
  const int64_t count = random_.chance(45) ? random_.in(1, 2) : 0;
  for (int64_t i = 0; i < count; ++i) {
    SymbolRange range;
    range.min = random_.chance(70) ? 1 : random_.in(0, 3);
    range.max = random_.chance(10) ? random_.in(range.min, 40) : random_.in(range.min, kMaxSymbol);
    range.opt = random_.in(range.min, range.max);
    graph_.symbols[kNames[i]] = range;
  }
}

Dim GraphMaker::some_dim() {
  const auto percent = random_.in(0, 99);
  if (!graph_.symbols.empty() && percent < 35) {
    auto it = graph_.symbols.begin();
    std::advance(it, random_.in(0, static_cast<int64_t>(graph_.symbols.size()) - 1));
    const Dim symbol = Dim::symbol(it->first);
    switch (random_.in(0, 11)) {
      case 0:
        return symbol * Dim(random_.in(2, 3));
      case 1:
        return symbol + Dim(random_.in(1, 3));
      case 2:
        return Dim::floor_div(symbol + Dim(1), 2);
      case 3:
        return Dim::max(symbol, 2);
      default:
        return symbol;
    }
  }
  if (is_large() && random_.chance(50)) {
    static const std::vector<int64_t> kLarge{129, 256, 300, 511, 1000, 1024, 1025, 2049, 5000};
    return random_.pick(kLarge);
  }
  if (percent < 37) return Dim::symbol("free");
  if (percent < 40) return 0;
  if (percent < 52) return 1;
  if (percent < 85) return random_.in(2, 5);
  if (percent < 94) return random_.in(6, 12);
  static const std::vector<int64_t> kEdges{15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 257};
  return random_.pick(kEdges);
}

Dims GraphMaker::some_dims(int64_t min_rank, int64_t max_rank) {
  int64_t rank = random_.in(min_rank, max_rank);
  if (rank > 3 && random_.chance(50)) rank = std::max<int64_t>(min_rank, 2);
  for (int attempt = 0; attempt < 20; ++attempt) {
    Dims dims;
    for (int64_t i = 0; i < rank; ++i) dims.push_back(some_dim());
    if (elements(dims) <= max_elements_ / 2) return dims;
  }
  return Dims(static_cast<size_t>(rank), Dim(2));
}

int64_t GraphMaker::elements(const Dims& dims) const {
  const SymbolRanges ranges = all_symbols(graph_.symbols);
  int64_t total = 1;
  for (const Dim& d : dims) {
    const int64_t most = std::clamp<int64_t>(d.bounds(ranges).max, 0, int64_t{1} << 31);
    total = std::min<int64_t>(total * most, int64_t{1} << 31);
  }
  return total;
}

DType GraphMaker::some_dtype(DTypeSet allowed) {
  static const std::vector<DType> kUsual{DType::float32, DType::float32, DType::float32,  DType::float32,
                                         DType::float16, DType::float16, DType::bfloat16, DType::float64,
                                         DType::int64,   DType::int32,   DType::boolean};
  for (int attempt = 0; attempt < 6; ++attempt) {
    const DType t = random_.pick(kUsual);
    if (allowed.contains(t)) return t;
  }
  std::vector<DType> all;
  for (int i = 0; i < kDTypeCount; ++i)
    if (allowed.contains(static_cast<DType>(i))) all.push_back(static_cast<DType>(i));
  return random_.pick(all);
}

double GraphMaker::element(DType dtype, int kind) {
  static const std::vector<double> kReals{0.0, -0.0, 1,    -1,   0.5,   -2.5, 1e-7,
                                          3e4, -90,  1e30, kInf, -kInf, kNaN};
  static const std::vector<double> kIntegers{0,  1,   -1,   2,   7,     31,   32,   63,
                                             64, 127, -128, 255, 65535, 1e18, -1e19};
  if (is_bool(dtype)) return random_.chance(50) ? 1 : 0;
  if (kind == kSpecial && random_.chance(30)) return random_.pick(is_float(dtype) ? kReals : kIntegers);
  if (kind == kPositive)
    return is_float(dtype) ? 0.1 + 2 * random_.unit() : static_cast<double>(random_.in(1, 9));
  if (kind == kSmallIntegers || !is_float(dtype)) return static_cast<double>(random_.in(-4, 5));
  return random_.normal();
}

TensorData GraphMaker::contents(DType dtype, const std::vector<int64_t>& dims) {
  static const std::vector<int> kKinds{kSmallFloats, kSmallFloats, kSmallFloats, kSmallIntegers,
                                       kPositive,    kSpecial,     kUniform,     kUniform};
  const int kind = random_.pick(kKinds);
  if (kind == kUniform) return splat(dtype, dims, element(dtype, static_cast<int>(random_.in(0, 3))));
  auto made = make_host_tensor(dtype, dims, true);
  HostTensor tensor = std::move(made).value();
  for (int64_t i = 0; i < tensor.count(); ++i)
    store_from_double(dtype, tensor.bytes.data(), i, element(dtype, kind));
  TensorData data;
  data.dtype = dtype;
  data.dims = dims;
  data.bytes = std::make_shared<const ByteBuffer>(std::move(tensor.bytes));
  return data;
}

ValueId GraphMaker::lowered(ValueId value) const {
  if (value == kNone) return kNone;
  const auto at = std::find(pool_.begin(), pool_.end(), value);
  return lowered_pool_[static_cast<size_t>(at - pool_.begin())];
}

ValueId GraphMaker::enter(ValueId value, ValueId lowered) {
  graph_.value(value).type = lowered_.type(lowered);
  if (graph_.value(value).name.empty()) graph_.value(value).name = "v" + std::to_string(value);
  pool_.push_back(value);
  lowered_pool_.push_back(lowered);
  return value;
}

ValueId GraphMaker::constant(TensorData data) {
  const ValueId low = lowered_.add_constant(data);
  const ValueId value = graph_.add_constant(std::move(data));
  lowered_.value(low).contents = infer_contents(lowered_, *lowered_.producer(low));
  graph_.value(value).name = "c" + std::to_string(value);
  return enter(value, low);
}

ValueId GraphMaker::ints(const std::vector<int64_t>& values, DType dtype) {
  return constant(tensor_of_integers(dtype, {static_cast<int64_t>(values.size())}, values));
}

ValueId GraphMaker::integers(DType dtype, const std::vector<int64_t>& shape, int64_t low, int64_t high) {
  int64_t count = 1;
  for (const int64_t d : shape) count *= d;
  std::vector<int64_t> values(static_cast<size_t>(count));
  for (int64_t& v : values) v = random_.in(low, high);
  return constant(tensor_of_integers(dtype, shape, values));
}

ValueId GraphMaker::number(DType dtype, double value) {
  return constant(splat(dtype, {}, value));
}

ValueId GraphMaker::leaf(DType dtype, const Dims& dims, bool constant_only) {
  const auto fixed = static_values(dims);
  const bool full = graph_.inputs.size() >= kMaxInputs;
  if (fixed && (constant_only || full || random_.chance(35))) return constant(contents(dtype, *fixed));
  const std::string name = "x" + std::to_string(graph_.inputs.size());
  const ValueId low = lowered_.add_input(name, {dtype, dims});
  return enter(graph_.add_input(name, {dtype, dims}), low);
}

ValueId GraphMaker::any(DTypeSet allowed, int64_t min_rank, int64_t max_rank) {
  std::vector<ValueId> fit;
  for (size_t i = 0; i < pool_.size(); ++i) {
    const ValueId v = pool_[i];
    if (!allowed.contains(type(v).dtype) || rank(v) < min_rank || rank(v) > max_rank) continue;
    fit.push_back(v);
    if (i + 4 >= pool_.size()) fit.insert(fit.end(), 3, v);  // chains grow from their ends
  }
  if (!fit.empty() && random_.chance(88)) return random_.pick(fit);
  if (allowed.bits() == 0) return kNone;
  return leaf(some_dtype(allowed), some_dims(min_rank, std::min<int64_t>(max_rank, 4)));
}

ValueId GraphMaker::partner(ValueId x, bool within) {
  const Type t = type(x);
  return partner_of(t.dtype, t.dims, within);
}

ValueId GraphMaker::partner_of(DType dtype, const Dims& dims, bool within) {
  const auto fits = [&](const Dims& other) {
    if (within && other.size() > dims.size()) return false;
    for (size_t i = 1; i <= std::min(dims.size(), other.size()); ++i) {
      const Dim &a = dims[dims.size() - i], &b = other[other.size() - i];
      if (!(a == b) && !b.is_value(1) && (within || !a.is_value(1))) return false;
    }
    return true;
  };
  std::vector<ValueId> fit;
  for (const ValueId v : pool_)
    if (type(v).dtype == dtype && fits(type(v).dims)) fit.push_back(v);
  if (!fit.empty() && random_.chance(70)) return random_.pick(fit);
  Dims made = dims;
  if (random_.chance(60)) {
    if (!made.empty() && random_.chance(50))
      made.erase(made.begin(), made.begin() + random_.in(0, static_cast<int64_t>(made.size())));
    for (Dim& d : made)
      if (random_.chance(25)) d = 1;
  } else if (!within && made.size() < 4 && random_.chance(20)) {
    made.insert(made.begin(), random_.in(1, 3));
  }
  return leaf(dtype, made);
}

ValueId GraphMaker::exactly(DType dtype, const Dims& dims) {
  std::vector<ValueId> fit;
  for (const ValueId v : pool_)
    if (type(v).dtype == dtype && type(v).dims == dims) fit.push_back(v);
  if (!fit.empty() && random_.chance(60)) return random_.pick(fit);
  return leaf(dtype, dims);
}

GraphMaker::State GraphMaker::save() const {
  return {graph_.clone(), lowered_.clone(), pool_, lowered_pool_, nodes_};
}

void GraphMaker::restore(State saved) {
  graph_ = std::move(saved.graph);
  lowered_ = std::move(saved.lowered);
  pool_ = std::move(saved.pool);
  lowered_pool_ = std::move(saved.lowered_pool);
  nodes_ = saved.nodes;
}

ValueId GraphMaker::add(const Operator& op, NodeSpec spec) {
  const auto append = [&](Graph& graph, std::vector<ValueId> operands) {
    const NodeId id = graph.add_node(Op::onnx, std::move(operands), std::vector<Type>(spec.outputs),
                                     spec.attrs, {{"/nodes/" + std::to_string(nodes_), "", ""}});
    graph.node(id).onnx = std::make_unique<OnnxName>(OnnxName{op.row->domain, op.row->name, opset_});
    return id;
  };
  std::vector<ValueId> mapped;
  for (const ValueId v : spec.operands) mapped.push_back(lowered(v));
  Graph trial = lowered_.clone();
  const NodeId low = append(trial, mapped);
  for (const ValueId v : std::vector<ValueId>(trial.node(low).results)) trial.add_output(v, "o");
  if (const Status status = lower_onnx(trial); !status.ok()) {
    refusal_ = status.error().to_string();
    return kNone;
  }
  // Sizes that must be equal at run time make a graph that few dims fit: few such graphs are enough.
  const bool asserts = trial.assertions.size() > lowered_.assertions.size();
  refusal_ = asserts ? "it asserts sizes" : "its result is large";
  if (asserts && !random_.chance(3)) return kNone;
  const size_t first = trial.outputs.size() - spec.outputs;
  for (size_t i = first; i < trial.outputs.size(); ++i)
    if (elements(trial.type(trial.outputs[i]).dims) > max_elements_) return kNone;
  lowered_ = std::move(trial);
  const NodeId id = append(graph_, spec.operands);
  ++nodes_;
  for (size_t i = 0; i < spec.outputs; ++i) enter(graph_.node(id).results[i], lowered_.outputs[first + i]);
  return graph_.node(id).results[0];
}

ValueId GraphMaker::add(std::string_view op, std::vector<ValueId> operands, AttrMap attrs, size_t outputs) {
  if (std::count(operands.begin(), operands.end(), kNone) > 0) return kNone;  // what came before was refused
  const Operator* row = find_operator("", op, opset_);
  if (row == nullptr) return kNone;
  return add(*row, {std::move(operands), std::move(attrs), outputs});
}

Graph GraphMaker::finish() {
  std::vector<ValueId> sinks, others;
  for (const ValueId v : pool_) {
    const bool node = graph_.producer(v) != nullptr && graph_.producer(v)->op == Op::onnx;
    (node && graph_.use_count(v) == 0 ? sinks : others).push_back(v);
  }
  const auto give = [&](ValueId v) { graph_.add_output(v, graph_.value(v).name); };
  for (const ValueId v : sinks)
    if (random_.chance(85)) give(v);
  for (const ValueId v : others)
    if (random_.chance(graph_.producer(v) == nullptr || graph_.is_constant(v) ? 3 : 12)) give(v);
  if (graph_.outputs.empty()) give(sinks.empty() ? others.back() : sinks.back());
  return std::move(graph_);
}

}  // namespace ge::test
