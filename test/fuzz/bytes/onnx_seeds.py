#!/usr/bin/env python3
"""Writes the small models that onnx_fuzz starts from into corpus/onnx_fuzz: python3 test/fuzz/bytes/onnx_seeds.py

Between them they hold every kind of thing that an ONNX file can: each attribute kind, typed lists and raw bytes of every dtype,
external data, functions that call functions, an If whose condition is known, old and new opsets, unsorted nodes, absent operands,
defaults of inputs, shapes by value, com.microsoft. Needs the onnx package.
"""
import pathlib

import numpy as np
from onnx import TensorProto as T, helper as h, numpy_helper

FOLDER = pathlib.Path(__file__).parent / "corpus" / "onnx_fuzz"


def info(name, dims, dtype=T.FLOAT):
    return h.make_tensor_value_info(name, dtype, dims)


def constant(name, values, dtype=np.int64):
    return numpy_helper.from_array(np.array(values, dtype), name)


def save(name, nodes, inputs, outputs, initializers=(), opset=21, ir=10, domains=(), functions=(), value_info=()):
    graph = h.make_graph(nodes, name, inputs, outputs, list(initializers), value_info=list(value_info))
    opsets = [h.make_opsetid("", opset), *(h.make_opsetid(domain, 1) for domain in domains)]
    model = h.make_model(graph, opset_imports=opsets, ir_version=ir, functions=list(functions), producer_name="")
    (FOLDER / f"{name}.onnx").write_bytes(model.SerializeToString())


def layers():
    save("conv", [h.make_node("Conv", ["x", "w", "b"], ["c"], "conv", kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 1], group=2),
                  h.make_node("BatchNormalization", ["c", "s", "s", "s", "s"], ["n"], "norm", epsilon=1e-3), h.make_node("Relu", ["n"], ["r"]),
                  h.make_node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2], ceil_mode=1, auto_pad="SAME_UPPER"), h.make_node("GlobalAveragePool", ["p"], ["y"])],
         [info("x", ["n", 4, "h", "w"])], [info("y", None)],
         [constant("w", np.ones((4, 2, 3, 3)) / 9, np.float32), constant("b", [0.5] * 4, np.float32), constant("s", [1.5] * 4, np.float32)])
    save("attention", [h.make_node("MatMul", ["q", "kt"], ["s"]), h.make_node("Softmax", ["s"], ["p"], axis=-1), h.make_node("MatMul", ["p", "v"], ["y"])],
         [info("q", ["b", 2, "s", 4]), info("kt", ["b", 2, 4, "t"]), info("v", ["b", 2, "t", 4])], [info("y", ["b", 2, "s", 4])])
    save("gemm7", [h.make_node("Gemm", ["x", "w", "b"], ["g"], alpha=0.5, beta=2.0, transB=1), h.make_node("Softmax", ["g"], ["y"])],
         [info("x", ["batch", 3]), info("w", [5, 3]), info("b", [5])], [info("y", ["batch", 5])],
         [constant("w", np.arange(15).reshape(5, 3), np.float32), constant("b", np.arange(5), np.float32)], opset=7, ir=3)
    save("microsoft", [h.make_node("FusedMatMul", ["x", "w"], ["f"], domain="com.microsoft", alpha=0.25, transA=1),
                       h.make_node("BiasGelu", ["f", "b"], ["g"], domain="com.microsoft"),
                       h.make_node("SkipLayerNormalization", ["g", "g", "b"], ["y"], domain="com.microsoft", epsilon=1e-5)],
         [info("x", [3, "n"])], [info("y", ["n", 4])], [constant("w", np.ones((3, 4)), np.float32), constant("b", [1, 2, 3, 4], np.float32)], domains=["com.microsoft"])


def shapes():
    save("reshape", [h.make_node("Shape", ["x"], ["s"]), h.make_node("Gather", ["s", "zero"], ["n"], axis=0), h.make_node("Unsqueeze", ["n", "axes"], ["n1"]),
                     h.make_node("Concat", ["n1", "minus"], ["t"], axis=0), h.make_node("Reshape", ["x", "t"], ["y"])],
         [info("x", ["batch", 2, "2*seq + 1"])], [info("y", ["batch", "rest"])], [constant("zero", 0), constant("axes", [0]), constant("minus", [-1])])
    save("slice", [h.make_node("Slice", ["x", "from", "to", "axes", "steps"], ["a"]), h.make_node("Pad", ["a", "pads", "", "axes"], ["b"], mode="reflect"),
                   h.make_node("Resize", ["b", "", "scales"], ["y"], mode="linear", coordinate_transformation_mode="align_corners")],
         [info("x", [3, "n"])], [info("y", None)],
         [constant("from", [-1]), constant("to", [-(1 << 62)]), constant("axes", [1]), constant("steps", [-1]), constant("pads", [1, 0]), constant("scales", [1.0, 2.0], np.float32)])
    save("range", [h.make_node("Shape", ["x"], ["s"], start=1), h.make_node("Squeeze", ["s"], ["n"]), h.make_node("Range", ["zero", "n", "one"], ["r"]),
                   h.make_node("ConstantOfShape", ["s"], ["c"], value=constant("v", [3], np.int64)), h.make_node("Expand", ["r", "s"], ["e"]), h.make_node("Add", ["c", "e"], ["y"])],
         [info("x", [2, "n"])], [info("y", ["n"], T.INT64)], [constant("zero", 0), constant("one", 1)])
    save("split", [h.make_node("Split", ["x"], ["a", "b", "c"], axis=1, num_outputs=3), h.make_node("TopK", ["a", "k"], ["t", "i"], largest=0),
                   h.make_node("Einsum", ["b", "c"], ["e"], equation="ij,kj->ik"), h.make_node("ScatterND", ["e", "at", "u"], ["y"], reduction="add")],
         [info("x", ["n", 7])], [info("y", None), info("t", None), info("i", None, T.INT64)], [constant("k", [2]), constant("at", [[0, 0]]), constant("u", [1.0], np.float32)])


