# expressions, argument packing, plan files, verifying, binding.
add_library(ge_plan_mutation STATIC ${CMAKE_CURRENT_LIST_DIR}/../plan_mutation.cpp)
target_include_directories(ge_plan_mutation PUBLIC ${CMAKE_CURRENT_LIST_DIR}/..)
target_link_libraries(ge_plan_mutation PUBLIC ge_flags ge_contract)
ge_test(contract_test
  SOURCES
    unit/contract_sample.cpp
    unit/contract_args_test.cpp
    unit/contract_bind_test.cpp
    unit/contract_expr_test.cpp
    unit/contract_file_test.cpp
    unit/contract_fuzz_test.cpp
    unit/contract_hash_test.cpp
    unit/contract_print_test.cpp
    unit/contract_verify_test.cpp
  DEPS ge_contract ge_plan_mutation)
