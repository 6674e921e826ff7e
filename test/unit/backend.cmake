if(GE_BUILD_COMPILER)
  ge_test(backend_test SOURCES unit/backend_memory_test.cpp unit/backend_launches_test.cpp DEPS ge_compiler ge_codegen)
endif()
