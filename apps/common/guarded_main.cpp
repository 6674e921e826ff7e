#include "common/guarded_main.h"

#include <alloca.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>

#include "base/diagnostic.h"
#include "common/report.h"

namespace ge {

[[gnu::noinline]] void take_stack() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0) return;
  auto* const lowest =
      static_cast<volatile char*>(alloca(std::min<rlim_t>(limit.rlim_cur / 4, rlim_t{2} << 20)));
  lowest[0] = 0;  // the kernel gives all above it
}

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
