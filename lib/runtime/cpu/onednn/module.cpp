// What libge_onednn.so exports. Works with oneDNN 2 and 3: of its interface only the float product is used,
// the same in both.
#include "runtime/cpu/onednn/module.h"

#include <oneapi/dnnl/dnnl.h>

#include <memory>
#include <string>
#include <string_view>

#include "runtime/cpu/onednn/one_thread.h"
#include "runtime/cpu/onednn/product.h"

namespace ge::cpu::onednn {
namespace {

void* make(const char* kernel, const void* args, int threads) {
  try {
    auto product = std::make_unique<Product>();
    const std::string_view name = kernel;
    if (name == "dot_blocked_f32")
      *product = dot_pieces(*static_cast<const kernels::DotArgs*>(args), threads);
    if (name == "conv_gemm_f32")
      *product = conv_pieces(*static_cast<const kernels::ConvArgs*>(args), threads);
    return product->pieces.empty() ? nullptr : product.release();
  } catch (...) {  // out of memory
    return nullptr;
  }
}

bool run(void* step, const LaunchContext& context) {
  return run_pieces(*static_cast<const Product*>(step), context);
}

void free_step(void* step) {
  delete static_cast<Product*>(step);
}

const char* version_text() {
  static const std::string text = [] {
    const dnnl_version_t* v = dnnl_version();
    return "oneDNN " + std::to_string(v->major) + "." + std::to_string(v->minor) + "." +
           std::to_string(v->patch);
  }();
  return text.c_str();
}

}  // namespace
}  // namespace ge::cpu::onednn

extern "C" __attribute__((visibility("default"))) const ge::cpu::onednn::Module* ge_onednn_module() {
  using namespace ge::cpu::onednn;
  if (!can_run_on_one_thread()) return nullptr;
  static const Module module{kAbi, version_text(), make, run, free_step};
  return &module;
}
