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

// As for ONNX files (wire_check.h): a text of many small parts is refused where the graph made of them would
// take far more than it has bytes. A node of 27 bytes takes a thousand, an operand of four a hundred.
Status check_parts(const Document& document, size_t bytes, int64_t free_bytes) {
  constexpr int64_t kObject = 160, kString = 40;
  const int64_t cost = kObject * document.objects() + kString * document.strings();
  if (cost <= 2 * static_cast<int64_t>(bytes) + free_bytes) return {};
  return fail(Code::document_limit)
      .say("the text's many small parts would take too much memory")
      .at(document.name())
      .because("found " + std::to_string(bytes) + " bytes that take about " + std::to_string(cost >> 20) +
               " MiB");
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
  GE_TRY(check_parts(document, text.size(), options.max_unfolded_bytes));
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
