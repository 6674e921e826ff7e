#include "common/environment.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/text.h"
#include "common/whole_number.h"
#include "platform/dynamic_library.h"

namespace ge {
namespace {

Status check_threads(const std::string& text) {
  if (to_integer(text).value_or(-1) >= 0) return {};
  return fail(Code::bad_usage)
      .say("GE_THREADS is not a number of threads")
      .because("found \"" + visible_line(text) + "\", allowed a whole number from 0 up")
      .try_("unset GE_THREADS, or set it to a number; 0 is all that this process may use");
}

Status check_library(const std::string& variable, const std::string& file) {
  if (variable == "GE_ONEDNN" && (file == "off" || file == "0")) return {};
  std::string why;
  struct stat info {};
  if (file.find('/') != std::string::npos) {
    if (::stat(file.c_str(), &info) != 0)
      why = std::strerror(errno);
    else if (!S_ISREG(info.st_mode))
      why = "it is no regular file";
  } else if (variable == "GE_ONEDNN") {
    // By the loader's rules. Small models would never open it; the others are opened where they matter.
    const auto library = DynamicLibrary::open({file});
    if (!library.ok()) why = library.error().first().found;
  }
  if (why.empty()) return {};
  return fail(Code::library_missing)
      .say(variable + " names no library")
      .at(file)
      .because(why)
      .try_("unset " + variable + ", or set it to the library's file" +
            (variable == "GE_ONEDNN" ? " or to off" : ""));
}

}  // namespace

Status check_environment(std::initializer_list<const char*> variables) {
  ErrorList errors;
  for (const std::string variable : variables) {
    const char* set = std::getenv(variable.c_str());
    if (set == nullptr || *set == '\0') continue;
    Status status = variable == "GE_THREADS" ? check_threads(set) : check_library(variable, set);
    if (!status.ok()) errors.add(std::move(status).take_error());
  }
  return errors.take();
}

}  // namespace ge
