// Keeps oneDNN to the calling thread for a scope. Entry: OneThread, can_run_on_one_thread.
#pragma once

namespace ge::cpu::onednn {

class OneThread {
 public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int former_ = 0;  // OpenMP's count before; 0: not known
};

// Without it nothing of oneDNN is used.
bool can_run_on_one_thread();

}  // namespace ge::cpu::onednn
