// ge-compile: model in, plan out. Flags become a CompileCommand, run_command does the work.
#include <malloc.h>

#include "common/guarded_main.h"
#include "ge_compile/options.h"
#include "ge_compile/run.h"
#include "platform/file.h"

int main(int argc, char** argv) {
  ge::remove_temporaries_on_signal();
#if defined(M_MMAP_THRESHOLD)
  // Weights go back to the system once they are written or folded; by default glibc learns to keep them.
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
  return ge::guarded_main([&] {
    ge::CompileCommand command;
    if (const auto done = ge::parse_options(argc, argv, command)) return *done;
    return ge::run_command(command);
  });
}
