/* Runs a plan from C: opens it, loads it on the CPU, binds one dim, fills the inputs, runs, prints the outputs.
 *
 *   embed plan.bin [SYMBOL VALUE]
 *
 * Exits with the error's kind, which is what ge-run would exit with. */
#include <ge/ge.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Every call that can fail returns an error or NULL. A service would pass it on; a program says it and ends. */
static void check(ge_error* error) {
  if (error == NULL) return;
  fprintf(stderr, "%s\n", ge_error_message(error));
  int kind = (int)ge_error_get_kind(error);
  ge_error_free(error);
  exit(kind);
}

static size_t count_of(const ge_tensor* tensor) {
  size_t n = 1;
  for (int32_t i = 0; i < tensor->rank; ++i) n *= (size_t)tensor->dims[i];
  return n;
}

static void fill_input(ge_session* session, int32_t index) {
  ge_tensor tensor = {sizeof tensor};
  check(ge_session_input(session, index, &tensor));
  if (tensor.dtype != GE_FLOAT32) {
    fprintf(stderr, "this example fills float32 inputs only\n");
    exit(2);
  }
  size_t count = count_of(&tensor);
  float* values = malloc(count * sizeof *values + 1);
  if (values == NULL) exit(3);
  for (size_t i = 0; i < count; ++i) values[i] = (float)(i % 7) * 0.25f - 0.5f;
  check(ge_session_write_input(session, index, values, tensor.size_bytes));
  free(values);
}

static void print_output(ge_session* session, const ge_model* model, int32_t index) {
  ge_port port = {sizeof port};
  ge_tensor tensor = {sizeof tensor};
  check(ge_model_output(model, index, &port));
  check(ge_session_output(session, index, &tensor));
  float* values = malloc(tensor.size_bytes + 1);
  if (values == NULL) exit(3);
  check(ge_session_read_output(session, index, values, tensor.size_bytes));
  printf("%s [", port.name);
  for (int32_t i = 0; i < tensor.rank; ++i) printf(i ? ", %" PRId64 : "%" PRId64, tensor.dims[i]);
  printf("]");
  if (tensor.dtype == GE_FLOAT32)
    for (size_t i = 0; i < count_of(&tensor) && i < 8; ++i) printf(" %.5g", values[i]);
  printf("\n");
  free(values);
}

int main(int argc, char** argv) {
  if (argc != 2 && argc != 4) {
    fprintf(stderr, "usage: embed plan.bin [SYMBOL VALUE]\n");
    return 2;
  }
  ge_device* device;
  ge_plan* plan;
  ge_model* model;
  ge_session* session;
  check(ge_device_open(NULL, &device)); /* NULL: the CPU, on all its cores */
  check(ge_plan_open_file(argv[1], NULL, &plan));
  check(ge_model_load(plan, device, NULL, &model));
  check(ge_session_create(model, NULL, &session));

  const char* name = argc == 4 ? argv[2] : NULL;
  int64_t value = argc == 4 ? strtoll(argv[3], NULL, 10) : 0;
  check(ge_session_bind(session, &name, &value, argc == 4 ? 1 : 0)); /* dims that are not named keep their optimum */

  printf("%s on %s\n", ge_plan_model_name(plan), ge_device_name(device));
  for (int32_t i = 0; i < ge_model_input_count(model); ++i) fill_input(session, i);
  check(ge_session_run(session));
  for (int32_t i = 0; i < ge_model_output_count(model); ++i) print_output(session, model, i);

  ge_session_free(session); /* in reverse order */
  ge_model_free(model);
  ge_plan_close(plan);
  ge_device_close(device);
  return 0;
}
