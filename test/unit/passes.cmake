ge_test(passes_test SOURCES unit/passes_manager_test.cpp unit/passes_rewrite_test.cpp DEPS ge_passes ge_ir)
