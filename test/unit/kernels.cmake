ge_test(kernels_test
  SOURCES unit/kernels_harness.cpp unit/kernels_elementwise_test.cpp unit/kernels_rows_test.cpp unit/kernels_product_test.cpp
          unit/kernels_window_test.cpp unit/kernels_index_test.cpp unit/kernels_registry_test.cpp
  DEPS ge_kernels ge_contract ge_platform ge_numeric ge_base)
