# cmake -DNVCC= -DCCACHE= -DHOST= -DARCH= -DROOT= -DSOURCE= -DCUBIN= -P compile_cubin.cmake: one .cu file to one cubin, with CUBIN.d (what it
# includes) and CUBIN.resources (what ptxas said). No line info and no host paths, so the bytes depend on the source alone.
set(launcher "")
if(CCACHE)
  set(launcher ${CCACHE})
endif()
get_filename_component(name ${SOURCE} NAME_WE)
execute_process(
  COMMAND ${launcher} ${NVCC} -ccbin ${HOST} -std=c++20 -O3 -arch=${ARCH} -cubin -I${ROOT}/lib -I${ROOT} -Xptxas -v,-warn-spills
          -MD -MF ${CUBIN}.d -MT ${CUBIN} -o ${CUBIN} ${SOURCE}
  WORKING_DIRECTORY ${ROOT}
  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE said)
if(NOT result EQUAL 0)
  file(REMOVE ${CUBIN})
  message(FATAL_ERROR "nvcc ${SOURCE} (${ARCH}):\n${output}${said}")
endif()
string(REGEX MATCHALL "[^\n]*warning[^\n]*" warnings "${said}")
foreach(warning ${warnings})
  message(STATUS "${name} ${ARCH}: ${warning}")
endforeach()
file(WRITE ${CUBIN}.resources "${output}${said}")
