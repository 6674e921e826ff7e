# Finds the CUDA toolkit as GE_CUDA asks. Sets GE_HAVE_CUDA, GE_NVCC, GE_CUDA_INCLUDE. Only headers and nvcc are used:
# libcuda, NVRTC and cuBLASLt are opened at run time, so nothing here is linked.
set(GE_HAVE_CUDA OFF)
if(NOT GE_CUDA STREQUAL "OFF")
  find_program(GE_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda /usr/lib/nvidia-cuda-toolkit PATH_SUFFIXES bin)
  find_path(GE_CUDA_INCLUDE cuda.h HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES include targets/x86_64-linux/include)
  if(GE_NVCC AND GE_CUDA_INCLUDE)
    set(GE_HAVE_CUDA ON)
  elseif(GE_CUDA STREQUAL "ON")
    message(FATAL_ERROR "GE_CUDA=ON, but nvcc or cuda.h was not found. Install the CUDA toolkit, set CUDA_HOME, or use -DGE_CUDA=OFF.")
  endif()
endif()
message(STATUS "ge: CUDA ${GE_HAVE_CUDA} (nvcc: ${GE_NVCC})")
