# base, platform, numeric, document, tensor_file.
ge_test(foundation_test
  SOURCES
    unit/foundation_base_test.cpp
    unit/foundation_document_test.cpp
    unit/foundation_file_test.cpp
    unit/foundation_numeric_test.cpp
    unit/foundation_tensor_file_test.cpp
    unit/foundation_thread_pool_test.cpp
  DEPS ge_base ge_platform ge_numeric ge_document ge_tensor_file)
