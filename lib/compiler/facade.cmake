# compile.h and evaluate.h: what ge-compile and the tests call.
ge_library(ge_compiler SOURCES compile.cpp evaluate.cpp run_plan.cpp
  DEPS ge_ir ge_source ge_onnx_file ge_onnx_ops ge_passes ge_select ge_pack ge_target PRIVATE_DEPS ge_runtime)
