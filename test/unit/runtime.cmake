# plan, model, session, steps and devices
ge_test(runtime_test
  SOURCES
    unit/contract_sample.cpp
    unit/runtime_sample.cpp
    unit/runtime_alloc_test.cpp
    unit/runtime_parts_test.cpp
    unit/runtime_session_test.cpp
    unit/runtime_steps_test.cpp
  DEPS ge_runtime ge_contract)
