# Reads the families' kernels.def files and builds the CUDA images they name.

# ge_read_kernel_defs(DEFS ROW_SOURCES CUDA_SOURCES): parses
#   GE_CPU_KERNEL(name, source.cpp)       the row and its function are in source.cpp
#   GE_CUDA_KERNEL(name, source.cu)       the row is in source_rows.cpp, the kernel in source.cu
#   GE_LIBRARY_KERNEL(name, source.cpp)   the row is in source.cpp; the runtime has the code
# and writes kernels_all.def, which includes every family's list. Paths come out relative to kernels/.
function(ge_read_kernel_defs defs rows_out cuda_out)
  set(rows "")
  set(cuda "")
  set(text "// Made by CMake: every family's kernels.\n")
  foreach(def ${defs})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${def})
    get_filename_component(family ${def} DIRECTORY)
    string(APPEND text "#include \"kernels/${def}\"\n")
    file(STRINGS ${def} lines REGEX "^GE_[A-Z]+_KERNEL\\(")
    foreach(line ${lines})
      if(NOT line MATCHES "^GE_(CPU|CUDA|LIBRARY)_KERNEL\\(([a-z0-9_]+), ([a-z0-9_]+)\\.(cpp|cu)\\)$")
        message(FATAL_ERROR "kernels/${def}: not understood: ${line}")
      endif()
      if(CMAKE_MATCH_1 STREQUAL "CUDA")
        list(APPEND rows ${family}/${CMAKE_MATCH_3}_rows.cpp)
        list(APPEND cuda ${family}/${CMAKE_MATCH_3}.cu)
      else()
        list(APPEND rows ${family}/${CMAKE_MATCH_3}.cpp)
      endif()
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES rows)
  list(REMOVE_DUPLICATES cuda)
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/kernels_all.def CONTENT "${text}" @ONLY)
  set(${rows_out} ${rows} PARENT_SCOPE)
  set(${cuda_out} ${cuda} PARENT_SCOPE)
endfunction()

# ge_embed_kernels(CUDA_SOURCES OUT): compiles each .cu for each of GE_CUDA_ARCHS to a cubin (one command each, so they build side
# by side) and writes a source that holds them all; OUT is what the library must add. Beside each cubin stands what ptxas said
# of registers, shared memory and spills, for the resources test.
function(ge_embed_kernels sources out)
  set(directory ${CMAKE_CURRENT_BINARY_DIR}/images)
  file(MAKE_DIRECTORY ${directory})
  set(cubins "")
  set(data "")
  set(declarations "")
  set(rows "")
  foreach(source ${sources})
    get_filename_component(image ${source} NAME_WE)
    foreach(arch ${GE_CUDA_ARCHS})
      set(flag sm_${arch})
      if(arch EQUAL 90)
        set(flag sm_90a)
      endif()
      set(cubin ${directory}/${image}.sm_${arch}.cubin)
      add_custom_command(OUTPUT ${cubin} BYPRODUCTS ${cubin}.resources
        COMMAND ${CMAKE_COMMAND} -DNVCC=${GE_NVCC} -DCCACHE=${GE_CCACHE} -DHOST=${CMAKE_CXX_COMPILER} -DARCH=${flag} -DROOT=${CMAKE_SOURCE_DIR}
                -DSOURCE=${CMAKE_CURRENT_SOURCE_DIR}/${source} -DCUBIN=${cubin} -P ${CMAKE_SOURCE_DIR}/cmake/compile_cubin.cmake
        DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${source} ${CMAKE_SOURCE_DIR}/cmake/compile_cubin.cmake
        DEPFILE ${cubin}.d
        COMMENT "Building CUDA image ${image} for ${flag}"
        VERBATIM)
      list(APPEND cubins ${cubin})
      set(symbol ge_image_${image}_${arch})
      string(APPEND data "asm(\".section .rodata\\n.balign 64\\n.globl ${symbol}\\n.hidden ${symbol}\\n${symbol}:\\n.incbin \\\"${cubin}\\\"\\n"
                         ".globl ${symbol}_end\\n.hidden ${symbol}_end\\n${symbol}_end:\\n.byte 0\\n.previous\");\n")
      string(APPEND declarations "extern \"C\" const unsigned char ${symbol}[], ${symbol}_end[];\n")
      string(APPEND rows "    {\"${image}\", ${arch}, {${symbol}, ${symbol}_end}},\n")
    endforeach()
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/embedded_images.cpp CONTENT
"// Made by CMake: the built-in kernels' device code. Entry: embedded_images.
#include \"kernels/registry.h\"

${data}
${declarations}
namespace ge {

std::span<const EmbeddedImage> embedded_images() {
  static const EmbeddedImage images[] = {
${rows}  };
  return images;
}

}  // namespace ge
" @ONLY)
  set_source_files_properties(${CMAKE_CURRENT_BINARY_DIR}/embedded_images.cpp PROPERTIES OBJECT_DEPENDS "${cubins}")
  set(${out} ${CMAKE_CURRENT_BINARY_DIR}/embedded_images.cpp PARENT_SCOPE)
endfunction()
