#include "common/guarded_main.h"

#include <cstdio>

#include "base/diagnostic.h"
#include "common/report.h"

namespace ge {

int report_out_of_memory() noexcept {
  try {
    return report(fail(Code::out_of_memory));
  } catch (...) {  // not even that much is left
    std::fputs("error[E0104]: out of memory\n", stderr);
    return exit_code(ErrorKind::kEnvironment);
  }
}

int report_exception(const char* what) noexcept {
  try {
    return report(fail(Code::internal).because(what));
  } catch (...) {
    std::fputs("error[E0901]: internal error\n", stderr);
    return exit_code(ErrorKind::kBug);
  }
}

}  // namespace ge
