#include "common/overwrite.h"

#include <sys/stat.h>

#include <optional>

#include "platform/file.h"

namespace ge {
namespace {

std::optional<struct stat> status_of_path(const std::string& path) {
  struct stat info {};
  return ::stat(path.empty() ? "." : path.c_str(), &info) == 0 ? std::optional(info) : std::nullopt;
}

bool same(const std::optional<struct stat>& a, const std::optional<struct stat>& b) {
  return a && b && a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool same_file(const std::string& a, const std::string& b) {
  const auto of_a = status_of_path(a), of_b = status_of_path(b);
  if (of_a.has_value() != of_b.has_value()) return false;
  if (of_a) return S_ISREG(of_a->st_mode) && same(of_a, of_b);
  const auto name = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
  return name(a) == name(b) && same(status_of_path(folder_of(a)), status_of_path(folder_of(b)));
}

}  // namespace

void check_places(const std::vector<std::string>& written, const std::vector<FileRead>& read,
                  ErrorList& errors) {
  for (size_t i = 0; i < written.size(); ++i) {
    const std::string& file = written[i];
    const bool standard = file == "-";
    for (const FileRead& r : read)
      if (!r.path.empty() && r.path != "-" && !standard && same_file(file, r.path))
        errors.add(fail(Code::bad_usage)
                       .say("an output would overwrite what is read")
                       .at(file)
                       .because("it is the file of " + r.what)
                       .try_("write it elsewhere"));
    for (size_t k = 0; k < i; ++k)
      if (standard ? written[k] == "-" : written[k] != "-" && same_file(file, written[k]))
        errors.add(fail(Code::bad_usage).at(file).because("two outputs go to one file"));
  }
}

}  // namespace ge
