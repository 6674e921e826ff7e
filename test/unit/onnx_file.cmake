# The models of these tests are written by protobuf, a second implementation of the format; ge itself does without it.
find_package(Protobuf QUIET)
if(Protobuf_FOUND AND TARGET protobuf::libprotobuf-lite AND TARGET protobuf::protoc)
  set(made ${CMAKE_BINARY_DIR}/generated/onnx_proto)
  file(MAKE_DIRECTORY ${made})
  add_custom_command(OUTPUT ${made}/onnx.pb.cc ${made}/onnx.pb.h
    COMMAND protobuf::protoc --proto_path=${CMAKE_CURRENT_SOURCE_DIR}/unit --cpp_out=${made} ${CMAKE_CURRENT_SOURCE_DIR}/unit/onnx.proto
    DEPENDS unit/onnx.proto
    COMMENT "Generating onnx.pb.cc"
    VERBATIM)
  add_library(ge_onnx_proto STATIC ${made}/onnx.pb.cc)
  target_include_directories(ge_onnx_proto SYSTEM PUBLIC ${made})
  target_link_libraries(ge_onnx_proto PUBLIC protobuf::libprotobuf-lite)
  target_compile_options(ge_onnx_proto PRIVATE -w)  # protobuf's own code, with its own warnings
  ge_test(onnx_file_test
    SOURCES unit/onnx_file_test.cpp unit/onnx_file_faults_test.cpp unit/onnx_file_wire_test.cpp unit/onnx_models.cpp
    DEPS ge_onnx_file ge_onnx_proto ge_onnx_ops ge_source ge_compiler)
else()
  message(STATUS "ge: onnx_file_test is left out: it needs protobuf (libprotobuf-dev, protobuf-compiler)")
endif()
