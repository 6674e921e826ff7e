#include "runtime/cpu/onednn_library.h"

#include <cstdlib>
#include <string_view>
#include <vector>

#include "platform/dynamic_library.h"

namespace ge::cpu {
namespace {

constexpr const char* kFile = "libge_onednn.so";

struct Loaded {
  Result<const onednn::Module*> module;
  std::string text;
};

Result<const onednn::Module*> module_of(const DynamicLibrary& library) {
  decltype(&ge_onednn_module) entry = nullptr;
  GE_TRY(library.bind("ge_onednn_module", entry));
  const onednn::Module* module = entry();
  if (module != nullptr && module->abi == onednn::kAbi) return module;
  return fail(Code::library_missing)
      .say("shared library '" + library.name() + "' cannot be used")
      .at(library.file())
      .because(module != nullptr ? "it was built for another version of ge"
                                 : "its oneDNN cannot be kept to one thread");
}

Loaded open_first(const std::vector<std::string>& names, bool must) {
  auto library = DynamicLibrary::open(names);
  auto module = library.ok() ? module_of(*library) : Result<const onednn::Module*>(library.error());
  if (module.ok()) return {*module, std::string((*module)->version) + " (" + library->file() + ")"};
  if (!must)
    return {static_cast<const onednn::Module*>(nullptr), std::string("none: no usable ") + kFile + " here"};
  Error error = std::move(module).take_error();
  error.list().front().fix =
      "unset GE_ONEDNN, or set it to off or to the file of a module built with this ge";
  return {std::move(error).with_frame("while opening the oneDNN module that GE_ONEDNN names"),
          "none: what GE_ONEDNN names cannot be used"};
}

Loaded load() {
  const char* set = std::getenv("GE_ONEDNN");
  const std::string_view named = set != nullptr ? set : "";
  if (named == "off" || named == "0")
    return {static_cast<const onednn::Module*>(nullptr), "off: GE_ONEDNN says so"};
  if (!named.empty()) return open_first({std::string(named)}, true);
  const std::string folder = folder_of_code(reinterpret_cast<const void*>(&load));
  return open_first({folder + "/" + kFile, folder + "/../lib/" + kFile}, false);
}

const Loaded& loaded() {
  static const Loaded once = load();
  return once;
}

}  // namespace

Result<const onednn::Module*> onednn_library() {
  if (!loaded().module.ok()) return Error(loaded().module.error());
  return *loaded().module;
}

const std::string& onednn_text() {
  return loaded().text;
}

}  // namespace ge::cpu
