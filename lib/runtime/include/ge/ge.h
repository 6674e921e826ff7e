/* clang-format off */
/* ge: the runtime's public C interface. Loads an execution plan made by ge-compile and runs it on a CPU or an NVIDIA GPU.
 *
 *   ge_device* device; ge_plan* plan; ge_model* model; ge_session* session;
 *   ge_device_open(NULL, &device); ge_plan_open_file("model.plan", NULL, &plan);
 *   ge_model_load(plan, device, NULL, &model); ge_session_create(model, NULL, &session);
 *   ge_session_bind(session, NULL, NULL, 0); ge_session_write_input(session, 0, data, size);
 *   ge_session_run(session); ge_session_read_output(session, 0, out, size);
 *
 * Every call that can fail returns ge_error*: NULL is success, otherwise free it with ge_error_free. No exceptions, no
 * thread-local state. Structs start with their size in bytes: set it to sizeof(the struct); pass NULL for defaults.
 * Device, plan and model may be used by many threads at once; a session by one thread at a time. Free in reverse order.
 */
#ifndef GE_GE_H
#define GE_GE_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
#if defined(_WIN32)
#define GE_API
#else
#define GE_API __attribute__((visibility("default")))
#endif

typedef struct ge_error ge_error;
typedef struct ge_device ge_device;
typedef struct ge_plan ge_plan;
typedef struct ge_model ge_model;
typedef struct ge_session ge_session;

/* ---- errors ---- */
/* What kind of thing went wrong; also the exit code the tools use. */
typedef enum ge_error_kind { GE_ERROR_USER = 1, GE_ERROR_USAGE = 2, GE_ERROR_ENVIRONMENT = 3, GE_ERROR_MISMATCH = 4, GE_ERROR_BUG = 70 } ge_error_kind;
GE_API ge_error_kind ge_error_get_kind(const ge_error* error);
GE_API const char* ge_error_code(const ge_error* error);    /* "E0605" */
GE_API const char* ge_error_message(const ge_error* error); /* text of every fault, several lines */
GE_API const char* ge_error_json(const ge_error* error);    /* the same as a JSON array */
GE_API void ge_error_free(ge_error* error);                 /* NULL is fine */
GE_API const char* ge_version(void);                        /* "0.1.0" */

/* ---- element types ---- */
typedef enum ge_dtype {
  GE_FLOAT64, GE_FLOAT32, GE_FLOAT16, GE_BFLOAT16, GE_FLOAT8E4M3FN, GE_FLOAT8E5M2, GE_INT64, GE_INT32, GE_INT16, GE_INT8, GE_INT4,
  GE_UINT64, GE_UINT32, GE_UINT16, GE_UINT8, GE_UINT4, GE_BOOL
} ge_dtype;
#define GE_MAX_RANK 8

/* ---- device ---- */
typedef enum ge_device_kind { GE_DEVICE_CPU = 0, GE_DEVICE_CUDA = 1 } ge_device_kind;
typedef struct ge_device_options {
  size_t size;
  ge_device_kind kind;
  int32_t index;          /* CUDA: ordinal */
  int32_t threads;        /* CPU: worker threads; 0: all this process may use */
  void* cuda_context;     /* CUDA: CUcontext to use, or NULL for the primary one */
} ge_device_options;
GE_API ge_error* ge_device_open(const ge_device_options* options, ge_device** out); /* NULL: the CPU */
GE_API ge_device_kind ge_device_get_kind(const ge_device* device);
GE_API const char* ge_device_name(const ge_device* device);   /* "NVIDIA H200" or the CPU's model name */
GE_API const char* ge_device_target(const ge_device* device); /* "cpu", "sm_90" */
GE_API void ge_device_close(ge_device* device);
/* The optional library of CPU products: "oneDNN 2.6.0 (file)", or "none: ..." or "off: ..." with the reason. GE_ONEDNN in the
 * environment is "off", or the module's file. Opens it, which a model with small products does not. */
GE_API const char* ge_cpu_library(void);
/* Number of visible CUDA devices; 0 where there is no driver. Never fails; opens libcuda on first use. */
GE_API int32_t ge_cuda_device_count(void);
/* Why no GPU can be used (no driver, no GPU, a build without CUDA); NULL where one can. */
GE_API ge_error* ge_cuda_available(void);
/* Compute capability of CUDA device `index` times ten (90 for sm_90), without creating a context; 0: no such device. */
GE_API int32_t ge_cuda_device_arch(int32_t index);

