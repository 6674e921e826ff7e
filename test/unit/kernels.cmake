ge_test(kernels_test
  SOURCES unit/kernels_harness.cpp unit/kernels_elementwise_test.cpp unit/kernels_rows_test.cpp unit/kernels_product_test.cpp unit/kernels_attention_test.cpp
          unit/kernels_window_test.cpp unit/kernels_index_test.cpp unit/kernels_order_test.cpp unit/kernels_onednn_test.cpp
          unit/kernels_registry_test.cpp
  DEPS ge_kernels ge_contract ge_platform ge_numeric ge_base)
if(GE_HAVE_CUDA)
  execute_process(COMMAND ${GE_NVCC} --version OUTPUT_VARIABLE ge_nvcc_says)
  string(REGEX MATCH "V[0-9.]+" ge_nvcc_version "${ge_nvcc_says}")
else()
  set(ge_nvcc_version none)
endif()
add_executable(kernels_golden_test unit/kernels_golden_main.cpp unit/kernels_golden_resources.cpp)
target_link_libraries(kernels_golden_test PRIVATE ge_flags ge_kernels ge_contract)
if(TARGET ge_compiler)
  target_link_libraries(kernels_golden_test PRIVATE ge_compiler)
  target_compile_definitions(kernels_golden_test PRIVATE GE_HAVE_COMPILER)
endif()
target_compile_definitions(kernels_golden_test PRIVATE GE_SOURCE_DIR="${CMAKE_SOURCE_DIR}" GE_BINARY_DIR="${CMAKE_BINARY_DIR}" GE_NVCC_VERSION="${ge_nvcc_version}")
set_target_properties(kernels_golden_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
add_test(NAME kernels_golden_test COMMAND kernels_golden_test)
set_tests_properties(kernels_golden_test PROPERTIES SKIP_RETURN_CODE 77)
