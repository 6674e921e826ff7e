// Faults become rows that say which node, operator and version they are about.
#include "ge_compile/check.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "base/usual_fix.h"
#include "common/report.h"
#include "common/table.h"
#include "compiler/onnx_ops/checks.h"
#include "compiler/onnx_ops/known_branch.h"
#include "compiler/onnx_ops/lower.h"
#include "document/writer.h"
#include "ge_compile/model.h"
#include "platform/file.h"

namespace ge {
namespace {

// One fault, beside the node it is about (all empty where it is about none).
struct Row {
  const Diagnostic* fault;
  std::string node, op, version;
  std::string part;   // "attribute axis", "input 1"
  std::string dtype;  // of that input, where it is known
};

// Nodes by the path that faults name: "/nodes/3".
using Nodes = std::map<std::string, const Node*, std::less<>>;

Nodes nodes_of(const Graph& graph) {
  Nodes nodes;
  for (NodeId id = 0; id < graph.node_capacity(); ++id) {
    const Node& node = graph.node(id);
    if (node.alive && node.onnx && !node.sources.empty()) nodes.emplace(node.sources.front().path, &node);
  }
  return nodes;
}

// "/nodes/3/attributes/axis" -> the node of "/nodes/3", and "/attributes/axis".
std::pair<const Node*, std::string> node_at(const Nodes& nodes, const std::string& path) {
  for (size_t end = path.size(); end != std::string::npos && end > 0; end = path.rfind('/', end - 1)) {
    const auto at = nodes.find(path.substr(0, end));
    if (at != nodes.end()) return {at->second, path.substr(end)};
  }
  return {nullptr, ""};
}

Row row_of(const Graph& graph, const Nodes& nodes, const Diagnostic& fault) {
  Row row{&fault, {}, {}, {}, {}, {}};
  const auto [node, below] = node_at(nodes, fault.path);
  if (!node) return row;
  const Source& source = node->sources.front();
  row.node = source.name.empty() ? source.path : source.name;
  row.op = (node->onnx->domain.empty() ? "" : node->onnx->domain + ".") + node->onnx->type;
  row.version = std::to_string(node->onnx->version);
  if (below.starts_with("/attributes/")) row.part = "attribute " + below.substr(12);
  if (below.starts_with("/outputs/")) row.part = "output " + below.substr(9);
  if (below.starts_with("/inputs/")) {
    row.part = "input " + below.substr(8);
    const auto index = static_cast<size_t>(std::atoi(below.c_str() + 8));
    const ValueId value = index < node->operands.size() ? node->operands[index] : kNone;
    const bool typed = value != kNone && (graph.is_constant(value) || graph.value(value).producer == kNone);
    if (typed) row.dtype = name_of(graph.type(value).dtype);
  }
  return row;
}

// The message without the node's name, which has a column of its own, and what was found.
std::string why(const Row& row) {
  const Diagnostic& d = *row.fault;
  std::string text = d.message.empty() ? std::string(title_of(d.code)) : d.message;
  const size_t colon = text.find(": ");
  if (!row.op.empty() && colon != std::string::npos && text.substr(0, colon).find('\'') != std::string::npos)
    text.erase(0, colon + 2);
  else if (!row.op.empty() && colon != std::string::npos && row.op.ends_with(text.substr(0, colon)))
    text.erase(0, colon + 2);
  return "[" + code_string(d.code) + "] " + text + (d.found.empty() ? "" : "; " + d.found);
}

std::string text_of(const std::string& model, const std::vector<Row>& rows) {
  if (rows.empty()) return visible_line(model) + ": everything is supported\n";
  Table table({"node", "operator", ">version", "part", "dtype", "why"});
  std::map<std::string, int> counts;
  for (const Row& row : rows) {
    const std::string& elsewhere = row.fault->path.empty() ? row.fault->place : row.fault->path;
    table.add({row.node.empty() ? elsewhere : row.node, row.op, row.version, row.part, row.dtype, why(row)});
    if (!row.op.empty()) ++counts[row.op];
  }
  std::string summary =
      visible_line(model) + ": " + counted(static_cast<int64_t>(rows.size()), "fault", "faults");
  std::string list;
  for (const auto& [op, count] : counts)
    list += (list.empty() ? "" : ", ") + op + " " + std::to_string(count);
  return table.text() + summary + (list.empty() ? "" : "; by operator: " + visible_line(list)) + "\n";
}

std::string json_of(const std::string& model, const std::vector<Row>& rows) {
  DocumentBuilder b;
  b.begin_object().member("model", model).member("ok", rows.empty()).key("faults").begin_array();
  for (const Row& row : rows) {
    const Diagnostic& d = *row.fault;
    b.begin_object()
        .member("code", code_string(d.code))
        .member("message", d.message.empty() ? std::string(title_of(d.code)) : d.message)
        .member("place", d.place)
        .member("path", d.path)
        .member("found", d.found)
        .member("fix", std::string(fix_of(d)))
        .member("node", row.node)
        .member("operator", row.op)
        .member("version", row.version)
        .member("part", row.part)
        .member("dtype", row.dtype)
        .end_object();
  }
  b.end_array().end_object();
  return to_json(std::move(b).finish(), 2) + "\n";
}

Status check_graph(const Model& model, const CompileCommand& c,
                   CompileOptions (*options)(const CompileCommand&)) {
  Graph lowered = model.graph.clone();
  if (Status status = lower_onnx(lowered); !status.ok()) return model.located(std::move(status).take_error());
  for (const std::string& text : lowered.notes) note(text);
  CompileCommand plain = c;
  if (plain.targets.empty()) plain.targets = {"cpu"};
  auto compiled = compile(std::move(lowered), options(plain));
  if (compiled.ok()) return {};
  return model.located(std::move(compiled).take_error());
}

// Faults of reading, and operators that are not supported beside them: types are not known then.
Error with_operators(Error error, const Graph& partial) {
  for (const auto& [path, node] : nodes_of(partial)) {
    const auto op = operator_of(*node);
    if (op.ok() || is_if(*node)) continue;
    for (const Diagnostic& d : op.error().list()) error.list().push_back(d);
  }
  return error;
}

}  // namespace

int check_model(const CompileCommand& c, CompileOptions (*options)(const CompileCommand&)) {
  Graph partial;
  auto model = read_model(c, &partial);
  const Graph& graph = model.ok() ? model->graph : partial;
  const Status status = model.ok() ? check_graph(*model, c, options)
                                   : Status(with_operators(std::move(model).take_error(), partial));
  const bool about_model = status.ok() || status.error().kind() == ErrorKind::kUser;
  if (!about_model && !c.json) return report(status.error());
  const Nodes nodes = nodes_of(graph);
  std::vector<Row> rows;
  if (!status.ok())
    for (const Diagnostic& d : status.error().list()) rows.push_back(row_of(graph, nodes, d));
  const std::string text = c.json ? json_of(c.model, rows) : text_of(c.model, rows);
  if (const Status written = write_stdout(as_bytes(text)); !written.ok()) return report(written.error());
  return status.ok() ? 0 : exit_code(status.error().kind());
}

}  // namespace ge