/* ---- plan: host side, immutable ---- */
typedef struct ge_plan_options {
  size_t size;
  int32_t trust_builtin_only; /* 1: refuse generated device code */
} ge_plan_options;
GE_API ge_error* ge_plan_open_file(const char* path, const ge_plan_options* options, ge_plan** out);
/* The bytes are copied. */
GE_API ge_error* ge_plan_open_memory(const void* data, size_t size_bytes, const ge_plan_options* options, ge_plan** out);
GE_API void ge_plan_close(ge_plan* plan);
GE_API int32_t ge_plan_target_count(const ge_plan* plan);
GE_API const char* ge_plan_target(const ge_plan* plan, int32_t index); /* NULL: no such index */
/* Index of the target that a device of `target` ("sm_86") would run, or -1: the same one, or an older one of its generation. */
GE_API int32_t ge_plan_find_target(const ge_plan* plan, const char* target);
GE_API const char* ge_plan_model_name(const ge_plan* plan);
GE_API const char* ge_plan_made_by(const ge_plan* plan);                 /* "ge 0.1.0" */
typedef struct ge_plan_needs { /* what a plan takes on a device; bytes under the optimal dims */
  size_t size;
  const char* target;                /* the plan's program that fits: "cpu", "sm_90" */
  int32_t launches;                  /* steps of the run block that are kernels */
  int32_t kernels, generated_kernels;
  int32_t uses_library;              /* 1: opens cuBLASLt */
  uint64_t weights_bytes, prepared_bytes, arena_bytes, io_bytes;
  uint64_t free_bytes;               /* of the device's memory now */
} ge_plan_needs;
/* Can this plan run on this device? Checks the target, kernels, device code, limits and memory; reads no weights. */
GE_API ge_error* ge_plan_check(ge_plan* plan, ge_device* device, ge_plan_needs* out);

/* ---- model: a plan on a device, weights loaded ---- */
typedef struct ge_model_options { size_t size; } ge_model_options;
GE_API ge_error* ge_model_load(ge_plan* plan, ge_device* device, const ge_model_options* options, ge_model** out);
GE_API void ge_model_free(ge_model* model);
typedef struct ge_port { /* an input or output as the plan declares it */
  size_t size;
  const char* name;
  ge_dtype dtype;
  int32_t rank;
  int64_t dims[GE_MAX_RANK];             /* -1 where the dim is not fixed */
  const char* dim_names[GE_MAX_RANK];    /* expression text where it is not fixed ("batch", "seq*2"), else NULL */
  const char* hint_kind;                 /* for generated inputs: "", "index", "unit", "bool" */
  double hint_low, hint_high;
} ge_port;
GE_API int32_t ge_model_input_count(const ge_model* model);
GE_API int32_t ge_model_output_count(const ge_model* model);
GE_API ge_error* ge_model_input(const ge_model* model, int32_t index, ge_port* out);
GE_API ge_error* ge_model_output(const ge_model* model, int32_t index, ge_port* out);
typedef struct ge_symbol { size_t size; const char* name; int64_t min, max, opt; } ge_symbol;
GE_API int32_t ge_model_symbol_count(const ge_model* model);
GE_API ge_error* ge_model_symbol(const ge_model* model, int32_t index, ge_symbol* out);
GE_API size_t ge_model_weights_bytes(const ge_model* model);  /* on the device, with what `prepare` made of them */

/* ---- session: arena and fixed I/O buffers, one thread at a time ---- */
typedef struct ge_session_options {
  size_t size;
  void* cuda_stream;      /* CUDA: CUstream to run on, or NULL for one of its own */
  int32_t no_graph;       /* CUDA: 1: launch directly on every run, never record */
} ge_session_options;
GE_API ge_error* ge_session_create(ge_model* model, const ge_session_options* options, ge_session** out);
GE_API void ge_session_free(ge_session* session);
/* Fixes the dims. Symbols not named take their value from a former bind, else `opt`. Checks every size of the program. */
GE_API ge_error* ge_session_bind(ge_session* session, const char* const* names, const int64_t* values, int32_t count);
/* Binds from the inputs' shapes: `dims[i]` and `ranks[i]` of input i. Symbols that they do not give take `opt`. Refuses what does not
 * fit (input_shape, symbol_conflict, symbol_unsolved, symbol_range). */
