ge_test(source_test
  SOURCES unit/source_read_test.cpp unit/source_write_test.cpp unit/source_schema_test.cpp
  DEPS ge_source ge_ir)
