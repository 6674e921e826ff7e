"""Writes the mlp example: 16 -> 32 -> 10 with Relu and Softmax, seeded random weights, expected output by PyTorch.

    pip install numpy torch safetensors onnx onnxruntime
    python make.py
"""
import pathlib
import sys

import numpy as np
import torch
from safetensors.numpy import save_file

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))
from graph_json import run_onnxruntime, write_graph  # noqa: E402


def main():
    random = np.random.default_rng(1)
    weights = {
        "w1": (random.standard_normal((16, 32)) / 4).astype(np.float32),
        "b1": (random.standard_normal(32) / 4).astype(np.float32),
        "w2": (random.standard_normal((32, 10)) / 4).astype(np.float32),
    }
    b2 = np.linspace(-0.5, 0.625, 10, dtype=np.float32)
    save_file(weights, FOLDER / "mlp.safetensors")
    tensor = lambda name, shape: {"name": name, "dtype": "float32", "shape": shape, "data": {"file": "mlp.safetensors", "tensor": name}}
    write_graph(FOLDER / "mlp.json", {
        "format": "ge-graph/1", "name": "mlp", "opset": 21,
        "dims": {"batch": {"min": 1, "max": 64, "opt": 8}},
        "inputs": [{"name": "x", "dtype": "float32", "shape": ["batch", 16]}],
        "outputs": ["y"],
        "initializers": [
            tensor("w1", [16, 32]), tensor("b1", [32]), tensor("w2", [32, 10]),
            {"name": "b2", "dtype": "float32", "shape": [10], "data": b2.tolist()},
        ],
        "nodes": [
            {"name": "fc1", "op": "Gemm", "inputs": ["x", "w1", "b1"], "outputs": ["h"]},
            {"name": "act", "op": "Relu", "inputs": ["h"], "outputs": ["a"]},
            {"name": "fc2", "op": "Gemm", "inputs": ["a", "w2", "b2"], "outputs": ["s"]},
            {"name": "prob", "op": "Softmax", "inputs": ["s"], "outputs": ["y"], "attributes": {"axis": -1}},
        ],
    })

    x = random.standard_normal((4, 16)).astype(np.float32)
    exact = {name: torch.from_numpy(value).double() for name, value in {**weights, "b2": b2, "x": x}.items()}
    hidden = torch.relu(exact["x"] @ exact["w1"] + exact["b1"])
    y = torch.softmax(hidden @ exact["w2"] + exact["b2"], -1).numpy()
    np.save(FOLDER / "x.npy", x)
    np.save(FOLDER / "expected.npy", y.astype(np.float32))

    worst = np.abs(run_onnxruntime(FOLDER / "mlp.json", {"x": x})[0] - y).max()
    assert worst < 1e-6, f"ONNX Runtime differs by {worst}"
    print(f"ONNX Runtime and PyTorch differ by at most {worst:.1e}")


if __name__ == "__main__":
    main()
