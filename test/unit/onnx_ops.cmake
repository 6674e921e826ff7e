ge_test(onnx_ops_test
  SOURCES unit/onnx_ops_faults_test.cpp unit/onnx_ops_lower_test.cpp unit/onnx_ops_fuzz_test.cpp
  DEPS ge_onnx_ops ge_source ge_ir)
