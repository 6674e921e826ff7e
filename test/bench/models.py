#!/usr/bin/env python3
"""Models with random weights: as PyTorch modules, and as graph.json + safetensors with expected outputs.

    python3 test/bench/models.py --out out/models [--only bert_base,resnet50,gpt2,llama,vit] [--dtype float32|float16]
                                 [--attention parts|onnx] [--batch 1,2] [--sequence 128]

Writes OUT/<model>_<dtype>/: graph.json, weights.safetensors, and for each size the inputs and the float32 answer, as in
bert_base_float32/{ids,y}_b1_s128.npy and resnet50_float32/{x,y}_b1.npy. Nothing is fetched.

bert_base: token and position embeddings, 12 post-norm layers of width 768 (12 heads, fused qkv, erf gelu, 3072), no mask;
           int64 ids [batch, sequence] -> [batch, sequence, 768]. With --attention onnx one Attention operator (opset 23)
           a layer; otherwise what an exporter writes for scaled_dot_product_attention.
resnet50:  [batch, 3, 224, 224] -> [batch, 1000], batch norms not folded.
gpt2, llama, vit: in pre_norm_models.py.

As a library: `MODELS[name]()` gives a float32 module on the CPU in eval mode, with `.name`, `.inputs(batch, sequence)`
(numpy, by name) and `.graph(dtype, attention)` ((graph as a dict, weights as numpy)); `write(...)` does all of it.
The answer is computed in float32 from the weights as they are stored, so that float16 is not charged with their rounding.
"""
import argparse
import copy
import functools
import json
import math
import pathlib

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from graph_writer import GraphWriter
from pre_norm_models import Gpt2, Llama, VitB16, id_inputs, write_first_rows

WIDTH, HEADS, FEED, LAYERS, VOCABULARY, POSITIONS = 768, 12, 3072, 12, 30522, 512


class BertLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, FEED), nn.Linear(FEED, WIDTH)
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH, eps=1e-12), nn.LayerNorm(WIDTH, eps=1e-12)

    def forward(self, x):
        batch, sequence, _ = x.shape
        q, k, v = self.qkv(x).view(batch, sequence, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        context = functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(batch, sequence, WIDTH)
        x = self.norm1(x + self.out(context))
        return self.norm2(x + self.down(functional.gelu(self.up(x))))

    def write(self, graph, name, x, attention):
        at = lambda part: f"{name}.{part}"
        q, k, v = [at("q"), at("k"), at("v")]
        graph.add(at("split"), "Split", graph.linear(at("qkv"), x, self.qkv), outputs=[q, k, v], axis=-1, num_outputs=3)
        if attention == "onnx":
            context = graph.add(at("attention"), "Attention", q, k, v, q_num_heads=HEADS, kv_num_heads=HEADS)
        else:
            shape = graph.constant("heads", [0, 0, HEADS, WIDTH // HEADS])
            heads = lambda part, order: graph.add(at(f"{part}.heads"), "Transpose", graph.add(at(f"{part}.rows"), "Reshape", at(part), shape), perm=order)
            scores = graph.add(at("scores"), "MatMul", heads("q", [0, 2, 1, 3]), heads("k", [0, 2, 3, 1]))
            scaled = graph.add(at("scaled"), "Mul", scores, graph.constant("scale", (WIDTH // HEADS) ** -0.5, graph.dtype))
            mixed = graph.add(at("mixed"), "MatMul", graph.add(at("softmax"), "Softmax", scaled, axis=-1), heads("v", [0, 2, 1, 3]))
            rows = graph.add(at("mixed.rows"), "Transpose", mixed, perm=[0, 2, 1, 3])
            context = graph.add(at("context"), "Reshape", rows, graph.constant("width", [0, 0, WIDTH]))
        x = graph.layer_norm(at("norm1"), graph.add(at("residual1"), "Add", x, graph.linear(at("out"), context, self.out)), self.norm1)
        fed = graph.linear(at("down"), graph.add(at("gelu"), "Gelu", graph.linear(at("up"), x, self.up)), self.down)
        return graph.layer_norm(at("norm2"), graph.add(at("residual2"), "Add", x, fed), self.norm2)


class BertBase(nn.Module):
    name = "bert_base"
    inputs = staticmethod(id_inputs(VOCABULARY))

    def __init__(self):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(POSITIONS, WIDTH)
        self.norm, self.layers = nn.LayerNorm(WIDTH, eps=1e-12), nn.ModuleList(BertLayer() for _ in range(LAYERS))

    def forward(self, ids):
        x = self.norm(self.tokens(ids) + self.positions.weight[: ids.shape[1]])
        for layer in self.layers:
            x = layer(x)
        return x

    def graph(self, dtype, attention="parts"):
        dims = {"batch": {"min": 1, "max": 64, "opt": 1}, "sequence": {"min": 1, "max": POSITIONS, "opt": 128}}
        graph = GraphWriter(self.name, dtype, dims, [{"name": "ids", "dtype": "int64", "shape": ["batch", "sequence"]}], 23 if attention == "onnx" else 21)
        words = graph.add("words", "Gather", graph.weight("tokens", self.tokens.weight), "ids", axis=0)
        places = write_first_rows(graph, "places", graph.weight("positions", self.positions.weight), "ids")
        x = graph.layer_norm("norm", graph.add("embedded", "Add", words, places), self.norm)
        for i, layer in enumerate(self.layers):
            x = layer.write(graph, f"layers.{i}", x, attention)
        return graph.finish(x)


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width)
        self.conv3, self.bn3 = nn.Conv2d(width, 4 * width, 1, bias=False), nn.BatchNorm2d(4 * width)
        self.short = None
        if stride != 1 or inputs != 4 * width:
            self.short, self.short_bn = nn.Conv2d(inputs, 4 * width, 1, stride, bias=False), nn.BatchNorm2d(4 * width)

    def forward(self, x):
        h = functional.relu(self.bn1(self.conv1(x)))
        h = functional.relu(self.bn2(self.conv2(h)))
        h = self.bn3(self.conv3(h))
        return functional.relu(h + (x if self.short is None else self.short_bn(self.short(x))))

    def write(self, graph, name, x):
        at = lambda part: f"{name}.{part}"
        h = graph.add(at("relu1"), "Relu", write_conv(graph, at("1"), x, self.conv1, self.bn1))
        h = graph.add(at("relu2"), "Relu", write_conv(graph, at("2"), h, self.conv2, self.bn2))
        h = write_conv(graph, at("3"), h, self.conv3, self.bn3)
        short = x if self.short is None else write_conv(graph, at("short"), x, self.short, self.short_bn)
        return graph.add(at("relu3"), "Relu", graph.add(at("sum"), "Add", h, short))


def write_conv(graph, name, x, conv, norm):
    """Conv and BatchNormalization, as two nodes."""
    size, pad = list(conv.kernel_size), [*conv.padding, *conv.padding]
    y = graph.add(f"{name}.conv", "Conv", x, graph.weight(f"{name}.weight", conv.weight), kernel_shape=size, strides=list(conv.stride), pads=pad)
    parts = [graph.weight(f"{name}.bn.{part}", getattr(norm, part)) for part in ("weight", "bias", "running_mean", "running_var")]
    return graph.add(f"{name}.bn", "BatchNormalization", y, *parts, epsilon=norm.eps)


class ResNet50(nn.Module):
    name = "resnet50"

    def __init__(self):
        super().__init__()
        self.conv, self.bn = nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64)
        inputs, blocks = 64, []
        for width, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
            for i in range(count):
                blocks.append(Bottleneck(inputs, width, stride if i == 0 else 1))
                inputs = 4 * width
        self.blocks, self.classes = nn.ModuleList(blocks), nn.Linear(inputs, 1000)

    def forward(self, x):
        x = functional.max_pool2d(functional.relu(self.bn(self.conv(x))), 3, 2, 1)
        for block in self.blocks:
            x = block(x)
        return self.classes(torch.flatten(functional.adaptive_avg_pool2d(x, 1), 1))

    @staticmethod
    def inputs(batch, _sequence=None):
        return {"x": np.random.default_rng(batch).standard_normal((batch, 3, 224, 224), np.float32)}

    def graph(self, dtype, _attention=None):
        dims = {"batch": {"min": 1, "max": 64, "opt": 1}}
        graph = GraphWriter(self.name, dtype, dims, [{"name": "x", "dtype": dtype, "shape": ["batch", 3, 224, 224]}], 21)
        x = graph.add("relu", "Relu", write_conv(graph, "first", "x", self.conv, self.bn))
        x = graph.add("pool", "MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
        for i, block in enumerate(self.blocks):
            x = block.write(graph, f"blocks.{i}", x)
        x = graph.add("flat", "Flatten", graph.add("mean", "GlobalAveragePool", x), axis=1)
        return graph.finish(graph.linear("classes", x, self.classes))


def randomize(module):
    """Seeded weights under which values keep their size through the model: 1/sqrt(inputs), norms near identity."""
    torch.manual_seed(7)
    for name, value in module.named_parameters():
        if "norm" in name or "bn" in name:
            value.normal_(1.0 if name.endswith("weight") else 0.0, 0.1)
        elif value.dim() == 1:
            value.normal_(0.0, 0.1)
        else:
            is_table = "tokens" in name or "positions" in name
            value.normal_(0.0, 1.0 if is_table else math.sqrt((2.0 if value.dim() == 4 else 1.0) / value[0].numel()))


def calibrate(module):
    """Batch norm's statistics from one batch of noise, so that they are what they would be in a trained net; then less weight
    on each block's last norm, as training starts with."""
    norms = [m for m in module.modules() if isinstance(m, nn.BatchNorm2d)]
    for block in module.blocks:
        block.bn3.weight.mul_(0.3)
    for norm in norms:
        norm.momentum = 1.0
    module.train()
    module(torch.randn(4, 3, 224, 224, generator=torch.Generator().manual_seed(9)))


@torch.no_grad()
def transformer(kind, **sizes):
    module = kind(**sizes)
    randomize(module)
    return module.eval()


@torch.no_grad()
def resnet50():
    module = ResNet50()
    randomize(module)
    calibrate(module)
    return module.eval()


MODELS = {"resnet50": resnet50, **{kind.name: functools.partial(transformer, kind) for kind in (BertBase, Gpt2, Llama, VitB16)}}


def size_name(feeds):
    """b1_s128 for ids [1, 128], b1 for an image."""
    first = next(iter(feeds.values()))
    return f"b{first.shape[0]}" + (f"_s{first.shape[1]}" if first.ndim == 2 else "")


def rounded(module, dtype):
    """A float32 copy whose weights and statistics are those of `dtype`."""
    same = copy.deepcopy(module)
    return same.to(getattr(torch, dtype)).to(torch.float32)


@torch.no_grad()
def write(module, folder, dtype="float32", attention="parts", sizes=((1, 128),)):
    """graph.json, weights, and inputs with float32 answers for each (batch, sequence); returns the folder's path."""
    from safetensors.numpy import save_file
    folder = pathlib.Path(folder) / f"{module.name}_{dtype}{'_attention' if attention == 'onnx' and module.name == 'bert_base' else ''}"
    folder.mkdir(parents=True, exist_ok=True)
    graph, weights = module.graph(dtype, attention)
    save_file(weights, folder / "weights.safetensors")
    (folder / "graph.json").write_text(json.dumps(graph, indent=1) + "\n")
    reference = rounded(module, dtype)
    for batch, sequence in sizes:
        feeds = module.inputs(batch, sequence)
        size = size_name(feeds)
        for name, value in feeds.items():
            feeds[name] = value.astype(dtype) if value.dtype == np.float32 else value
            np.save(folder / f"{name}_{size}.npy", feeds[name])
        y = reference(*(torch.from_numpy(value).to(torch.float32) if value.dtype == np.float16 else torch.from_numpy(value) for value in feeds.values()))
        np.save(folder / f"y_{size}.npy", y.numpy())
    return folder


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True)
    parser.add_argument("--only", default="bert_base,resnet50")
    parser.add_argument("--dtype", default="float32", choices=("float32", "float16"))
    parser.add_argument("--attention", default="parts", choices=("parts", "onnx"))
    parser.add_argument("--batch", default="1")
    parser.add_argument("--sequence", default="128")
    options = parser.parse_args()
    sizes = [(int(b), int(s)) for b in options.batch.split(",") for s in options.sequence.split(",")]
    for name in options.only.split(","):
        of_model = list(dict.fromkeys((b, None) for b, _ in sizes)) if name in ("resnet50", "vit") else sizes
        folder = write(MODELS[name](), options.out, options.dtype, options.attention, of_model)
        weights = (folder / "weights.safetensors").stat().st_size
        print(f"{folder}: {weights / 2**20:.0f} MiB of weights, answers for {', '.join(path.name for path in sorted(folder.glob('y_*.npy')))}")


if __name__ == "__main__":
    main()
