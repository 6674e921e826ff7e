#include "kernels_golden_resources.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#ifdef GE_HAVE_COMPILER
#include "compiler/codegen/nvrtc.h"
#include "compiler/compile.h"
#include "compiler/source/graph_json.h"
#include "platform/file.h"
#endif

namespace ge::test {
namespace {

namespace fs = std::filesystem;

std::string joined(const std::string& tool, std::vector<std::string> lines) {
  if (lines.empty()) return "";
  std::string out = tool + "\n";
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

}  // namespace

std::vector<std::string> resources_said(const std::string& image, const std::string& report) {
  const std::regex entry("entry function '([a-zA-Z0-9_]+)'"),
      frame("([0-9]+) bytes stack frame, ([0-9]+) bytes spill stores"), used("Used ([0-9]+) registers"),
      shared("([0-9]+) bytes smem");
  std::vector<std::string> lines;
  std::istringstream in(report);
  std::string name, stack = "0", spill = "0", text;
  std::smatch m;
  while (std::getline(in, text)) {
    if (std::regex_search(text, m, entry)) name = m[1];
    if (std::regex_search(text, m, frame)) stack = m[1], spill = m[2];
    if (!std::regex_search(text, m, used) || name.empty()) continue;
    const std::string registers = m[1];
    lines.push_back(image + " " + name + " " + registers + " " +
                    (std::regex_search(text, m, shared) ? m[1].str() : "0") + " " + stack + " " + spill);
    name.clear();
  }
  return lines;
}

std::string built_in_resources() {
  std::vector<std::string> lines;
  const fs::path folder = fs::path(GE_BINARY_DIR) / "kernels" / "images";
  if (!fs::exists(folder)) return "";
  for (const auto& file : fs::directory_iterator(folder)) {
    if (file.path().extension() != ".resources") continue;
    std::ifstream in(file.path(), std::ios::binary);
    const std::string report{std::istreambuf_iterator<char>(in), {}};
    for (std::string& line : resources_said(file.path().stem().stem().string(), report))
      lines.push_back(std::move(line));
  }
  std::sort(lines.begin(), lines.end());
  return joined(std::string("nvcc ") + GE_NVCC_VERSION, std::move(lines));
}

#ifdef GE_HAVE_COMPILER
namespace {

// The loops of a program stand in the order of its launches; ptxas reports them in another.
std::vector<std::string> by_place(const std::string& source, std::vector<std::string> lines) {
  const auto place = [&](const std::string& line) {
    const size_t first = line.find(' ') + 1;
    return source.find(" " + line.substr(first, line.find(' ', first) - first) + "(");
  };
  std::sort(lines.begin(), lines.end(),
            [&](const std::string& a, const std::string& b) { return place(a) < place(b); });
  for (size_t i = 0; i < lines.size(); ++i) {
    const size_t first = lines[i].find(' ') + 1;
    lines[i].replace(first, lines[i].find(' ', first) - first, std::to_string(i));
  }
  return lines;
}

Result<std::vector<std::string>> resources_of_example(const Nvrtc& nvrtc, const std::string& name) {
  const fs::path folder = fs::path(GE_SOURCE_DIR) / "examples" / name;
  GE_ASSIGN(const ByteBuffer text, read_file((folder / (name + ".json")).string(), 1 << 24));
  GE_ASSIGN(Graph graph, read_graph_json(text.span(), name, folder.string()));
  CompileOptions options;
  options.targets = {"sm_90"};
  options.cuda_source = true;
  GE_ASSIGN(const Compiled compiled, compile(std::move(graph), options));
  NvrtcOptions said;
  said.device_debug_log = true;
  GE_ASSIGN(const NvrtcResult result, nvrtc.compile(compiled.cuda_source, 90, said));
  return by_place(compiled.cuda_source, resources_said(name + ".sm_90", result.log));
}

}  // namespace

std::string generated_resources() {
  const auto nvrtc = Nvrtc::open();
  if (!nvrtc.ok()) return "";
  std::vector<std::string> lines;
  for (const char* name : {"digits", "layer", "mlp"}) {
    auto example = resources_of_example(*nvrtc, name);
    if (!example.ok()) return std::string(name) + ": " + example.error().to_string();
    lines.insert(lines.end(), example->begin(), example->end());
  }
  return joined("nvrtc " + std::to_string(nvrtc->version()), std::move(lines));
}
#else
std::string generated_resources() {
  return "";
}
#endif

}  // namespace ge::test
