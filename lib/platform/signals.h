// Signals beside a library that wants them: run_beside_signals. The handlers that a program put in place
// answer at once, whatever the library does and however long it takes.
#pragma once

#include <functional>

namespace ge {

// Runs `work` on a thread of its own and returns when it is done. Until then the calling thread answers
// SIGINT, SIGTERM, SIGHUP and SIGQUIT with the handlers that were there at the call, though `work` may put
// others in place; those are taken away again. Other threads of the process should block these signals, or
// answer with what `work` put there. `work` must not throw.
void run_beside_signals(const std::function<void()>& work);

}  // namespace ge