GE_API ge_error* ge_session_bind_shapes(ge_session* session, const int64_t* const* dims, const int32_t* ranks, int32_t count);
/* Both at once: shapes where they are known (`ranks[i]` -1: input i takes the shape that the symbols give it) and values by name.
 * They must agree. */
GE_API ge_error* ge_session_bind_known(ge_session* session, const int64_t* const* dims, const int32_t* ranks, int32_t count,
                                       const char* const* names, const int64_t* values, int32_t name_count);
typedef struct ge_tensor { /* an input's or output's storage under the current binding */
  size_t size;
  void* data;             /* host pointer on CPU, device pointer on CUDA; valid until the next bind */
  size_t size_bytes;
  ge_dtype dtype;
  int32_t rank;
  int64_t dims[GE_MAX_RANK];
} ge_tensor;
GE_API ge_error* ge_session_input(ge_session* session, int32_t index, ge_tensor* out);
GE_API ge_error* ge_session_output(ge_session* session, int32_t index, ge_tensor* out);
/* Copies from and to host memory; `size_bytes` must be the tensor's. */
GE_API ge_error* ge_session_write_input(ge_session* session, int32_t index, const void* data, size_t size_bytes);
GE_API ge_error* ge_session_read_output(ge_session* session, int32_t index, void* data, size_t size_bytes);
/* Runs and waits. A fault that a kernel noted (an index out of range) comes back as E0609 with the node's name. */
GE_API ge_error* ge_session_run(ge_session* session);
/* CUDA: enqueues only; the caller orders with its stream, then calls ge_session_wait for faults. On CPU the same as run. */
GE_API ge_error* ge_session_run_async(ge_session* session);
GE_API ge_error* ge_session_wait(ge_session* session);
/* Bytes of the arena under the current binding. */
GE_API size_t ge_session_arena_bytes(const ge_session* session);

/* ---- profile: every launch timed by itself ---- */
typedef struct ge_launch_profile {
  size_t size;
  const char* kernel;          /* name; "NAME (oneDNN)" where that library computes it */
  const char* source_nodes;    /* "fc1 + act"; "/nodes/0" for a node without a name */
  double time_us;              /* median over `iterations` */
  double flops, bytes;         /* from the plan, under the current binding */
  ge_dtype dtype;              /* of the launch's first operand: what its FLOPs are of */
} ge_launch_profile;
GE_API ge_error* ge_session_profile(ge_session* session, int32_t iterations, int32_t* out_count);
GE_API ge_error* ge_session_profile_entry(ge_session* session, int32_t index, ge_launch_profile* out);
typedef struct ge_timing_options {
  size_t size;
  int32_t warmup;         /* runs before the measured ones */
  int32_t iterations;
  int32_t cold;           /* 1: before each measured run 256 MiB of other memory are written, so that caches hold nothing of the model */
} ge_timing_options;
/* Runs that are each waited for: the time on the device (CUDA events around it; on CPU the same clock) and on the host (call to
 * answer), microseconds. Each array has room for `iterations` values; either may be NULL. */
GE_API ge_error* ge_session_time(ge_session* session, const ge_timing_options* options, double* device_us, double* host_us);

/* ---- ceilings: the most that a device reaches, measured on it ---- */
typedef struct ge_ceilings {
  size_t size;
  double gb_per_s;             /* read and written by a copy that no cache holds */
  double launch_us;            /* the shortest step, timed as a profile times it */
  double tflop_per_s_f32, tflop_per_s_f16, tflop_per_s_bf16; /* large products, sums in float32; 0: nothing here for it (no cuBLASLt) */
} ge_ceilings;
/* Takes a few seconds and up to 512 MiB of the device's memory while it runs; nothing else should run meanwhile. */
GE_API ge_error* ge_device_measure_ceilings(ge_device* device, ge_ceilings* out);

/* ---- start-up: where the time went, microseconds ---- */
typedef struct ge_startup { size_t size; double driver_us, read_us, verify_us, weights_us, code_us, prepare_us, bind_us, first_run_us; } ge_startup;
GE_API ge_error* ge_session_startup(const ge_session* session, ge_startup* out);

#ifdef __cplusplus
}
#endif
#endif
