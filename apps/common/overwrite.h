// What a program writes must not lose what it reads. Entry: check_places.
#pragma once
#include <string>
#include <vector>

#include "base/status.h"

namespace ge {

struct FileRead {
  std::string path;  // "" and "-" are no files
  std::string what;  // "the plan", "-i x"
};
// Adds bad_usage for each path of `written` that is a file of `read`, and for each that stands twice: one
// file through links and other folders too, also where none is there yet. Devices and pipes lose nothing.
void check_places(const std::vector<std::string>& written, const std::vector<FileRead>& read,
                  ErrorList& errors);

}  // namespace ge
