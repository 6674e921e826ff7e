// ge-run: plan in, results out. Flags become a RunCommand, run_command does the work.
#include "common/guarded_main.h"
#include "ge_run/options.h"
#include "ge_run/run.h"
#include "platform/file.h"

int main(int argc, char** argv) {
  ge::remove_temporaries_on_signal();
  return ge::guarded_main([&] {
    ge::RunCommand command;
    if (const auto done = ge::parse_options(argc, argv, command)) return *done;
    return ge::run_command(command);
  });
}
