#include "compiler/codegen/cuda_methods.h"

#include <algorithm>

#include "compiler/codegen/cuda_method_parts.h"
#include "contract/hash.h"

namespace ge {
namespace {

constexpr int kFlatThreads = 256;
// Vectors in a row, below which its ends are too much of it: then two elements cross rows, as long as there
// are kFewVectors of them. On an H200 softmax of 257 float16 columns took 75 us by two, 78 by eight, 86 one
// by one; norm of 777 columns 115 us by two, 132 by eight.
constexpr int kShortRow = 128, kNarrowVector = 2, kFewVectors = 64;
// Percent of what a row's threads hold that the row must fill, or narrow vectors do instead: where a group of
// threads takes one row, or several. Norms by eight and by two: 1031 columns (67 percent) 154 us and 119,
// 1701 (83 percent) 129 and 117, 2049 (89 percent) 115 and 119; softmax: 1201 (78) 74.9 and 72.2, 1701 69.3
// and 71.5.
constexpr int kFilled = 80, kFilledOfRows = 85;
constexpr int kTile = 32, kTileRows = 8;
constexpr const char* kName = "@name@";

OperandDesc describe(const CudaDomain& domain, size_t i, const CudaVectors* vectors) {
  const LoopOperand& o = domain.program().operands[i];
  OperandDesc d;
  d.name = (o.output ? "out" : "in") + number(static_cast<int64_t>(i));
  d.role = o.output ? OperandRole::kOut : OperandRole::kIn;
  d.dtypes = DTypeSet{o.dtype};
  d.min_rank = d.max_rank = static_cast<int8_t>(domain.program().outer_rank + domain.program().row_rank);
  const int size = bits_of(o.dtype) / 8;
  d.align_bytes = static_cast<int16_t>(
      vectors != nullptr && vectors->operands[i] ? std::min(16, size * vectors->width) : size);
  return d;
}

// What whole vectors need of the views, whether it was known or is guarded.
void require_vectors(const CudaDomain& domain, const CudaVectors& vectors,
                     std::vector<Requirement>& requirements) {
  const auto whole = static_cast<int8_t>(domain.whole_operand());
  if (vectors.width > 1 && !vectors.across_rows) {
    const CudaAxis& axis = domain.axes()[static_cast<size_t>(vectors.along)];
    requirements.push_back({RequirementKind::kExtentMultiple, whole, static_cast<int8_t>(axis.from),
                            static_cast<int8_t>(axis.to), vectors.width});
  }
  for (const LoopGuard& g : vectors.guards)
    if (g.kind == LoopGuard::Kind::kStrideMultiple)
      requirements.push_back({RequirementKind::kStrideMultiple, static_cast<int8_t>(g.operand),
                              static_cast<int8_t>(g.from), 0, g.value});
}

}  // namespace

CudaLoopVariant finish_method(CudaKernel& kernel, std::string method, int threads_x, int threads_y,
                              const CudaVectors* vectors, int blocks) {
  CudaLoopVariant v;
  std::string text = kernel.arguments().struct_text(std::string(kName) + "_args") + "// " + method + "\n" +
                     "extern \"C\" __global__ void __launch_bounds__(" + number(threads_x * threads_y) +
                     (blocks > 1 ? ", " + number(blocks) : "") + ") " + kName + "(const __grid_constant__ " +
                     kName + "_args a) {\n" + kernel.body() + "}\n";
  v.symbol = "loop_" + hash128_hex(as_bytes(text)).substr(0, 12);
  for (size_t at = text.find(kName); at != std::string::npos; at = text.find(kName, at))
    text.replace(at, std::string_view(kName).size(), v.symbol);
  v.method = std::move(method);
  v.fragment = std::move(text);
  v.block = {threads_x, threads_y, 1};
  v.desc.name = v.desc.symbol = v.symbol;
  v.desc.kind = KernelKind::kGenerated;
  v.desc.device = KernelDevice::kCuda;
  v.desc.limits.min_arch = 80;
  v.desc.waits_for_predecessor =
      true;  // each method has wait_for_inputs() before it reads, but for load_early
  v.early = kernel.early_operands();
  if (v.early != 0) v.desc.attrs.push_back({"early", AttrType::kInt, v.early, v.early, true});
  v.desc.limits.max_threads = threads_x * threads_y;
  const CudaDomain& domain = kernel.domain();
  for (size_t i = 0; i < domain.program().operands.size(); ++i)
    v.desc.operands.push_back(describe(domain, i, vectors));
  kernel.arguments().fill(v.desc);
  v.desc.requirements = domain.requirements();
  if (vectors != nullptr) require_vectors(domain, *vectors, v.desc.requirements);
  if (vectors != nullptr) v.guards = vectors->guards;
  return v;
}

void add_grid_terms(const CudaDomain& domain, const std::vector<int>& axes, int64_t per_block,
                    LoopGrid& grid) {
  if (axes.empty()) return;
  const auto& all = domain.axes();
  bool neighbours = true;
  for (size_t i = 0; i + 1 < axes.size(); ++i) neighbours &= axes[i + 1] == axes[i] + 1;
  if (neighbours) {
    grid.terms.push_back(
        {all[static_cast<size_t>(axes.front())].from, all[static_cast<size_t>(axes.back())].to, per_block});
    return;
  }
  for (const int a : axes)
    grid.terms.push_back({all[static_cast<size_t>(a)].from, all[static_cast<size_t>(a)].to, 1});
}

int widest_vector(const CudaDomain& domain, const std::vector<int>& axes) {
  if (axes.empty()) return 1;
  int smallest = 0;
  for (size_t i = 0; i < domain.program().operands.size(); ++i) {
    if (domain.program().operands[i].row_level || domain.stride(i, axes.back()) != 1) continue;
    const int size = bits_of(domain.program().operands[i].dtype) / 8;
    smallest = smallest == 0 ? size : std::min(smallest, size);
  }
  return smallest == 0 ? 1 : std::min(8, 16 / smallest);
}

CudaVectors choose_vectors(const CudaDomain& domain, const std::vector<int>& axes, int width) {
  CudaVectors v;
  v.operands.assign(domain.program().operands.size(), false);
  if (axes.empty() || width <= 1) return v;
  const int last = axes.back();
  const CudaAxis& axis = domain.axes()[static_cast<size_t>(last)];
  if (axis.extent)
    while (width > 1 && *axis.extent % width != 0) width /= 2;
  if (width == 1) return v;
  const auto known_multiple = axis.extent ? axis.extent : axis.multiple_of;
  if (!known_multiple || *known_multiple % width != 0)
    v.guards.push_back({LoopGuard::Kind::kExtentMultiple, 0, axis.from, axis.to, width});
  v.width = width;
  v.along = last;
  for (size_t i = 0; i < v.operands.size(); ++i) {
    if (domain.program().operands[i].row_level || domain.stride(i, last) != 1) continue;
    const int size = bits_of(domain.program().operands[i].dtype) / 8;
    const int64_t unit = std::min(16, width * size) / size;  // elements of one access
    std::vector<LoopGuard> guards;
    bool fits = true;
    for (int a = 0; a < static_cast<int>(domain.axes().size()); ++a) {
      if (a == last) continue;
      std::vector<int> chain;
      for (int k = a; k <= last; ++k) chain.push_back(k);
      if (a < last && domain.is_dense(i, chain))
        continue;  // a multiple of the extent, which is one of the width
      const auto stride = domain.stride(i, a);
      const CudaAxis& other = domain.axes()[static_cast<size_t>(a)];
      if (stride)
        fits &= *stride % unit == 0;
      else
        guards.push_back({LoopGuard::Kind::kStrideMultiple, static_cast<uint8_t>(i),
                          static_cast<uint8_t>(other.to - 1), other.to, unit});
    }
    if (!fits) continue;
    if (domain.facts().operands[i].align_bytes % (unit * size) != 0)
      guards.push_back({LoopGuard::Kind::kAligned, static_cast<uint8_t>(i), 0, 0, unit * size});
    v.operands[i] = true;
    v.guards.insert(v.guards.end(), guards.begin(), guards.end());
  }
  return v;
}

namespace {

CudaVectors vectors_across_rows(const CudaDomain& domain, int width) {
  CudaVectors v;
  v.operands.assign(domain.program().operands.size(), false);
  const std::vector<int> row = domain.row_axes(), axes = domain.all_axes();
  const auto length = domain.count(row);
  if (row.size() != 1 || !length || width == 1 || *length < kFewVectors * width) return v;
  for (size_t i = 0; i < v.operands.size(); ++i) {
    if (domain.program().operands[i].row_level || domain.stride(i, row.back()) != 1 ||
        !domain.is_dense(i, axes))
      continue;
    const int bytes = std::min(16, width * bits_of(domain.program().operands[i].dtype) / 8);
    if (domain.facts().operands[i].align_bytes % bytes != 0)
      v.guards.push_back({LoopGuard::Kind::kAligned, static_cast<uint8_t>(i), 0, 0, bytes});
    v.operands[i] = true;
    v.across_rows = true;
    v.width = width;
    v.along = row.back();
  }
  return v;
}

}  // namespace

CudaVectors choose_vectors_across_rows(const CudaDomain& domain, int width) {
  const auto length = domain.count(domain.row_axes());
  const int narrow = std::min(width, kNarrowVector);
  if (!length || *length < kShortRow * width) return vectors_across_rows(domain, narrow);
  CudaVectors wide = vectors_across_rows(domain, width);
  const auto shape = wide.across_rows ? held_shape(domain, wide, *length) : std::nullopt;
  if (!shape) return wide;
  const int64_t held = int64_t{shape->threads} * shape->chunks * width;
  if (*length * 100 >= held * (shape->rows > 1 ? kFilledOfRows : kFilled)) return wide;
  return vectors_across_rows(domain, narrow);
}

CudaLoopVariant print_flat(const CudaDomain& domain, const CudaVectors& vectors, int chunks) {
  CudaKernel kernel(domain);
  kernel.set_vector_operands(vectors.operands);
  const std::vector<int> axes = domain.all_axes();
  const int per_block = kFlatThreads * chunks * vectors.width;
  kernel.line("ge::loop::let_next_start();");
  kernel.line("ge::loop::wait_for_inputs();");
  kernel.line("const long long total = " + kernel.arguments().count(axes) + ";");
  kernel.line("const long long first = blockIdx.x * " + number(per_block) + "ll + threadIdx.x * " +
              number(vectors.width) + "u;");
  kernel.declare_bases({});
  CudaPass pass{.sweep = 0,
                .chunks = chunks,
                .vector = vectors.width,
                .group = group_of(axes, "e"),
                .position = "first + k * " + number(kFlatThreads * vectors.width),
                .condition = "e < total"};
  kernel.pass(pass, std::vector<bool>(domain.program().code.size(), false));
  CudaLoopVariant v = finish_method(
      kernel, vectors.width > 1 ? "flat_vector" + number(vectors.width) : "flat", kFlatThreads, 1, &vectors);
  add_grid_terms(domain, axes, per_block, v.grid);
  return v;
}

CudaLoopVariant print_transpose(const CudaDomain& domain, int across) {
  CudaKernel kernel(domain);
  const int along = static_cast<int>(domain.axes().size()) - 1;
  std::vector<int> others = domain.all_axes();
  std::erase(others, across);
  std::erase(others, along);
  const CudaGroup batch = group_of(others, "batch"), q = group_of({along}, "q"), p = group_of({across}, "p");
  CudaArguments& args = kernel.arguments();
  const std::string np = args.extent(across), nq = args.extent(along);
  kernel.line("ge::loop::let_next_start();");
  kernel.line("ge::loop::wait_for_inputs();");
  kernel.line("long long batch = blockIdx.x;");
  kernel.line("const long long q0 = ge::loop::split(batch, (" + nq + " + 31) / 32) * 32;");
  kernel.line("const long long p0 = ge::loop::split(batch, (" + np + " + 31) / 32) * 32;");
  kernel.line("const long long q = q0 + threadIdx.x;");
  kernel.leave_where("batch", others);
  kernel.declare_indices(batch);
  const auto& program = domain.program();
  for (size_t i = 0; i < program.operands.size(); ++i) {
    if (program.operands[i].output || !kernel.uses(i) || domain.stride(i, across) != 1) continue;
    const std::string type = CudaKernel::memory_type_name(program.operands[i].dtype),
                      name = "tile" + number(static_cast<int64_t>(i));
    kernel.line("__shared__ " + type + " " + name + "[32][33];");
  }
  kernel.open("");
  kernel.declare_bases({batch});
  kernel.line("#pragma unroll");
  kernel.open("for (int k = 0; k < " + number(kTile / kTileRows) + "; ++k)");
  kernel.line("const long long to_q = q0 + threadIdx.y + k * " + number(kTileRows) +
              ", to_p = p0 + threadIdx.x;");
  kernel.open("if (to_q < " + nq + " && to_p < " + np + ")");
  for (size_t i = 0; i < program.operands.size(); ++i) {
    if (program.operands[i].output || !kernel.uses(i) || domain.stride(i, across) != 1) continue;
    const std::string name = "tile" + number(static_cast<int64_t>(i));
    const auto stride = domain.stride(i, along);
    const std::string moved = stride == 0 ? "" : " + to_q * " + args.stride(i, along);
    kernel.line(name + "[threadIdx.y + k * " + number(kTileRows) + "][threadIdx.x] = b" +
                number(static_cast<int64_t>(i)) + "[to_p" + moved + "];");
    kernel.replace_load(i, name + "[threadIdx.x][threadIdx.y + k * " + number(kTileRows) + "]");
  }
  kernel.close();
  kernel.close();
  kernel.close();
  kernel.line("__syncthreads();");
  kernel.declare_indices(q);
  kernel.declare_bases({batch, q});
  kernel.pass({.sweep = 0,
               .chunks = kTile / kTileRows,
               .vector = 1,
               .group = p,
               .position = "p0 + threadIdx.y + k * " + number(kTileRows),
               .condition = "p < " + np + " && q < " + nq},
              std::vector<bool>(program.code.size(), false));
  CudaLoopVariant v = finish_method(kernel, "transpose", kTile, kTileRows, nullptr);
  for (const int a : others) add_grid_terms(domain, {a}, 1, v.grid);
  add_grid_terms(domain, {across}, kTile, v.grid);
  add_grid_terms(domain, {along}, kTile, v.grid);
  return v;
}

CudaLoopVariant print_columns(const CudaDomain& domain, int lanes) {
  CudaKernel kernel(domain);
  std::vector<int> others = domain.outer_axes();
  std::erase(others, lanes);
  const CudaGroup batch = group_of(others, "batch"), column = group_of({lanes}, "c"),
                  row = group_of(domain.row_axes(), "j");
  const int rows = domain.max_count(row.axes) <= 16 ? 4 : 16;
  const std::string columns = kernel.arguments().extent(lanes), length = kernel.arguments().count(row.axes);
  kernel.line("ge::loop::let_next_start();");
  kernel.line("ge::loop::wait_for_inputs();");
  kernel.line("long long batch = blockIdx.x;");
  kernel.line("const long long own = ge::loop::split(batch, (" + columns +
              " + 31) / 32) * 32 + threadIdx.x;");
  kernel.leave_where("batch", others);
  kernel.line("const bool live = own < " + columns + ";");
  kernel.line("const long long c = live ? own : " + columns + " - 1;");
  kernel.line("__shared__ ge::loop::Best<double> shared[" + number(32 * rows) + "];");
  kernel.declare_indices(batch);
  kernel.declare_indices(column);
  kernel.declare_bases({batch, column});
  const auto join = [&](const std::string& join, const std::string& acc) {
    return "ge::loop::over_columns<" + join + ", 32, " + number(rows) + ">(" + acc + ", shared)";
  };
  const std::vector<bool> nothing(domain.program().code.size(), false);
  const int chunks = std::min(4, most_elements(domain));
  for (int s = 0; s < domain.program().sweeps; ++s) {
    kernel.row_values(s, join);
    kernel.start_accumulators(s);
    kernel.open("for (long long base = 0; base < " + length + "; base += " + number(rows * chunks) + ")");
    kernel.pass({.sweep = s,
                 .chunks = chunks,
                 .vector = 1,
                 .group = row,
                 .position = "base + k * " + number(rows) + " + static_cast<int>(threadIdx.y)",
                 .condition = "live && j < " + length},
                nothing);
    kernel.close();
  }
  kernel.row_values(domain.program().sweeps, join);
  kernel.row_stores("live && threadIdx.y == 0");
  CudaLoopVariant v = finish_method(kernel, "columns", kTile, rows, nullptr);
  for (const int a : others) add_grid_terms(domain, {a}, 1, v.grid);
  add_grid_terms(domain, {lanes}, kTile, v.grid);
  return v;
}

}  // namespace ge
