// The head of graph.json: format tag, opset, dims; the body is read by BodyReader.
#include "compiler/source/graph_json.h"

#include "compiler/ir/opset.h"
#include "compiler/source/body_reader.h"
#include "compiler/source/locate.h"

namespace ge {
namespace {

constexpr std::string_view kFormat = "ge-graph/1";

int read_opset(const Fields& fields, ErrorList& errors) {
  const auto opset = fields.integer("opset");
  if (!opset) return kNewestOpset;
  if (*opset >= kOldestOpset && *opset <= kNewestOpset) return static_cast<int>(*opset);
  errors.add(fault_at(*fields.find("opset"), Code::unsupported_op_version, "opset is not supported")
                 .because("found " + std::to_string(*opset) + ", allowed " + std::to_string(kOldestOpset) +
                          " .. " + std::to_string(kNewestOpset)));
  return kNewestOpset;
}

}  // namespace

Result<Graph> read_graph_json(ByteSpan text, std::string display_name, std::string folder,
                              const ReadOptions& options) {
  DocumentLimits limits;
  limits.max_bytes = options.max_bytes;
  limits.max_depth = options.max_depth;
  GE_ASSIGN(const Document document, parse_json(text, std::move(display_name), limits));
  ReadState state(std::move(folder), options.max_nodes, options.max_unfolded_bytes);
  const Value root = document.root();
  const auto tag = root.is_object() ? root.find("format") : std::nullopt;
  if (tag && tag->as_string() != kFormat) {  // every other complaint would be noise
    return fault_at(*tag, Code::bad_format_tag, "unknown format tag")
        .because("found " + tag->describe() + ", allowed \"" + std::string(kFormat) + "\"");
  }
  const Fields fields(root, kGraphKeys, "the graph", state.errors);
  state.opset = read_opset(fields, state.errors);
  const auto dims = fields.object("dims");
  const SymbolRanges symbols = dims ? read_symbols(*dims, state.errors) : SymbolRanges{};
  Graph graph = BodyReader(state, nullptr, "").read(fields, symbols);
  if (Status status = state.errors.take(); !status.ok()) {
    Error error = std::move(status).take_error();
    sort_by_place(error);
    return error;
  }
  GE_TRY(state.tensors.store_inline());
  if (options.files) *options.files = state.tensors.files();
  return graph;
}

}  // namespace ge
