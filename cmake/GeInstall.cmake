# cmake --install: component `runtime` is libge_runtime.so, ge.h, its CMake package (find_package(ge), target ge::runtime), a
# pkg-config file and ge-run; component `compiler` is ge-compile, ge-inspect and the schemas.
include(CMakePackageConfigHelpers)
set(ge_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ge)
if(NOT GE_BUILD_SHARED_RUNTIME)
  return()
endif()

install(TARGETS ge_runtime_shared EXPORT ge-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime)
install(FILES ${CMAKE_SOURCE_DIR}/lib/runtime/include/ge/ge.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ge COMPONENT runtime)
install(EXPORT ge-targets NAMESPACE ge:: DESTINATION ${ge_cmake_dir} COMPONENT runtime)
file(WRITE ${CMAKE_BINARY_DIR}/generated/ge-config.cmake "include(\${CMAKE_CURRENT_LIST_DIR}/ge-targets.cmake)\n")
write_basic_package_version_file(${CMAKE_BINARY_DIR}/generated/ge-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/generated/ge-config.cmake ${CMAKE_BINARY_DIR}/generated/ge-config-version.cmake
  DESTINATION ${ge_cmake_dir} COMPONENT runtime)
configure_file(${CMAKE_SOURCE_DIR}/cmake/ge.pc.in ${CMAKE_BINARY_DIR}/generated/ge.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/generated/ge.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT runtime)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
install(TARGETS ge-run RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
if(TARGET ge_onednn)  # the runtime looks for it beside the program and beside its own library
  install(TARGETS ge_onednn LIBRARY DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
  install(TARGETS ge_onednn LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime)
endif()
if(GE_BUILD_COMPILER)
  install(TARGETS ge-compile ge-inspect RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT compiler)
  install(FILES ${CMAKE_SOURCE_DIR}/schemas/graph.schema.json ${CMAKE_SOURCE_DIR}/schemas/plan.schema.json
    DESTINATION ${CMAKE_INSTALL_DATADIR}/ge/schemas COMPONENT compiler)
endif()
