if(GE_BUILD_COMPILER)
  ge_test(backend_test SOURCES unit/backend_memory_test.cpp DEPS ge_compiler ge_test_plans)
endif()
