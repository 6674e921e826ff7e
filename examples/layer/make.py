"""Writes the layer example: one transformer encoder layer, as an exporter writes it, with expected outputs by PyTorch.

d_model 64, 4 heads, feed-forward 256, post-norm, erf gelu. Batch and sequence are symbolic, and the head split and
merge go through Shape -> Gather -> Concat -> Reshape, so a compiler has to see through that chain. Weights are random
with a fixed seed. The expected outputs come from torch.nn.TransformerEncoderLayer in float64, rounded once: a layer
that this script did not write itself.

    pip install numpy torch safetensors onnx onnxruntime
    python make.py
"""
import math
import pathlib
import sys

import numpy as np
import torch
from safetensors.numpy import save_file

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))
from graph_json import run_onnxruntime, write_graph  # noqa: E402

MODEL, HEADS, FEED = 64, 4, 256
BATCHES, SEQUENCES = (0, 1, 3), (1, 17, 128)


def make_layer():
    """PyTorch's own layer with seeded weights, and the same weights under the graph's names ([in, out], as x @ w wants)."""
    torch.manual_seed(3)
    layer = torch.nn.TransformerEncoderLayer(MODEL, HEADS, FEED, dropout=0.0, activation="gelu", batch_first=True)
    with torch.no_grad():
        for name, value in layer.named_parameters():
            scale, shift = (0.1, 1.0) if "norm" in name and "weight" in name else (0.1, 0.0) if value.dim() == 1 else (value.shape[1] ** -0.5, 0.0)
            value.copy_(torch.randn_like(value) * scale + shift)
    state = {name: value.detach().numpy() for name, value in layer.state_dict().items()}
    tensors = {}
    for part, rows in zip("qkv", np.split(state["self_attn.in_proj_weight"], 3)):
        tensors[f"{part}.weight"] = rows.T
    for part, rows in zip("qkv", np.split(state["self_attn.in_proj_bias"], 3)):
        tensors[f"{part}.bias"] = rows
    for name, source in {"out": "self_attn.out_proj", "up": "linear1", "down": "linear2"}.items():
        tensors[f"{name}.weight"], tensors[f"{name}.bias"] = state[f"{source}.weight"].T, state[f"{source}.bias"]
    for name in ("norm1", "norm2"):
        tensors[f"{name}.weight"], tensors[f"{name}.bias"] = state[f"{name}.weight"], state[f"{name}.bias"]
    return layer.double().eval(), {name: np.ascontiguousarray(value) for name, value in tensors.items()}


class Nodes(list):
    """The node list; `add` names the single output after the node."""

    def add(self, name, op, *inputs, **attributes):
        self.append({"name": name, "op": op, "inputs": list(inputs), "outputs": [name], **({"attributes": attributes} if attributes else {})})
        return name

    def linear(self, name, x):
        return self.add(f"{name}.add", "Add", self.add(f"{name}.matmul", "MatMul", x, f"{name}.weight"), f"{name}.bias")

    def dims(self, name, x, *tail):
        """A shape [batch, sequence, tail...] read off `x` at run time, the way exporters do."""
        shape = self.add(f"{name}.shape", "Shape", x)
        read = [self.add(f"{name}.dim{i}", "Unsqueeze", self.add(f"{name}.gather{i}", "Gather", shape, f"index{i}", axis=0), "axis0") for i in (0, 1)]
        return self.add(f"{name}.dims", "Concat", *read, *tail, axis=0)

    def split_heads(self, name, x, order):
        parts = self.add(f"{name}.split", "Reshape", x, self.dims(name, x, "heads", "head_size"))
        return self.add(f"{name}.heads", "Transpose", parts, perm=order)


def make_nodes():
    nodes = Nodes()
    q = nodes.split_heads("q", nodes.linear("q", "x"), [0, 2, 1, 3])
    k = nodes.split_heads("k", nodes.linear("k", "x"), [0, 2, 3, 1])
    v = nodes.split_heads("v", nodes.linear("v", "x"), [0, 2, 1, 3])
    scores = nodes.add("scores.scaled", "Div", nodes.add("scores", "MatMul", q, k), "sqrt_head_size")
    context = nodes.add("context", "MatMul", nodes.add("attention", "Softmax", scores, axis=-1), v)
    merged = nodes.add("context.rows", "Transpose", context, perm=[0, 2, 1, 3])
    merged = nodes.add("context.merged", "Reshape", merged, nodes.dims("context", "x", "model"))
    h = nodes.add("residual1", "Add", "x", nodes.linear("out", merged))
    h = nodes.add("norm1", "LayerNormalization", h, "norm1.weight", "norm1.bias", axis=-1, epsilon=1e-5)
    u = nodes.linear("up", h)
    erf = nodes.add("gelu.erf", "Erf", nodes.add("gelu.div", "Div", u, "sqrt2"))
    g = nodes.add("gelu.mul", "Mul", u, nodes.add("gelu.add", "Add", erf, "one"))
    g = nodes.add("gelu", "Mul", g, "half")
    o = nodes.add("residual2", "Add", h, nodes.linear("down", g))
    nodes.append({"name": "norm2", "op": "LayerNormalization", "inputs": [o, "norm2.weight", "norm2.bias"], "outputs": ["y"],
                  "attributes": {"axis": -1, "epsilon": 1e-5}})
    return nodes


def make_graph(tensors):
    scalar = lambda name, value: {"name": name, "dtype": "float32", "shape": [], "data": [value]}
    ints = lambda name, shape, *values: {"name": name, "dtype": "int64", "shape": shape, "data": list(values)}
    return {
        "format": "ge-graph/1", "name": "layer", "opset": 21,
        "dims": {"batch": {"min": 0, "max": 8, "opt": 1}, "sequence": {"min": 1, "max": 128, "opt": 128}},
        "inputs": [{"name": "x", "dtype": "float32", "shape": ["batch", "sequence", MODEL]}],
        "outputs": ["y"],
        "initializers": [
            {"name": name, "dtype": "float32", "shape": list(value.shape), "data": {"file": "layer.safetensors", "tensor": name}}
            for name, value in tensors.items()
        ] + [
            ints("index0", [], 0), ints("index1", [], 1), ints("axis0", [1], 0),
            ints("heads", [1], HEADS), ints("head_size", [1], MODEL // HEADS), ints("model", [1], MODEL),
            scalar("sqrt_head_size", math.sqrt(MODEL // HEADS)), scalar("sqrt2", float(np.float32(math.sqrt(2)))),
            scalar("one", 1.0), scalar("half", 0.5),
        ],
        "nodes": make_nodes(),
    }


def main():
    layer, tensors = make_layer()
    save_file(tensors, FOLDER / "layer.safetensors")
    write_graph(FOLDER / "layer.json", make_graph(tensors))
    random, worst = np.random.default_rng(5), 0.0
    for batch in BATCHES:
        for sequence in SEQUENCES:
            x = random.standard_normal((batch, sequence, MODEL)).astype(np.float32)
            with torch.no_grad():
                y = layer(torch.from_numpy(x).double()).numpy()
            np.save(FOLDER / f"x_b{batch}_s{sequence}.npy", x)
            np.save(FOLDER / f"y_b{batch}_s{sequence}.npy", y.astype(np.float32))
            other = run_onnxruntime(FOLDER / "layer.json", {"x": x})[0]
            assert other.shape == y.shape
            worst = max(worst, float(np.abs(other - y).max(initial=0)))
    assert worst < 2e-5, f"ONNX Runtime differs by {worst}"
    print(f"ONNX Runtime and PyTorch differ by at most {worst:.1e}")


if __name__ == "__main__":
    main()
