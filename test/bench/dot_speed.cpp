// Times the tiles of kernels/dot/dot_wgmma beside cuBLASLt on one GPU, and checks them against double sums.
//
//   ge_dot_speed CUBIN [--shapes MxNxK,...] [--all] [--by-depth] [--no-early] [--hot] [--no-library |
//   --only-library]
//   [--least-split S] [--most-split S] [--tile RxCxA] [--check]
//
// Every product is replayed from a CUDA graph of 48 launches whose weights rotate past the second-level
// cache; times are medians of a launch, in microseconds, beside the floor (bytes at 4.19 TB/s, FLOPs at 690
// TFLOP/s). CUBIN holds entries t_<rows>x<columns>x<across>. Exits with 1 where a result is wrong.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "kernels/dot/dot_wgmma.h"
#include "numeric/float16.h"
#include "runtime/cuda/cublaslt_api.h"
#include "runtime/cuda/driver_symbols.h"

namespace ge::cuda {
namespace {

const Driver* cu = nullptr;
[[noreturn]] void die(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(2);
}
void must(CUresult result, const char* what) {
  if (result != CUDA_SUCCESS) die(std::string(what) + " failed: " + std::to_string(result));
}
#define MUST(function, ...) must(cu->function(__VA_ARGS__), #function)

// Says what hangs, and ends the process: a kernel that waits forever cannot be called off.
class Watchdog {
 public:
  Watchdog() {
    std::thread([this] {
      for (int64_t seen = -1;;) {
        std::this_thread::sleep_for(std::chrono::seconds(5));
        const std::lock_guard lock(mutex_);
        if (seen == count_ && !what_.empty()) {
          std::printf("HANGS %s\n", what_.c_str());
          std::fflush(stdout);
          std::_Exit(3);
        }
        seen = count_;
      }
    }).detach();
  }
  void at(std::string what) {
    const std::lock_guard lock(mutex_);
    ++count_;
    what_ = std::move(what);
  }

 private:
  std::mutex mutex_;
  std::string what_;
  int64_t count_ = 0;
};

constexpr int64_t kBlockElements = (4 << 20) + 4096, kPoolElements = int64_t{120} << 20;
constexpr int kLaunches = 48;

struct Shape {
  int64_t m, n, k;
  double floor_us() const {
    const double bytes = 2.0 * static_cast<double>(n * k + m * k + m * n),
                 flops = 2.0 * static_cast<double>(m * n) * static_cast<double>(k);
    return std::max(bytes / 4.19e6, flops / 690e6);
  }
};
struct Tile : kernels::WgmmaTileShape {
  CUfunction function;
};
struct Config {
  const Tile* tile;
  int split, shared;
};

class Bench {
 public:
  explicit Bench(const std::string& cubin) {
    auto opened = driver();
    if (!opened.ok()) die("no GPU");
    cu = *opened;
    CUdevice device = 0;
    MUST(cuDeviceGet, &device, 0);
    CUcontext context = nullptr;
    MUST(cuDevicePrimaryCtxRetain, &context, device);
    MUST(cuCtxSetCurrent, context);
    MUST(cuStreamCreate, &stream_, CU_STREAM_NON_BLOCKING);
    load_tiles(cubin, device);
    fill();
  }
  void set_early(bool early) { early_ = early; }
  static std::string text(const Tile& t) {
    return std::to_string(t.rows) + "x" + std::to_string(t.columns) + "x" + std::to_string(t.across);
  }
  static std::string text(const Config& c, const Shape& s, bool by_depth) {
    char line[200];
    std::snprintf(line, sizeof line, "%ldx%ldx%ld %s tile %dx%dx%d split %d shared %d", s.m, s.n, s.k,
                  by_depth ? "depth" : "columns", c.tile->rows, c.tile->columns, c.tile->across, c.split,
                  c.shared);
    return line;
  }
  const std::vector<Tile>& tiles() const { return tiles_; }
  bool wrong() const { return wrong_; }

  // 0: cannot run.
  double time(const Config& c, const Shape& s, bool by_depth, bool early, int epilogue = 0) {
    std::vector<CUtensorMap> maps;
    const int sets = weight_sets(s);
    for (int i = 0; i < sets; ++i) maps.push_back(right_map(*c.tile, s, by_depth, weights(s, i)));
    return replay(
        [&](int i) { return launch(c, s, by_depth, early, epilogue, maps[static_cast<size_t>(i % sets)]); });
  }

