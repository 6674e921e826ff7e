// What stands behind the opaque types of ge.h, and how errors leave the library. Entry: guarded, to_c.
#pragma once
#include <memory>
#include <new>
#include <string>

#include "ge/ge.h"
#include "runtime/session.h"

struct ge_error {
  ge_error_kind kind = GE_ERROR_BUG;
  std::string code, message, json;
  bool is_static = false;  // the one for "out of memory", which must not need any
};
struct ge_device {
  std::shared_ptr<ge::Device> device;
};
struct ge_plan {
  std::shared_ptr<ge::PlanHandle> plan;
};
struct ge_model {
  std::shared_ptr<ge::Model> model;
};
struct ge_session {
  std::unique_ptr<ge::Session> session;
};

namespace ge {

// null for ok.
ge_error* to_c(const Status& status);
ge_error* out_of_memory_error();

// Runs `body` (which returns a Status). Nothing in the library throws but allocation.
template <class Body>
ge_error* guarded(Body&& body) {
  try {
    return to_c(body());
  } catch (const std::bad_alloc&) {
    return out_of_memory_error();
  }
}

// Copies as much of `from` as the caller's struct has room for; `size` stays the caller's.
template <class T>
Status give(const T& from, T* into) {
  if (!into || into->size < sizeof(size_t))
    return fail(Code::bad_usage).because("a struct's size is not set").try_("set .size = sizeof(the struct)");
  const size_t size = into->size;
  __builtin_memcpy(static_cast<void*>(into), &from, size < sizeof(T) ? size : sizeof(T));
  into->size = size;
  return {};
}
// The caller's options over the defaults.
template <class T>
T take(const T* options) {
  T all{};
  if (options)
    __builtin_memcpy(static_cast<void*>(&all), options,
                     options->size < sizeof(T) ? options->size : sizeof(T));
  return all;
}

}  // namespace ge
