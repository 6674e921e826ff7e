ge_test(onnx_values_test SOURCES unit/onnx_values_test.cpp DEPS ge_test_plans ge_source ge_compiler)
