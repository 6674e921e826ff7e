// dlopen with the loader's own words for each name that was tried.
#include "platform/dynamic_library.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

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

std::string folder_of_code(const void* address) {
  Dl_info info{};
  link_map* map = nullptr;
  std::string file;
  if (::dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) != 0 && map != nullptr)
    file = map->l_name;  // empty for the program itself, whose argv[0] need be no path
  if (file.empty()) {
    char path[4096];
    const ssize_t length = ::readlink("/proc/self/exe", path, sizeof(path));
    if (length > 0) file.assign(path, static_cast<size_t>(length));
  }
  const size_t slash = file.rfind('/');
  return slash == file.npos ? "." : file.substr(0, slash);
}

Status DynamicLibrary::missing(const char* symbol_name) const {
  return fail(Code::library_missing)
      .say("shared library '" + name_ + "' has no function '" + symbol_name + "'")
      .at(file())
      .because("the library is older than what ge needs, or is another one of that name");
}

}  // namespace ge
