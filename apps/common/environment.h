// Environment variables that a program reads. Entry: check_environment. A misspelt variable is refused like a
// misspelt flag, before anything runs: what it stands for would be found missing late, or never.
#pragma once
#include <initializer_list>
#include <string>

#include "base/status.h"

namespace ge {

// GE_THREADS is a number from 0 up (bad_usage); the others, GE_ONEDNN, GE_NVRTC and GE_CUBLASLT, name a file
// that is there (library_missing) or one that the loader looks for; GE_ONEDNN may be "off". One that is not
// set, or empty, says nothing. All faults at once.
Status check_environment(std::initializer_list<const char*> variables);

}  // namespace ge
