// dlopen with the loader's own words for each name that was tried.
#include "platform/dynamic_library.h"

#include <dlfcn.h>
#include <link.h>

namespace ge {

Result<DynamicLibrary> DynamicLibrary::open(const std::vector<std::string>& names) {
  std::string reasons;
  for (const std::string& name : names) {
    if (void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return DynamicLibrary(handle, name);
    const char* text = ::dlerror();
    reasons += (reasons.empty() ? "" : "\n") + std::string(text ? text : "unknown reason");
  }
  return fail(Code::library_missing)
      .say("shared library '" + (names.empty() ? std::string() : names.front()) + "' cannot be loaded")
      .because(reasons);
}

std::string DynamicLibrary::file() const {
  link_map* map = nullptr;
  if (::dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0 || !map || !map->l_name || !*map->l_name) return name_;
  return map->l_name;
}

void* DynamicLibrary::symbol(const char* symbol_name) const {
  return ::dlsym(handle_, symbol_name);
}

Status DynamicLibrary::missing(const char* symbol_name) const {
  return fail(Code::library_missing)
      .say("shared library '" + name_ + "' has no function '" + symbol_name + "'")
      .at(file())
      .because("the library is older than what ge needs, or is another one of that name");
}

}  // namespace ge
