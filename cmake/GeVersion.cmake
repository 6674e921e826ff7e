# generated/ge_version.h: version and commit, for --version. Never enters a plan's bytes beyond the version number.
find_package(Git QUIET)
set(GE_COMMIT "unknown")
if(GIT_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse --short=12 HEAD WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
                  OUTPUT_VARIABLE GE_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE ge_git_result)
  if(NOT ge_git_result EQUAL 0)
    set(GE_COMMIT "unknown")
  endif()
endif()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/ge_version.h CONTENT
"#pragma once
#define GE_VERSION \"@PROJECT_VERSION@\"
#define GE_COMMIT \"@GE_COMMIT@\"
" @ONLY)
