# One function per kind of target. Include roots: lib/, the repository root (for kernels/) and lib/runtime/include (ge/ge.h).
add_library(ge_flags INTERFACE)
target_include_directories(ge_flags INTERFACE ${CMAKE_SOURCE_DIR}/lib ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated)
target_compile_options(ge_flags INTERFACE -Wall -Wextra -Wno-missing-field-initializers -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  target_compile_options(ge_flags INTERFACE -Wno-restrict)  # GCC bug 105651: "text" + string warns at -O2 and above
endif()
if(GE_WERROR)
  target_compile_options(ge_flags INTERFACE -Werror)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # what the optimiser guesses about flow is told, but is no error
    target_compile_options(ge_flags INTERFACE -Wno-error=stringop-overflow -Wno-error=stringop-overread -Wno-error=array-bounds
      -Wno-error=maybe-uninitialized -Wno-error=free-nonheap-object -Wno-error=dangling-pointer)
  endif()
endif()

# ge_library(name SOURCES ... DEPS ...): a static library; a library with no sources is an INTERFACE one.
function(ge_library name)
  cmake_parse_arguments(A "" "" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  if(A_SOURCES)
    add_library(${name} STATIC ${A_SOURCES})
    target_link_libraries(${name} PUBLIC ge_flags ${A_DEPS} PRIVATE ${A_PRIVATE_DEPS})
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE ge_flags ${A_DEPS})
  endif()
endfunction()

# ge_program(name SOURCES ... DEPS ...): an executable in build/bin.
function(ge_program name)
  cmake_parse_arguments(A "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${A_SOURCES})
  target_link_libraries(${name} PRIVATE ge_flags ${A_DEPS})
endfunction()

# ge_test(name SOURCES ... DEPS ...): a Catch2 program (2.13 or 3.4) registered with CTest under its name.
function(ge_test name)
  cmake_parse_arguments(A "" "LABEL" "SOURCES;DEPS;ARGS" ${ARGN})
  add_executable(${name} ${A_SOURCES})
  target_link_libraries(${name} PRIVATE ge_flags ge_catch ${A_DEPS})
  target_compile_definitions(${name} PRIVATE GE_SOURCE_DIR="${CMAKE_SOURCE_DIR}" GE_BINARY_DIR="${CMAKE_BINARY_DIR}")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
  add_test(NAME ${name} COMMAND ${name} ${A_ARGS})
  if(A_LABEL)
    set_tests_properties(${name} PROPERTIES LABELS "${A_LABEL}")
  endif()
endfunction()
