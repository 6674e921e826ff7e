// Every bad-*.json of test/golden/faults against the text beside it: codes, places, pointers, what was found,
// the fix.
#include "catch.h"
#include "compiler/onnx_ops/lower.h"
#include "compiler/source/graph_json.h"
#include "compiler/source/locate.h"
#include "golden_file.h"
#include "platform/file.h"

using namespace ge;

namespace {

constexpr const char* kFolder = "test/golden/faults";

// The text with paths as they are from the graph's folder: the same in every clone.
std::string relative(std::string text, const std::string& folder) {
  const std::string prefix = folder + "/";
  for (size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at))
    text.erase(at, prefix.size());
  return text;
}

std::string told_of(const std::string& path) {
  auto text = read_file(path);
  if (!text.ok()) return text.error().to_string() + "\n";
  const std::string name = path.substr(path.rfind('/') + 1);
  auto graph = read_graph_json(text->span(), name, folder_of(path));
  if (!graph.ok()) return graph.error().to_string() + "\n";
  Status status = lower_onnx(*graph);
  if (status.ok()) return "no fault\n";
  return locate(std::move(status).take_error(), text->span(), name).to_string() + "\n";
}

// What ge-compile says about a file, named as if it were called from its folder.
std::string faults_of(const std::string& path) {
  return relative(told_of(path), folder_of(path));
}

}  // namespace

TEST_CASE("every bad graph is told with its place and a text that stays") {
  const auto paths = test::golden_sources(kFolder, ".json");
  REQUIRE(paths.size() >= 60);
  for (const std::string& path : paths) {
    const std::string actual = faults_of(path);
    INFO(path);
    CHECK(actual.find("error[E") == 0);
    CHECK(actual.find("internal error") == std::string::npos);
    test::check_golden(path.substr(0, path.size() - 5) + ".expected", actual);
  }
}

TEST_CASE("every bad graph has its intent on line 1") {
  for (const std::string& path : test::golden_sources(kFolder, ".json")) {
    const std::string text = test::read_text(path);
    INFO(path);
    CHECK((text.empty() || text.starts_with("// ")));
  }
}

TEST_CASE("deep nesting is refused, not followed") {
  const std::string open(100'000, '[');
  REQUIRE_CODE(read_graph_json(as_bytes(open), "deep.json", ""), Code::document_limit);
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  REQUIRE_CODE(read_graph_json(as_bytes(objects), "deep.json", ""), Code::document_limit);
}
