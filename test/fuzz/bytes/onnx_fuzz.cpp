// ONNX bytes: read, compiled for the CPU or refused; what compiles is a plan that reads,
// and the same plan from graph.json. The same bytes as a tensor by itself. External data is looked for in a
// folder that holds none.
#include <random>

#include "compiler/compile.h"
#include "compiler/onnx_file/onnx_file.h"
#include "compiler/source/graph_json.h"
#include "compiler/source/graph_json_write.h"
#include "contract/plan_read.h"
#include "fuzz_target.h"
#include "wire_mutator.h"

using namespace ge;

namespace {

const char* const kEmptyFolder = "/proc/self/fdinfo";  // exists, and has no file of a useful name

std::string plan_of(Graph graph) {
  CompileOptions options;
  options.passes.check = false;
  auto compiled = compile(std::move(graph), options);
  std::string bytes;
  if (!compiled.ok()) return bytes;
  const Status written = compiled->write([&](ByteSpan part) {
    bytes += as_text(part);
    return Status();
  });
  return written.ok() ? bytes : "";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const ByteSpan bytes = test::input_bytes(data, size);
  const auto tensor = read_onnx_tensor(bytes, "tensor.pb");
  test::promise(!tensor.ok() || !tensor->bytes || tensor->bytes->size() <= 2 * size,
                "a tensor is no larger than its file");
  Graph partial;
  OnnxReadOptions options;
  options.partial = &partial;
  auto graph = read_onnx(ByteBuffer::copy_of(bytes), "model.onnx", kEmptyFolder, options);
  if (!graph.ok()) return 0;
  const auto text = graph_to_json(*graph, "");
  const std::string plan = plan_of(std::move(*graph));
  test::promise(plan.empty() || read_plan_bytes(as_bytes(plan)).ok(), "what compiles is a plan that reads");
  if (!text.ok()) return 0;
  auto again = read_graph_json(as_bytes(text->json), "again.json", kEmptyFolder);
  test::promise(again.ok(), "a graph read from ONNX is one that graph.json can say");
  test::promise(plan.empty() || plan_of(std::move(*again)) == plan, "and gives the same plan");
  return 0;
}

// libFuzzer and fuzz_main.cpp ask it for the changes.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size) __attribute__((weak));
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  std::mt19937_64 random(seed);
  if (random() % 4 != 0) {
    const std::vector<uint8_t> made = test::mutate_wire(data, size, random);
    if (!made.empty() && made.size() <= max_size) {
      std::copy(made.begin(), made.end(), data);
      return made.size();
    }
  }
  return LLVMFuzzerMutate ? LLVMFuzzerMutate(data, size, max_size) : 0;
}
