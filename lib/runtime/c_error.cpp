// Errors of ge.h: a Status as code, text and JSON.
#include "base/usual_fix.h"
#include "document/writer.h"
#include "ge_version.h"
#include "runtime/c_types.h"

namespace ge {
namespace {

std::string to_json_text(const Error& error) {
  DocumentBuilder b;
  b.begin_array();
  for (const Diagnostic& d : error.list()) {
    b.begin_object();
    b.member("code", code_string(d.code));
    b.member("message", d.message.empty() ? std::string(title_of(d.code)) : d.message);
    if (!d.place.empty()) b.member("place", d.place);
    if (!d.path.empty()) b.member("path", d.path);
    if (!d.found.empty()) b.member("found", d.found);
    if (const std::string_view fix = fix_of(d); !fix.empty()) b.member("fix", std::string(fix));
    if (!d.frames.empty()) {
      b.key("frames").begin_array();
      for (const std::string& frame : d.frames) b.value(frame);
      b.end_array();
    }
    b.end_object();
  }
  b.end_array();
  return to_json(std::move(b).finish(), -1);
}

}  // namespace

ge_error* to_c(const Status& status) {
  if (status.ok()) return nullptr;
  const Error& error = status.error();
  auto made = std::make_unique<ge_error>();
  made->kind = static_cast<ge_error_kind>(error.kind());
  made->code = code_string(error.first().code);
  made->message = error.to_string();
  made->json = to_json_text(error);
  return made.release();
}

ge_error* out_of_memory_error() {
  static ge_error error{GE_ERROR_ENVIRONMENT, "E0104", "error[E0104]: out of memory",
                        "[{\"code\":\"E0104\"}]", true};
  return &error;
}

}  // namespace ge

extern "C" {

ge_error_kind ge_error_get_kind(const ge_error* error) {
  return error->kind;
}
const char* ge_error_code(const ge_error* error) {
  return error->code.c_str();
}
const char* ge_error_message(const ge_error* error) {
  return error->message.c_str();
}
const char* ge_error_json(const ge_error* error) {
  return error->json.c_str();
}
void ge_error_free(ge_error* error) {
  if (error && !error->is_static) delete error;
}
const char* ge_version(void) {
  return GE_VERSION;
}
}
