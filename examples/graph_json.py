"""What the example makers share: write graph.json readably, and run a graph.json through ONNX Runtime.

`write_graph` prints one entry a line, as a person would write it. `run_onnxruntime` turns a graph.json into an ONNX
model, without using ge, so that an example's numbers rest on two implementations that know nothing of each other.
Needs numpy, safetensors, onnx and onnxruntime; ge itself needs no Python.
"""
import json
import pathlib

import numpy as np

NUMPY = {"float32": np.float32, "float16": np.float16, "int64": np.int64, "int32": np.int32, "bool": np.bool_}


def write_graph(path, graph):
    """Writes `graph` (a dict in graph.json's layout) with every input, initializer and node on a line of its own."""
    lines = []
    for key, value in graph.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            rows = ",\n".join("    " + json.dumps(row) for row in value)
            lines.append(f"  {json.dumps(key)}: [\n{rows}\n  ]")
        else:
            lines.append(f"  {json.dumps(key)}: {json.dumps(value)}")
    pathlib.Path(path).write_text("{\n" + ",\n".join(lines) + "\n}\n")


def initializer_array(folder, entry):
    """The values of one initializer: inline, fill or safetensors."""
    dtype, data = NUMPY[entry["dtype"]], entry["data"]
    if isinstance(data, list):
        return np.array(data, dtype).reshape(entry["shape"])
    if "fill" in data:
        return np.full(entry["shape"], data["fill"], dtype)
    from safetensors.numpy import load_file
    return load_file(folder / data["file"])[data["tensor"]].astype(dtype).reshape(entry["shape"])


def run_onnxruntime(path, feeds):
    """Runs the graph.json at `path` on `feeds` {input name: array}; returns the outputs in the graph's order."""
    import onnx
    import onnxruntime
    from onnx import helper, numpy_helper

    path = pathlib.Path(path)
    graph = json.loads(path.read_text())
    kind = lambda dtype: helper.np_dtype_to_tensor_dtype(np.dtype(NUMPY[dtype]))
    model = helper.make_model(
        helper.make_graph(
            [helper.make_node(n["op"], n["inputs"], n["outputs"], name=n["name"], **n.get("attributes", {})) for n in graph["nodes"]],
            graph["name"],
            [helper.make_tensor_value_info(v["name"], kind(v["dtype"]), v["shape"]) for v in graph["inputs"]],
            [onnx.ValueInfoProto(name=name) for name in graph["outputs"]],
            [numpy_helper.from_array(initializer_array(path.parent, e), e["name"]) for e in graph["initializers"]],
        ),
        opset_imports=[helper.make_opsetid("", graph["opset"])],
        ir_version=10,
    )
    model = onnx.shape_inference.infer_shapes(model, strict_mode=True)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, feeds)