  // `runs` of one launch: every one gives the same bits, and those are right. False: it cannot run.
  bool check(const Config& c, const Shape& s, bool by_depth, int runs) {
    std::vector<uint16_t> got(static_cast<size_t>(s.m * s.n)), again(got.size());
    const CUtensorMap right = right_map(*c.tile, s, by_depth, pool_);
    for (int run = 0; run < runs; ++run) {
      MUST(cuMemsetD8Async, out_, 0xff, got.size() * 2, stream_);
      dog_.at(text(c, s, by_depth));
      if (!launch(c, s, by_depth, early_, 3, right)) return false;
      must(cu->cuStreamSynchronize(stream_), "run");
      MUST(cuMemcpyDtoH, again.data(), out_, got.size() * 2);
      if (run > 0 && got != again) {
        std::printf("CHANGES %s\n", text(c, s, by_depth).c_str());
        wrong_ = true;
      }
      got = again;
    }
    double difference = 0, norm = 0;
    for (const Sample& sample : samples(s, by_depth)) {
      const double have = to_float(got[static_cast<size_t>(sample.row * s.n + sample.column)]);
      difference += (sample.want - have) * (sample.want - have);
      norm += sample.want * sample.want;
    }
    for (const uint16_t bits : got)
      if (bits == 0xffff) difference = NAN;
    const double error = std::sqrt(difference / norm);
    if (!(error < 1e-3)) {
      std::printf("WRONG %s: error %g\n", text(c, s, by_depth).c_str(), error);
      wrong_ = true;
    }
    std::fflush(stdout);
    return true;
  }

  // Best of eight heuristic results; 0: no library.
  double time_library(const Shape& s, bool by_depth) {
    if (lt_ == nullptr) {
      auto library = cublaslt();
      if (!library.ok()) return 0;
      lt_ = *library;
      if (lt_->cublasLtCreate(&handle_) != 0) die("cublasLtCreate");
    }
    LtMatmulDesc desc = nullptr;
    lt_->cublasLtMatmulDescCreate(&desc, kLtCompute32F, kLtFloat32);
    const int32_t transposed = by_depth, plain = 0;
    const uint32_t epilogue = kLtEpilogueBias;
    const void* bias = reinterpret_cast<const void*>(bias_);
    lt_->cublasLtMatmulDescSetAttribute(desc, kLtTransA, &transposed, sizeof transposed);
    lt_->cublasLtMatmulDescSetAttribute(desc, kLtTransB, &plain, sizeof plain);
    lt_->cublasLtMatmulDescSetAttribute(desc, kLtEpilogue, &epilogue, sizeof epilogue);
    lt_->cublasLtMatmulDescSetAttribute(desc, kLtBiasPointer, &bias, sizeof bias);
    LtLayout a = nullptr, b = nullptr, d = nullptr;
    const auto n = static_cast<uint64_t>(s.n), m = static_cast<uint64_t>(s.m), k = static_cast<uint64_t>(s.k);
    lt_->cublasLtMatrixLayoutCreate(&a, kLtFloat16, by_depth ? k : n, by_depth ? n : k, by_depth ? s.k : s.n);
    lt_->cublasLtMatrixLayoutCreate(&b, kLtFloat16, k, m, s.k);
    lt_->cublasLtMatrixLayoutCreate(&d, kLtFloat16, n, m, s.n);
    LtPreference preference = nullptr;
    lt_->cublasLtMatmulPreferenceCreate(&preference);
    const uint64_t workspace = 32 << 20;
    lt_->cublasLtMatmulPreferenceSetAttribute(preference, kLtMaxWorkspace, &workspace, sizeof workspace);
    LtHeuristicResult results[8] = {};
    int found = 0;
    lt_->cublasLtMatmulAlgoGetHeuristic(handle_, desc, a, b, d, d, preference, 8, results, &found);
    double best = 0;
    const int sets = weight_sets(s);
    const float one = 1, zero = 0;
    for (int r = 0; r < found; ++r) {
      const double us = replay([&](int i) {
        return lt_->cublasLtMatmul(handle_, desc, &one, reinterpret_cast<void*>(weights(s, i % sets)), a,
                                   reinterpret_cast<void*>(left_), b, &zero, reinterpret_cast<void*>(out_), d,
                                   reinterpret_cast<void*>(out_), d, &results[r].algo,
                                   reinterpret_cast<void*>(workspace_), workspace, target_) == 0;
      });
      if (us > 0 && (best == 0 || us < best)) best = us;
    }
    lt_->cublasLtMatmulPreferenceDestroy(preference);
    for (LtLayout layout : {a, b, d}) lt_->cublasLtMatrixLayoutDestroy(layout);
    lt_->cublasLtMatmulDescDestroy(desc);
    return best;
  }

