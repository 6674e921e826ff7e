#include "common/environment.h"

#include <sys/stat.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/text.h"

namespace ge {
namespace {

Status check_threads(const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= 0) return {};
  return fail(Code::bad_usage)
      .say("GE_THREADS is not a number of threads")
      .because("found \"" + visible_line(text) + "\", allowed a whole number from 0 up")
      .try_("unset GE_THREADS, or set it to a number; 0 is all that this process may use");
}

Status check_library(const std::string& variable, const std::string& file) {
  if (variable == "GE_ONEDNN" && (file == "off" || file == "0")) return {};
  if (file.find('/') == std::string::npos) return {};  // the loader knows where to look
  struct stat info {};
  const bool exists = ::stat(file.c_str(), &info) == 0;
  if (exists && S_ISREG(info.st_mode)) return {};
  return fail(Code::library_missing)
      .say(variable + " names no file")
      .at(file)
      .because(exists ? "it is no regular file" : std::strerror(errno))
      .try_("unset " + variable + ", or set it to the library's file");
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
