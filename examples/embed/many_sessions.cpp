// One model, many threads: each thread has a session of its own, all share the model's weights.
//
//   many_sessions plan.bin [THREADS [RUNS]]
//
// Every session runs the same inputs; exits with 1 if any answer differs by a bit from the first.
#include <ge/ge.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

void check(ge_error* error) {
  if (!error) return;
  std::fprintf(stderr, "%s\n", ge_error_message(error));
  std::exit(ge_error_get_kind(error));
}

template <class T, void (*kFree)(T*)>
struct Free {
  void operator()(T* object) const { kFree(object); }
};
using Device = std::unique_ptr<ge_device, Free<ge_device, ge_device_close>>;
using Plan = std::unique_ptr<ge_plan, Free<ge_plan, ge_plan_close>>;
using Model = std::unique_ptr<ge_model, Free<ge_model, ge_model_free>>;
using Session = std::unique_ptr<ge_session, Free<ge_session, ge_session_free>>;

ge_tensor input_of(ge_session* session, int32_t index) {
  ge_tensor tensor{};
  tensor.size = sizeof tensor;
  check(ge_session_input(session, index, &tensor));
  return tensor;
}
ge_tensor output_of(ge_session* session, int32_t index) {
  ge_tensor tensor{};
  tensor.size = sizeof tensor;
  check(ge_session_output(session, index, &tensor));
  return tensor;
}

// The bytes of all outputs after `runs` runs of a session of this thread's own.
std::string answer(ge_model* model, int runs) {
  ge_session* raw = nullptr;
  check(ge_session_create(model, nullptr, &raw));
  const Session session(raw);
  check(ge_session_bind(raw, nullptr, nullptr, 0));
  for (int32_t i = 0; i < ge_model_input_count(model); ++i) {
    std::vector<unsigned char> bytes(input_of(raw, i).size_bytes, 0x3c);  // of floats: 0.0115
    check(ge_session_write_input(raw, i, bytes.data(), bytes.size()));
  }
  for (int run = 0; run < runs; ++run) check(ge_session_run(raw));
  std::string all;
  for (int32_t i = 0; i < ge_model_output_count(model); ++i) {
    std::string bytes(output_of(raw, i).size_bytes, 0);
    check(ge_session_read_output(raw, i, bytes.data(), bytes.size()));
    all += bytes;
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: many_sessions plan.bin [THREADS [RUNS]]\n");
    return 2;
  }
  const int threads = argc > 2 ? std::atoi(argv[2]) : 8, runs = argc > 3 ? std::atoi(argv[3]) : 20;
  ge_device* raw_device = nullptr;
  check(ge_device_open(nullptr, &raw_device));
  const Device device(raw_device);
  ge_plan* raw_plan = nullptr;
  check(ge_plan_open_file(argv[1], nullptr, &raw_plan));
  const Plan plan(raw_plan);
  ge_model* raw_model = nullptr;
  check(ge_model_load(raw_plan, raw_device, nullptr, &raw_model));
  const Model model(raw_model);

  std::vector<std::string> answers(static_cast<std::size_t>(threads > 0 ? threads : 1));
  std::vector<std::thread> workers;
  for (std::string& one : answers) workers.emplace_back([&one, raw_model, runs] { one = answer(raw_model, runs); });
  for (std::thread& worker : workers) worker.join();
  for (const std::string& one : answers)
    if (one != answers[0]) return std::puts("answers differ"), 1;
  std::printf("%zu sessions of %s, %d runs each: the same %zu bytes\n", answers.size(), ge_plan_model_name(raw_plan), runs,
              answers[0].size());
  return answers[0].empty() ? 1 : 0;
}
