#include "ge_compile/model.h"

#include "compiler/onnx_file/onnx_file.h"
#include "compiler/source/bindings.h"
#include "compiler/source/graph_json.h"
#include "compiler/source/locate.h"
#include "platform/file.h"

namespace ge {

Error Model::located(Error error) const {
  return text.size() == 0 ? error : locate(std::move(error), text.span(), name);
}

// The tag of a model's IR version, which every exporter writes first; no JSON text starts with it.
static constexpr std::byte kFirstOnnxByte{0x08};

Result<Model> read_model(const CompileCommand& c, Graph* partial) {
  const bool standard_input = c.model == "-";
  const std::string name = standard_input ? "<stdin>" : c.model;
  const std::string folder = standard_input ? "" : folder_of(c.model);
  GE_ASSIGN(ByteBuffer text, standard_input ? read_stdin(kMaxOnnxBytes) : read_file(c.model, kMaxOnnxBytes));
  if (text.size() == 0) return fail(Code::empty_file).at(name);
  const bool is_onnx = name.ends_with(".onnx") || text.data()[0] == kFirstOnnxByte;
  std::vector<std::string> files;
  GE_ASSIGN(Graph graph, is_onnx
                             ? read_onnx(std::move(text), name, folder, {.partial = partial, .files = &files})
                             : read_graph_json(text.span(), name, folder, {.files = &files}));
  if (is_onnx) text = ByteBuffer();
  for (const std::string& dim : c.dims) GE_TRY(apply_dim(graph, dim));
  for (const std::string& freeze : c.freezes) GE_TRY(freeze_input(graph, freeze));
  return Model{std::move(graph), std::move(text), name, std::move(files)};
}

}  // namespace ge
