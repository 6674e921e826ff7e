if(GE_BUILD_COMPILER)
  ge_test(backend_test
    SOURCES bind_without_device.cpp unit/backend_bind_test.cpp unit/backend_memory_test.cpp unit/backend_launches_test.cpp unit/backend_rank_test.cpp
    DEPS ge_compiler ge_codegen ge_kernels)
endif()
