# base, platform, numeric, document, tensor_file.
ge_test(foundation_test
  SOURCES
    unit/foundation_base_test.cpp
    unit/foundation_document_test.cpp
    unit/foundation_file_test.cpp
    unit/foundation_numeric_test.cpp
    unit/foundation_signals_test.cpp
    unit/foundation_tensor_file_test.cpp
    unit/foundation_thread_pool_test.cpp
  DEPS ge_base ge_platform ge_numeric ge_document ge_tensor_file nlohmann_json::nlohmann_json)
# Two cases ask for more memory than there is and expect to be told so: a sanitizer must hand the refusal on.
set_tests_properties(foundation_test PROPERTIES
  ENVIRONMENT "ASAN_OPTIONS=allocator_may_return_null=1;TSAN_OPTIONS=allocator_may_return_null=1")
