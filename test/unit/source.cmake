ge_test(source_test
  SOURCES unit/source_read_test.cpp unit/source_write_test.cpp unit/source_schema_test.cpp unit/source_memory_test.cpp
          unit/file_memory_test.cpp unit/memory_meter.cpp
  DEPS ge_source ge_onnx_file ge_tensor_file ge_contract ge_ir)
