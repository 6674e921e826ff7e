#include "common/version.h"

#include <fmt/format.h>

#include <CLI/Version.hpp>

#include "common/cuda_version.h"
#include "contract/plan.h"
#include "ge_version.h"

namespace ge {

std::string version_text(std::string_view tool) {
  return fmt::format("{} {} (commit {})\nplan format {}\nCUDA toolkit {}\nfmt {}.{}.{}, CLI11 {}\n", tool,
                     GE_VERSION, GE_COMMIT, kPlanFormat, GE_CUDA_VERSION, FMT_VERSION / 10000,
                     FMT_VERSION / 100 % 100, FMT_VERSION % 100, CLI11_VERSION);
}

}  // namespace ge
