"""Trains the digits example and writes every file beside this script.

A small convolutional network on scikit-learn's handwritten digits (1797 scans of 8x8 pixels). 256 images, drawn
with a fixed seed and the same share of every digit, are kept out of training; the first 20 of them are the
example's images. The seeds are fixed and one thread is used, so the same PyTorch writes the same files.

    pip install numpy torch scikit-learn safetensors onnx onnxruntime
    python train.py
"""
import pathlib
import sys

import numpy as np
import torch
from safetensors.numpy import save_file
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))
from graph_json import run_onnxruntime, write_graph  # noqa: E402

SEED, KEPT, SHOWN, EPOCHS, BATCH = 7, 256, 20, 60, 32


def make_model():
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(),
        nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(),
        nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(256, 64), nn.ReLU(),
        nn.Linear(64, 10),
    )


def load():
    """(train images, train labels, kept images, kept labels); images are float32 [n,1,8,8], ink from 0 to 1."""
    digits = load_digits()
    images = (digits.images / 16).astype(np.float32)[:, None]
    labels = digits.target.astype(np.int64)
    a, b, c, d = train_test_split(images, labels, test_size=KEPT, random_state=SEED, stratify=labels)
    return a, c, b, d


def train(model, images, labels):
    x, y = torch.from_numpy(images), torch.from_numpy(labels)
    steps = EPOCHS * ((len(x) + BATCH - 1) // BATCH)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=steps)
    model.train()
    for _ in range(EPOCHS):
        order = torch.randperm(len(x))
        for at in range(0, len(x), BATCH):
            pick = order[at:at + BATCH]
            loss = nn.functional.cross_entropy(model(x[pick]), y[pick])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return model.eval()


def write_files(model):
    """digits.json and digits.safetensors. BatchNormalization stays a node of its own: folding it is the compiler's job."""
    state = {k: v.detach().numpy() for k, v in model.state_dict().items()}
    names = {
        "conv1.weight": "0.weight", "norm1.scale": "1.weight", "norm1.bias": "1.bias", "norm1.mean": "1.running_mean",
        "norm1.variance": "1.running_var", "conv2.weight": "3.weight", "conv2.bias": "3.bias",
        "fc1.weight": "7.weight", "fc1.bias": "7.bias", "fc2.weight": "9.weight", "fc2.bias": "9.bias",
    }
    tensors = {name: np.ascontiguousarray(state[source], np.float32) for name, source in names.items()}
    save_file(tensors, FOLDER / "digits.safetensors")
    node = lambda name, op, inputs, output, **attributes: {
        "name": name, "op": op, "inputs": inputs, "outputs": [output], **({"attributes": attributes} if attributes else {})}
    write_graph(FOLDER / "digits.json", {
        "format": "ge-graph/1", "name": "digits", "opset": 21,
        "dims": {"batch": {"min": 1, "max": 256, "opt": 32}},
        "inputs": [{"name": "image", "dtype": "float32", "shape": ["batch", 1, 8, 8]}],
        "outputs": ["logits", "digit"],
        "initializers": [
            {"name": name, "dtype": "float32", "shape": list(value.shape), "data": {"file": "digits.safetensors", "tensor": name}}
            for name, value in tensors.items()],
        "nodes": [
            node("conv1", "Conv", ["image", "conv1.weight"], "c1", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
            node("norm1", "BatchNormalization", ["c1", "norm1.scale", "norm1.bias", "norm1.mean", "norm1.variance"], "n1", epsilon=1e-5),
            node("relu1", "Relu", ["n1"], "r1"),
            node("conv2", "Conv", ["r1", "conv2.weight", "conv2.bias"], "c2", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
            node("relu2", "Relu", ["c2"], "r2"),
            node("pool", "MaxPool", ["r2"], "p", kernel_shape=[2, 2], strides=[2, 2]),
            node("flat", "Flatten", ["p"], "f", axis=1),
            node("fc1", "Gemm", ["f", "fc1.weight", "fc1.bias"], "h", transB=1),
            node("relu3", "Relu", ["h"], "r3"),
            node("fc2", "Gemm", ["r3", "fc2.weight", "fc2.bias"], "logits", transB=1),
            node("best", "ArgMax", ["logits"], "digit", axis=1, keepdims=0),
        ],
    })


def main():
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    train_images, train_labels, kept_images, kept_labels = load()
    model = train(make_model(), train_images, train_labels)
    write_files(model)
    np.save(FOLDER / "images.npy", kept_images[:SHOWN])
    np.save(FOLDER / "labels.npy", kept_labels[:SHOWN])
    np.save(FOLDER / "test_images.npy", kept_images)
    np.save(FOLDER / "test_labels.npy", kept_labels)

    # Expected values in float64, rounded once: the nearest float32 to what the network means.
    with torch.no_grad():
        exact = model.double()(torch.from_numpy(kept_images).double()).numpy()
    np.save(FOLDER / "expected.npy", exact[:SHOWN].astype(np.float32))

    logits, digit = run_onnxruntime(FOLDER / "digits.json", {"image": kept_images})
    worst = np.abs(logits - exact).max()
    assert worst < 1e-4 and (digit == exact.argmax(1)).all(), f"ONNX Runtime differs by {worst}"
    right = int((digit == kept_labels).sum())
    print(f"kept set: {right}/{KEPT} right ({100 * right / KEPT:.2f}%); ONNX Runtime and PyTorch differ by at most {worst:.1e}")
    assert right / KEPT >= 0.975, "the network should read at least 97.5% of the kept set"


if __name__ == "__main__":
    main()
