#include "ge_compile/lists.h"

#include <fmt/format.h>

#include "compiler/onnx_ops/registry.h"
#include "compiler/passes/manager.h"
#include "compiler/target/target.h"
#include "document/writer.h"
#include "kernels/registry.h"
#include "platform/file.h"

namespace ge {
namespace {

// One table: columns by name, rows of text. Printed aligned, or as a JSON array of objects.
struct Table {
  std::string name;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};

Table operators() {
  Table t{"ops", {"domain", "name", "since", "inputs", "outputs", "attributes", "types"}, {}};
  for (const Operator& op : onnx_operators())
    t.rows.push_back({op.row->domain[0] == '\0' ? "ai.onnx" : op.row->domain, op.row->name,
                      std::to_string(op.row->since), op.row->inputs, op.row->outputs, op.row->attributes,
                      op.row->types});
  return t;
}

Table passes() {
  Table t{"passes", {"name", "level", "class", "summary"}, {}};
  static constexpr const char* kClasses[] = {"exact", "rounding", "lossy"};
  for (const PassInfo& p : all_passes())
    t.rows.push_back({std::string(p.name), std::to_string(p.level),
                      kClasses[static_cast<size_t>(p.rewrite_class)], std::string(p.summary)});
  return t;
}

Table kernels() {
  Table t{"kernels", {"name", "revision", "device", "summary"}, {}};
  for (const KernelRow& k : kernel_rows()) {
    std::string device = k.device == KernelDevice::kCpu ? "cpu" : "sm_" + std::to_string(k.limits.min_arch);
    if (k.kind == KernelKind::kLibrary) device = "library";
    t.rows.push_back(
        {std::string(k.name), std::to_string(k.revision), std::move(device), std::string(k.summary)});
  }
  return t;
}

Table targets() {
  Table t{"targets", {"name", "copy GB/s", "float32 GFLOP/s", "float16 GFLOP/s", "summary"}, {}};
  for (const Target& target : all_targets())
    t.rows.push_back({std::string(target.name), fmt::format("{:.0f}", target.copy_gbps),
                      fmt::format("{:.0f}", target.float32_gflops),
                      fmt::format("{:.0f}", target.float16_gflops), std::string(target.summary)});
  return t;
}

std::string text_of(const Table& table) {
  std::vector<size_t> width;
  for (const std::string& c : table.columns) width.push_back(c.size());
  for (const auto& row : table.rows)
    for (size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  std::string text;
  const auto line = [&](const std::vector<std::string>& cells) {
    for (size_t i = 0; i < cells.size(); ++i)
      text += i + 1 < cells.size() ? fmt::format("{:<{}}  ", cells[i], width[i]) : cells[i];
    text += '\n';
  };
  line(table.columns);
  for (const auto& row : table.rows) line(row);
  return text;
}

std::string json_of(const std::vector<Table>& tables) {
  DocumentBuilder b;
  b.begin_object();
  for (const Table& t : tables) {
    b.key(t.name).begin_array();
    for (const auto& row : t.rows) {
      b.begin_object();
      for (size_t i = 0; i < row.size(); ++i) b.member(t.columns[i], row[i]);
      b.end_object();
    }
    b.end_array();
  }
  b.end_object();
  return to_json(std::move(b).finish(), 2) + "\n";
}

}  // namespace

Status print_lists(const CompileCommand& command) {
  std::vector<Table> tables;
  if (command.list_ops) tables.push_back(operators());
  if (command.list_passes) tables.push_back(passes());
  if (command.list_kernels) tables.push_back(kernels());
  if (command.list_targets) tables.push_back(targets());
  if (command.json) return write_stdout(as_bytes(json_of(tables)));
  std::string text;
  for (const Table& t : tables) text += text_of(t);
  return write_stdout(as_bytes(text));
}

}  // namespace ge
