if(TARGET ge_onnx_wire)
  ge_test(onnx_file_test
    SOURCES unit/onnx_file_test.cpp unit/onnx_file_faults_test.cpp unit/onnx_file_wire_test.cpp unit/onnx_models.cpp
    DEPS ge_onnx_file ge_onnx_wire ge_onnx_ops ge_source ge_compiler)
endif()