def tensors():
    every = {T.FLOAT: [1.5], T.DOUBLE: [2.5], T.FLOAT16: [0.5], T.BFLOAT16: [3.0], T.FLOAT8E4M3FN: [1.0], T.FLOAT8E5M2: [2.0], T.INT64: [-1], T.INT32: [1 << 30],
             T.INT16: [-5], T.INT8: [7], T.INT4: [-8], T.UINT64: [1 << 63], T.UINT32: [1 << 31], T.UINT16: [65535], T.UINT8: [255], T.UINT4: [15], T.BOOL: [1]}
    typed = [h.make_tensor(f"t{dtype}", dtype, [3], values * 3) for dtype, values in every.items()]
    save("typed_lists", [h.make_node("Cast", [t.name], [f"y{i}"], to=T.FLOAT) for i, t in enumerate(typed)], [info("x", [3])],
         [info(f"y{i}", [3]) for i in range(len(typed))], typed, opset=23)
    raw = [numpy_helper.from_array(np.arange(4).astype(kind), np.dtype(kind).name) for kind in ("f4", "f8", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?")]
    save("raw_bytes", [h.make_node("Cast", [t.name], [f"y{i}"], to=T.FLOAT) for i, t in enumerate(raw)], [info("x", [4])], [info(f"y{i}", [4]) for i in range(len(raw))], raw)
    beside = T(name="w", data_type=T.FLOAT, dims=[4], data_location=T.EXTERNAL)
    for key, value in {"location": "w.bin", "offset": "0", "length": "16", "checksum": "0"}.items():
        beside.external_data.add(key=key, value=value)
    save("external", [h.make_node("Add", ["x", "w"], ["y"])], [info("x", [4])], [info("y", [4])], [beside])
    save("attributes", [h.make_node("Constant", [], ["a"], value_floats=[1.0, 2.0]), h.make_node("Constant", [], ["b"], value_int=3), h.make_node("Constant", [], ["c"], value_ints=[1, -1]),
                        h.make_node("Constant", [], ["d"], value=constant("v", [[1, 2]], np.float32)),
                        h.make_node("Reshape", ["a", "c"], ["y"], allowzero=1)], [info("x", [1])], [info("y", None), info("b", [], T.INT64), info("d", [1, 2])])


def structure():
    inner = h.make_function("my", "Scale", ["x", "k"], ["y"], [h.make_node("Mul", ["x", "k"], ["y"], "times")], [h.make_opsetid("", 21)])
    outer = h.make_function("my", "Twice", ["x"], ["y", "z"], [h.make_node("Constant", [], ["k"], "two"), h.make_node("Scale", ["x", "k"], ["h"], "first", domain="my"),
                                                              h.make_node("Elu", ["h"], ["y"]), h.make_node("Identity", ["x"], ["z"])],
                            [h.make_opsetid("", 21), h.make_opsetid("my", 1)], attributes=["alpha"])
    for attribute in (outer.node[2].attribute.add(), outer.node[0].attribute.add()):
        attribute.name, attribute.type = "alpha", 1
        attribute.ref_attr_name = "alpha"
    outer.node[0].attribute[0].name = "value_float"
    save("functions", [h.make_node("Twice", ["x"], ["a", "b"], "call", domain="my", alpha=0.5), h.make_node("Add", ["a", "b"], ["y"])],
         [info("x", ["n"])], [info("y", ["n"])], domains=["my"], functions=[inner, outer])
    branch = lambda name, op: h.make_graph([h.make_node(op, ["x"], [name])], name, [], [info(name, ["n"])])
    save("if", [h.make_node("Shape", ["x"], ["s"]), h.make_node("Size", ["s"], ["r"]), h.make_node("Equal", ["r", "one"], ["c"]),
                h.make_node("If", ["c"], ["y"], then_branch=branch("t", "Neg"), else_branch=branch("e", "Abs"))], [info("x", ["n"])], [info("y", ["n"])], [constant("one", 1)])
    save("unsorted", [h.make_node("Mul", ["h", "h"], ["y"], "same"), h.make_node("Clip", ["x", "", "high"], ["h"], "same")],
         [info("x", [None, 2]), info("high", [])], [info("y", [None, 2]), info("x", None)], [constant("high", 6.0, np.float32)], value_info=[info("h", [1, 2])])
    save("names", [h.make_node("Relu", ["\n\u00e9"], ["y/0"], "a b\t"), h.make_node("Relu", ["y/0"], [""], "a b\t")], [info("\n\u00e9", [2])], [info("y/0", [2])])
    save("quantized", [h.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]), h.make_node("DequantizeLinear", ["q", "s", "z"], ["d"]),
                       h.make_node("QuantizeLinear", ["d", "k", "p"], ["y"], axis=1), h.make_node("MatMulInteger", ["q", "w", "z"], ["m"])],
         [info("x", [2, 3])], [info("y", None, T.INT8), info("m", None, T.INT32)],
         [constant("k", [0.1, 0.2, 0.3], np.float32), constant("p", [0, 1, -1], np.int8), constant("w", np.ones((3, 2)), np.uint8)])
    save("empty", [], [info("x", ["n"])], [info("x", ["n"])])


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    layers(), shapes(), tensors(), structure()
    print(f"{len(list(FOLDER.iterdir()))} files in {FOLDER}")
