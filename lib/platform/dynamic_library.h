// Shared libraries opened at run time. Entry: DynamicLibrary::open. Invariant: a library once opened stays
// for the life of the process (drivers keep threads and exit handlers), so function pointers never dangle.
#pragma once
#include <string>
#include <vector>

#include "base/status.h"

namespace ge {

class DynamicLibrary {
 public:
  // The first of `names` that loads ("libcuda.so.1", or a path). library_missing: the loader's reason for
  // each name.
  static Result<DynamicLibrary> open(const std::vector<std::string>& names);
  const std::string& name() const { return name_; }
  std::string file() const;                     // where the loader found it; name() where it does not say
  void* symbol(const char* symbol_name) const;  // nullptr where it has none
  // library_missing where the symbol is absent.
  template <class Function>
  Status bind(const char* symbol_name, Function*& into) const {
    into = reinterpret_cast<Function*>(symbol(symbol_name));
    return into ? Status() : missing(symbol_name);
  }

 private:
  DynamicLibrary(void* handle, std::string name) : handle_(handle), name_(std::move(name)) {}
  Status missing(const char* symbol_name) const;
  void* handle_ = nullptr;
  std::string name_;
};

// The folder of the program or shared library that holds `address` of its code; "." where it cannot be told.
std::string folder_of_code(const void* address);

}  // namespace ge
