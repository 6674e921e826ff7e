# Flags of the interpreter's inner loops: each file is one instruction set. No errno and no exception flags are read there, so
# comparisons may become selects; contraction stays off (same bits everywhere).
set(ge_loop_optimization -O3)
if("${CMAKE_CXX_FLAGS}" MATCHES "-fsanitize")
  set(ge_loop_optimization -O1)  # instrumented code gains nothing from more and compiles for minutes
endif()
set(ge_loop_flags ${ge_loop_optimization} -fno-math-errno -fno-trapping-math)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  list(APPEND ge_loop_flags -Wno-pass-failed)  # a loop around a library call stays a loop
endif()
set_source_files_properties(cpu/loop_kernels_base.cpp PROPERTIES COMPILE_OPTIONS "${ge_loop_flags}")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
  set_source_files_properties(cpu/loop_kernels_v3.cpp PROPERTIES COMPILE_OPTIONS "${ge_loop_flags};-march=x86-64-v3")
  set_source_files_properties(cpu/loop_kernels_v4.cpp PROPERTIES COMPILE_OPTIONS "${ge_loop_flags};-march=x86-64-v4")
endif()
