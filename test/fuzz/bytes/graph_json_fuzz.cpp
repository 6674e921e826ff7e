// graph.json text: read, lowered and compiled for the CPU or refused; the canonical text of what was read
// reads back as itself. Files that the text names are looked for in a folder that holds none.
#include "compiler/compile.h"
#include "compiler/source/graph_json.h"
#include "compiler/source/graph_json_write.h"
#include "fuzz_target.h"

using namespace ge;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const char* const kEmptyFolder = "/proc/self/fdinfo";  // exists, and has no file of a useful name
  auto graph = read_graph_json(test::input_bytes(data, size), "graph.json", kEmptyFolder);
  if (!graph.ok()) return 0;
  const auto text = graph_to_json(*graph, "");
  if (text.ok()) {
    const auto again = read_graph_json(as_bytes(text->json), "again.json", kEmptyFolder);
    test::promise(again.ok(), "the canonical text of a graph reads");
    const auto same = graph_to_json(*again, "");
    test::promise(same.ok() && same->json == text->json, "as the same graph");
  }
  const auto compiled = compile(std::move(*graph), CompileOptions());
  return 0;
}
