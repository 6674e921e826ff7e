ge_test(ir_test
  SOURCES unit/ir_dim_test.cpp unit/ir_graph_test.cpp unit/ir_infer_test.cpp unit/ir_contents_test.cpp unit/ir_text_test.cpp
          unit/ir_verify_test.cpp
  DEPS ge_ir)