  static inline bool hot = false;  // the weights of every launch are the same

 private:
  static float to_float(uint16_t bits) { return float16_to_float(bits); }

  void load_tiles(const std::string& path, CUdevice device) {
    std::ifstream in(path, std::ios::binary);
    code_.assign(std::istreambuf_iterator<char>(in), {});
    if (code_.empty()) die("cannot read " + path);
    CUlibrary library = nullptr;
    MUST(cuLibraryLoadData, &library, code_.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
    for (const int rows : {64, 128, 256})
      for (int columns = 16; columns <= 256; columns += 16)
        for (const int across : {1, 2}) {
          const std::string name =
              "t_" + std::to_string(rows) + "x" + std::to_string(columns) + "x" + std::to_string(across);
          CUkernel kernel = nullptr;
          if (cu->cuLibraryGetKernel(&kernel, library, name.c_str()) != CUDA_SUCCESS) continue;
          CUfunction function = nullptr;
          MUST(cuKernelGetFunction, &function, kernel);
          MUST(cuKernelSetAttribute, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 227 << 10, kernel,
               device);
          MUST(cuKernelSetAttribute, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1, kernel, device);
          tiles_.push_back({{rows, columns, across}, function});
        }
  }

  void fill() {
    std::mt19937 rng(7);
    std::normal_distribution<float> normal(0, 1);
    block_.resize(kBlockElements);
    for (uint16_t& v : block_) v = float16_from_float(normal(rng) * 0.5f);
    MUST(cuMemAlloc, &pool_, kPoolElements * 2);
    for (int64_t at = 0; at < kPoolElements; at += kBlockElements)
      MUST(cuMemcpyHtoD, pool_ + static_cast<CUdeviceptr>(at * 2), block_.data(),
           static_cast<size_t>(std::min(kBlockElements, kPoolElements - at) * 2));
    for (CUdeviceptr* p : {&left_, &out_, &residual_}) MUST(cuMemAlloc, p, size_t{128} << 20);
    MUST(cuMemcpyHtoD, left_, block_.data() + 1000, size_t{8} << 20);
    for (int part = 1; part < 16; ++part)
      MUST(cuMemcpyHtoD, left_ + static_cast<CUdeviceptr>(part) * (8 << 20), block_.data() + 1000,
           size_t{8} << 20);
    for (int part = 0; part < 16; ++part)
      MUST(cuMemcpyHtoD, residual_ + static_cast<CUdeviceptr>(part) * (8 << 20), block_.data() + 2000,
           size_t{8} << 20);
    MUST(cuMemAlloc, &bias_, 64 << 10);
    MUST(cuMemcpyHtoD, bias_, block_.data() + 3000, 64 << 10);
    MUST(cuMemAlloc, &workspace_, 32 << 20);
  }

  struct Sample {
    int64_t row, column;
    double want;
  };
  const std::vector<Sample>& samples(const Shape& s, bool by_depth) {
    std::vector<Sample>& list = samples_[{s.m, s.n, s.k, by_depth}];
    std::mt19937_64 rng(1);
    for (int i = 0; list.size() < 600; ++i) {
      const int64_t row = i % 3 == 0 ? s.m - 1 - i % std::min<int64_t>(s.m, 8)
                                     : static_cast<int64_t>(rng() % static_cast<uint64_t>(s.m));
      const int64_t column =
          i % 5 == 0 ? s.n - 1 - i % 16 : static_cast<int64_t>(rng() % static_cast<uint64_t>(s.n));
      list.push_back({row, column, reference(s, row, column, by_depth)});
    }
    return list;
  }
  double reference(const Shape& s, int64_t row, int64_t column, bool by_depth) const {
    constexpr int64_t part = 4 << 20;  // elements of `left_` and `residual_` repeat so
    double sum = 0;
    for (int64_t k = 0; k < s.k; ++k) {
      const int64_t weight = by_depth ? column * s.k + k : k * s.n + column;
      sum += static_cast<double>(to_float(block_[static_cast<size_t>((row * s.k + k) % part + 1000)])) *
             to_float(block_[static_cast<size_t>(weight % kBlockElements)]);
    }
    sum += to_float(block_[static_cast<size_t>(3000 + column)]);
    sum += to_float(block_[static_cast<size_t>(2000 + (row * s.n + column) % part)]);
    return 0.5 * sum * std::erfc(-sum * 0.70710678118654752440);
  }

  static int weight_sets(const Shape& s) {
    return hot ? 1 : static_cast<int>(std::clamp<int64_t>(kPoolElements / (s.n * s.k), 1, kLaunches));
  }
  CUdeviceptr weights(const Shape& s, int set) const {
    return pool_ + static_cast<CUdeviceptr>(set * s.n * s.k * 2);
  }

  static CUtensorMap map(CUdeviceptr data, int64_t inner, int64_t outer, int box_inner, int box_outer,
                         CUtensorMapSwizzle swizzle) {
    CUtensorMap result{};
    const cuuint64_t dims[] = {static_cast<cuuint64_t>(inner), static_cast<cuuint64_t>(outer)},
                     strides[] = {static_cast<cuuint64_t>(inner * 2)};
    const cuuint32_t box[] = {static_cast<cuuint32_t>(box_inner), static_cast<cuuint32_t>(box_outer)},
                     steps[] = {1, 1};
    MUST(cuTensorMapEncodeTiled, &result, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, reinterpret_cast<void*>(data),
         dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
         CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return result;
  }
  static CUtensorMap right_map(const Tile& t, const Shape& s, bool by_depth, CUdeviceptr data) {
    if (by_depth) return map(data, s.k, s.n, 64, t.columns, CU_TENSOR_MAP_SWIZZLE_128B);
    const int width = t.width();
    return map(data, s.n, s.k, width, 64,
               width == 64   ? CU_TENSOR_MAP_SWIZZLE_128B
               : width == 32 ? CU_TENSOR_MAP_SWIZZLE_64B
                             : CU_TENSOR_MAP_SWIZZLE_32B);
  }

  bool launch(const Config& c, const Shape& s, bool by_depth, bool early, int epilogue,
              const CUtensorMap& right) {
    kernels::DotWgmmaArgs args{};
    const CUtensorMap left = map(left_, s.k, s.m, 64, c.tile->rows, CU_TENSOR_MAP_SWIZZLE_128B);
    std::memcpy(&args.lhs, &left, sizeof left);
    std::memcpy(&args.rhs, &right, sizeof right);
    args.bias = reinterpret_cast<void*>(bias_);
    args.out = reinterpret_cast<void*>(out_);
    args.residual_step = args.out_step = s.n;
    args.rhs_step = by_depth ? s.k : 1;
    args.rows = s.m, args.columns = s.n, args.depth = s.k;
    args.early = early, args.narrow = 1;
    if ((epilogue & 1) != 0) args.residual = reinterpret_cast<void*>(residual_);
    if ((epilogue & 2) != 0) args.activation.op = 73;
    void* parameters[] = {&args};
    CUlaunchConfig config{};
    const int64_t tiles =
        (s.m + c.tile->rows - 1) / c.tile->rows * ((s.n + c.tile->columns - 1) / c.tile->columns);
    const int64_t most = c.split == 1 ? kMultiprocessors * resident(c) : INT32_MAX;
    config.gridDimX = static_cast<unsigned>(std::min(tiles, most) * c.split);
    config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
    config.blockDimX = static_cast<unsigned>(c.tile->block_threads());
    config.sharedMemBytes = static_cast<unsigned>(c.shared);
    config.hStream = target_;
    CUlaunchAttribute attributes[2]{};
    config.attrs = attributes;
    if (c.split > 1) {
      attributes[config.numAttrs].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
      attributes[config.numAttrs++].value.clusterDim = {static_cast<unsigned>(c.split), 1, 1};
    }
    if (early) {
      attributes[config.numAttrs].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
      attributes[config.numAttrs++].value.programmaticStreamSerializationAllowed = 1;
    }
    return cu->cuLaunchKernelEx(&config, c.tile->function, parameters, nullptr) == CUDA_SUCCESS;
  }
  static constexpr int64_t kMultiprocessors = 132;
  static int64_t resident(const Config& c) { return c.shared <= 113 * 1024 ? 2 : 1; }

  template <class Launch>
  double replay(Launch&& launch) {
    CUstream recorder = nullptr;
    MUST(cuStreamCreate, &recorder, CU_STREAM_NON_BLOCKING);
    MUST(cuStreamBeginCapture, recorder, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    target_ = recorder;
    bool ok = true;
    for (int i = 0; i < kLaunches && ok; ++i) ok = launch(i);
    target_ = stream_;
    CUgraph graph = nullptr;
    const bool ended = cu->cuStreamEndCapture(recorder, &graph) == CUDA_SUCCESS;
    CUgraphExec exec = nullptr;
    if (ok && ended) ok = cu->cuGraphInstantiateWithFlags(&exec, graph, 0) == CUDA_SUCCESS;
    double result = 0;
    if (ok && ended) {
      CUevent begin = nullptr, end = nullptr;
      MUST(cuEventCreate, &begin, 0);
      MUST(cuEventCreate, &end, 0);
      std::vector<float> times;
      MUST(cuGraphUpload, exec, stream_);
      MUST(cuGraphLaunch, exec, stream_);
      must(cu->cuStreamSynchronize(stream_), "replay");
      for (int i = 0; i < 5; ++i) {
        MUST(cuEventRecord, begin, stream_);
        MUST(cuGraphLaunch, exec, stream_);
        MUST(cuEventRecord, end, stream_);
        MUST(cuStreamSynchronize, stream_);
        float ms = 0;
        MUST(cuEventElapsedTime, &ms, begin, end);
        times.push_back(ms);
        if (ms > 8 && i >= 2) break;
      }
      std::sort(times.begin(), times.end());
      result = static_cast<double>(times[times.size() / 2]) * 1000 / kLaunches;
      cu->cuEventDestroy(begin);
      cu->cuEventDestroy(end);
    }
    if (exec) cu->cuGraphExecDestroy(exec);
    if (graph) cu->cuGraphDestroy(graph);
    cu->cuStreamDestroy(recorder);
    return result;
  }

  CUstream stream_ = nullptr, target_ = nullptr;
  std::vector<char> code_;
  std::vector<Tile> tiles_;
  std::vector<uint16_t> block_;
  CUdeviceptr pool_ = 0, left_ = 0, out_ = 0, residual_ = 0, bias_ = 0, workspace_ = 0;
  const CublasLt* lt_ = nullptr;
  LtHandle handle_ = nullptr;
  std::map<std::array<int64_t, 4>, std::vector<Sample>> samples_;
  Watchdog dog_;
  bool wrong_ = false, early_ = true;
};

struct Options {
  std::string tile;  // RxCxA; empty: all
  bool all = false, by_depth = false, early = true, library = true, kernels = true, check = false;
  int least_split = 1, most_split = 8;
};

// What is worth timing: enough blocks, not many more than fit, and no long tail.
std::vector<Config> configs(const std::vector<Tile>& tiles, const Shape& s) {
  std::vector<Config> list;
  for (const Tile& t : tiles) {
    if (t.rows > 64 && s.m <= 64) continue;
    const int64_t count = (s.m + t.rows - 1) / t.rows * ((s.n + t.columns - 1) / t.columns);
    const int64_t blocks = (s.k + 63) / 64;
    if (count > 1500 && t.rows * t.columns < 128 * 128) continue;
    for (const int split : {1, 2, 3, 4, 6, 8}) {
      if (split > blocks || (split > 1 && count * split > 280) || count * split < 40) continue;
      const int slots = t.shared_bytes(split, 0), stage = t.stage_bytes();
      const auto mine = static_cast<int>((blocks + split - 1) / split);
      for (const int room : {113 << 10, 226 << 10}) {
        const int most = (room - slots) / stage;
        if (most < 2) continue;
        const int stages = std::clamp(mine + (split == 1 ? 2 : 0), 2, std::min(most, 16));
        if (stages < 3 && stages < mine) continue;
        const int shared = stages * stage + slots;
        if (room > (113 << 10) && shared <= (113 << 10)) continue;  // the same again
        list.push_back({&t, split, shared});
      }
    }
  }
  return list;
}

void run_shape(Bench& bench, const Shape& s, const Options& options) {
  const bool by_depth = options.by_depth;
  struct Reading {
    Config config;
    double us, plain = 0, residual = 0, gelu = 0, whole = 0;
  };
  std::vector<Reading> readings;
  int checked = 0;
  for (const Config& c : options.kernels ? configs(bench.tiles(), s) : std::vector<Config>()) {
    if (c.split < options.least_split || c.split > options.most_split) continue;
    if (!options.tile.empty() && options.tile != Bench::text(*c.tile)) continue;
    if (!bench.check(c, s, by_depth, options.check ? 10 : 1)) continue;
    ++checked;
    if (options.check) continue;
    readings.push_back({c, bench.time(c, s, by_depth, options.early)});
  }
  if (options.check) {
    std::printf("%ldx%ldx%ld %s: %d launches checked\n", s.m, s.n, s.k, by_depth ? "depth" : "columns",
                checked);
    std::fflush(stdout);
    return;
  }
  std::erase_if(readings, [](const Reading& r) { return r.us == 0; });
  std::sort(readings.begin(), readings.end(), [](const Reading& a, const Reading& b) { return a.us < b.us; });
  const double floor = s.floor_us();
  for (size_t i = 0; i < readings.size() && (options.all || i < 6); ++i) {
    Reading& r = readings[i];
    if (i < 2 && options.early) {
      r.plain = bench.time(r.config, s, by_depth, false);
    }
    if (i < 8 && options.early) {
      r.residual = bench.time(r.config, s, by_depth, true, 1);
      r.gelu = bench.time(r.config, s, by_depth, true, 2);
      r.whole = bench.time(r.config, s, by_depth, true, 3);
    }
    std::printf("floor %.2f us %.2f plain %.2f residual %.2f gelu %.2f whole %.2f %s\n", floor, r.us, r.plain,
                r.residual, r.gelu, r.whole, Bench::text(r.config, s, by_depth).c_str());
  }
  std::fflush(stdout);
  if (!options.library) return;
  std::printf("floor %.2f us %.2f %ldx%ldx%ld %s cuBLASLt\n", floor, bench.time_library(s, by_depth), s.m,
              s.n, s.k, by_depth ? "depth" : "columns");
  std::fflush(stdout);
}

int run(int argc, char** argv) {
  if (argc < 2)
    die("usage: ge_dot_speed CUBIN [--shapes MxNxK,...] [--all] [--by-depth] [--no-early] [--hot] "
        "[--no-library | "
        "--only-library] "
        "[--least-split S] [--most-split S] [--tile RxCxA] [--check]");
  std::vector<Shape> shapes;
  Options options;
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    options.all |= word == "--all";
    options.check |= word == "--check";
    options.by_depth |= word == "--by-depth";
    if (word == "--no-early") options.early = false;
    if (word == "--hot") Bench::hot = true;
    if (word == "--only-library") options.kernels = false;
    if (word == "--no-library") options.library = false;
    if (word == "--most-split" && i + 1 < argc) options.most_split = std::atoi(argv[++i]);
    if (word == "--least-split" && i + 1 < argc) options.least_split = std::atoi(argv[++i]);
    if (word == "--tile" && i + 1 < argc) options.tile = argv[++i];
    if (word != "--shapes" || i + 1 == argc) continue;
    std::string list = argv[++i];
    for (char* part = std::strtok(list.data(), ","); part != nullptr; part = std::strtok(nullptr, ",")) {
      Shape s{};
      if (std::sscanf(part, "%ldx%ldx%ld", &s.m, &s.n, &s.k) == 3) shapes.push_back(s);
    }
  }
  if (shapes.empty())
    for (const int64_t m : {1, 16, 64, 128, 256, 512, 1024, 4096})
      for (const auto& [n, k] : std::initializer_list<std::pair<int64_t, int64_t>>{
               {2304, 768}, {768, 768}, {3072, 768}, {768, 3072}, {4096, 1024}, {4096, 4096}, {1024, 4096}})
        shapes.push_back({m, n, k});
  Bench bench(argv[1]);
  bench.set_early(options.early);
  for (const Shape& s : shapes) run_shape(bench, s, options);
  return bench.wrong() ? 1 : 0;
}

}  // namespace
}  // namespace ge::cuda

int main(int argc, char** argv) {
  return ge::cuda::run(argc, argv);
}
