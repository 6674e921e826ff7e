"""The workloads that peers.py times: each as a graph for ge and as a PyTorch function on the same numbers.

A Workload's `function(tensors)` takes its inputs and weights by name, in any one dtype, and returns the output; peers.py runs
it in float32 for the answer and in the workload's dtype for the peers. WORKLOADS maps names to functions that make one;
they are made only when they are run, since some are large.
"""
import dataclasses
import functools
import typing

import numpy as np
import torch
from torch.nn import functional

import models


@dataclasses.dataclass
class Workload:
    name: str
    graph: dict  # ge-graph/1, weights in NAME.safetensors
    weights: dict  # numpy, by name
    inputs: dict  # numpy, by name
    function: typing.Callable  # {name: tensor} -> tensor
    moved: int = 0  # bytes that must be read and written at least
    flops: float = 0  # of its products
    goal: str = ""  # "peer 1.02": ge at most 1.02 x the best peer; "floor 1.11": of the floor; "launch 3": us a launch
    limit: float = 2e-3  # relative error beside float32
    cold: bool = False  # all caches are emptied before each run, ge's and the peers'
    jax: typing.Callable | None = None  # a twin of `function` on jax arrays
    compiled: bool = True  # torch.compile is one of the peers


def of(name, dtype, inputs, weights, nodes, output, function, **more):
    """A Workload from nodes (op, inputs, output) or (op, inputs, output, attributes); inputs and weights are numpy."""
    kind = lambda value: {"dtype": str(value.dtype), "shape": list(value.shape)}
    graph = {
        "format": "ge-graph/1", "name": name, "opset": 21,
        "inputs": [{"name": key, **kind(value)} for key, value in inputs.items()],
        "outputs": [output],
        "initializers": [{"name": key, **kind(value), "data": {"file": "weights.safetensors", "tensor": key}} for key, value in weights.items()],
        "nodes": [{"name": f"n{i}", "op": node[0], "inputs": list(node[1]), "outputs": [node[2]], **({"attributes": node[3]} if len(node) > 3 else {})}
                  for i, node in enumerate(nodes)],
    }
    return Workload(name, graph, weights, inputs, function, **more)


def noise(seed, *shape, dtype=np.float32, scale=1.0):
    return (np.random.default_rng(seed).standard_normal(shape, np.float32) * np.float32(scale)).astype(dtype)


def chain():
    """Twelve float32 operators on two tensors of 64M elements: one pass over memory at best."""
    inputs = {name: noise(11 + i, 64 << 20) for i, name in enumerate("ab")}
    constants = {key: np.full((), value, np.float32) for key, value in {"half": 0.5, "one": 1.0, "low": -0.75, "high": 0.75}.items()}
    nodes = [
        ("Add", ("a", "b"), "v1"), ("Mul", ("v1", "half"), "v2"), ("Sub", ("v2", "a"), "v3"), ("Abs", ("v3",), "v4"),
        ("Sqrt", ("v4",), "v5"), ("Mul", ("v5", "b"), "v6"), ("Add", ("v6", "one"), "v7"), ("Sigmoid", ("v7",), "v8"),
        ("Mul", ("v8", "a"), "v9"), ("Max", ("v9", "low"), "v10"), ("Min", ("v10", "high"), "v11"), ("Neg", ("v11",), "y"),
    ]

    def function(t):
        a, b = t["a"], t["b"]
        return -torch.clamp(torch.sigmoid(torch.sqrt(torch.abs((a + b) * 0.5 - a)) * b + 1.0) * a, -0.75, 0.75)

    def jax(t, jnp):
        a, b = t["a"], t["b"]
        return -jnp.clip(a / (1.0 + jnp.exp(-(jnp.sqrt(jnp.abs((a + b) * 0.5 - a)) * b + 1.0))), -0.75, 0.75)

    return of("chain", "float32", inputs, constants, nodes, "y", function, moved=3 * inputs["a"].nbytes, goal="peer 1.02", limit=1e-6, jax=jax)


def softmax(rows=32768, columns=4096, name="softmax", **more):
    x = noise(21, rows, columns, dtype=np.float16, scale=8.0)
    nodes = [("Div", ("x", "eight"), "s"), ("Softmax", ("s",), "y", {"axis": -1})]

    def jax(t, jnp):
        import jax as j
        return j.nn.softmax(t["x"] / 8, axis=-1)

    return of(name, "float16", {"x": x}, {"eight": np.full((), 8, np.float16)}, nodes, "y", lambda t: functional.softmax(t["x"] / 8, -1),
              moved=2 * x.nbytes, jax=jax, **{"goal": "peer 1.02", **more})


def norm(rows=16384, columns=4096, name="norm", **more):
    """layer_norm(gelu(x + bias) + residual)."""
    inputs = {"x": noise(31, rows, columns, dtype=np.float16), "r": noise(32, rows, columns, dtype=np.float16)}
    weights = {"bias": noise(33, columns, dtype=np.float16), "scale": noise(34, columns, dtype=np.float16), "shift": noise(35, columns, dtype=np.float16)}
    nodes = [("Add", ("x", "bias"), "b"), ("Gelu", ("b",), "g"), ("Add", ("g", "r"), "s"),
             ("LayerNormalization", ("s", "scale", "shift"), "y", {"axis": -1, "epsilon": 1e-5})]

    def function(t):
        return functional.layer_norm(functional.gelu(t["x"] + t["bias"]) + t["r"], (columns,), t["scale"], t["shift"], 1e-5)

    def jax(t, jnp):
        import jax as j
        v = j.nn.gelu(t["x"] + t["bias"], approximate=False) + t["r"]
        v = v.astype(jnp.float32)
        centred = v - v.mean(-1, keepdims=True)
        y = centred * j.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5)
        return (y * t["scale"] + t["shift"]).astype(jnp.float16)

    return of(name, "float16", inputs, weights, nodes, "y", function, moved=3 * inputs["x"].nbytes, jax=jax, **{"goal": "floor 1.11", **more})


def rows_of(make, columns):
    """The same over rows of `columns`, about 64M elements in all; only the floor is looked at."""
    kind = "softmax" if make is softmax else "norm"
    return lambda: make((64 << 20) // columns, columns, f"{kind}_{columns}", goal="floor 1.11", compiled=False, limit=4e-3)


def small():
    """48 dependent launches on 64 x 64: softmax along one axis and the other by turns, which no loop can join; x keeps them apart."""
    x = noise(41, 64, 64)
    nodes = []
    for i in range(48):
        nodes += [("Softmax", (f"v{i}" if i else "x",), f"s{i}", {"axis": i % 2}), ("Mul", (f"s{i}", "many"), f"m{i}"), ("Add", (f"m{i}", "x"), f"v{i + 1}")]

    def function(t):
        v = t["x"]
        for i in range(48):
            v = functional.softmax(v, i % 2) * 64 + t["x"]
        return v

    return of("small", "float32", {"x": x}, {"many": np.full((), 64, np.float32)}, nodes, "v48", function, moved=2 * x.nbytes, goal="launch 3", limit=1e-5, compiled=False)


def mlp(batch, goal, cold=False):
    sizes = (1024, 4096, 4096, 1024)
    weights, nodes, value, flops = {}, [], "x", 0.0
    for i, (rows, columns) in enumerate(zip(sizes, sizes[1:])):
        weights[f"w{i}"] = noise(50 + i, rows, columns, dtype=np.float16, scale=rows ** -0.5)
        weights[f"b{i}"] = noise(60 + i, columns, dtype=np.float16, scale=0.1)
        nodes += [("MatMul", (value, f"w{i}"), f"m{i}"), ("Add", (f"m{i}", f"b{i}"), f"s{i}")]
        flops += 2.0 * batch * rows * columns
        value = f"s{i}"
        if i < 2:
            nodes.append(("Gelu", (value,), f"g{i}"))
            value = f"g{i}"
    x = noise(70, batch, sizes[0], dtype=np.float16)

    def function(t):
        h = t["x"]
        for i in range(3):
            if f"l{i}" not in t:  # nn.Linear keeps [out, in]; the same numbers, in the layout PyTorch likes best
                t[f"l{i}"] = t[f"w{i}"].T.contiguous()
            h = functional.linear(h, t[f"l{i}"], t[f"b{i}"])
            h = functional.gelu(h) if i < 2 else h
        return h

    moved = sum(value.nbytes for value in weights.values()) + x.nbytes + batch * sizes[-1] * 2
    return of(f"mlp_{batch}{'_cold' if cold else ''}", "float16", {"x": x}, weights, nodes, value, function, moved=moved, flops=flops, goal=goal, cold=cold)


@functools.lru_cache(maxsize=None)
def made_model(name, dtype):
    """(module, graph, weights, function): once for all sizes, since drawing the weights takes longer than running them."""
    module = models.MODELS[name]()
    graph, weights = module.graph(dtype)
    by_kind = {}

    def function(t):
        value = next(iter(t.values()))
        kind = t["__kind__"]
        if kind not in by_kind:
            by_kind[kind] = models.rounded(module, dtype).to(value.device).to(kind)
        return by_kind[kind](value)

    return module, graph, weights, function


def model(name, dtype, batch, sequence=None, flops=0.0, **more):
    """A module of models.py; the module is the function, so that peers see what a user would write."""
    module, graph, weights, function = made_model(name, dtype)
    inputs = {key: value.astype(dtype) if value.dtype == np.float32 else value for key, value in module.inputs(batch, sequence).items()}
    read = sum(value.nbytes for key, value in weights.items() if key not in ("tokens", "positions"))  # of tables only some rows
    return Workload(f"{name}_{models.size_name(inputs)}_{'fp16' if dtype == 'float16' else 'fp32'}", graph, weights, inputs, function,
                    moved=read, flops=flops, limit=3e-2 if dtype == "float16" else 2e-4, **more)


BERT_FLOPS = lambda batch, sequence: 12.0 * batch * sequence * (2 * 768 * 768 * 12 + 4 * sequence * 768)
GPT2_FLOPS = lambda batch, sequence: 12.0 * batch * sequence * (2 * 768 * 768 * 12 + 2 * sequence * 768)  # half of the scores are masked
VIT_FLOPS = lambda batch: BERT_FLOPS(batch, 197) + 2.0 * batch * 196 * 768 * 768
LLAMA_FLOPS = lambda batch, sequence: 16.0 * batch * sequence * (2 * 2048 * (2048 + 1024 + 2048 + 3 * 8192) + 2 * sequence * 2048)
RESNET_FLOPS = lambda batch: 8.2e9 * batch

WORKLOADS = {
    "chain": chain, "softmax": softmax, "norm": norm,
    **{f"softmax_{n}": rows_of(softmax, n) for n in (64, 100, 257, 1000, 1024, 2049, 5000, 8192, 16384)},
    **{f"norm_{n}": rows_of(norm, n) for n in (64, 100, 257, 768, 1024, 2049, 5000, 8192, 16384)},
    "small": small,
    "mlp_64": lambda: mlp(64, "peer 1.0"), "mlp_64_cold": lambda: mlp(64, "peer 1.0", cold=True), "mlp_4096": lambda: mlp(4096, "peer 1.05"),
    **{f"bert_b{b}_s{s}_{short}": (lambda b=b, s=s, d=d: model("bert_base", d, b, s, BERT_FLOPS(b, s)))
       for b, s in ((1, 128), (8, 128), (32, 512)) for short, d in (("fp16", "float16"), ("fp32", "float32"))},
    **{f"resnet50_b{b}_{short}": (lambda b=b, d=d: model("resnet50", d, b, None, RESNET_FLOPS(b)))
       for b in (1, 32) for short, d in (("fp16", "float16"), ("fp32", "float32"))},
    "gpt2_b1_s512_fp16": lambda: model("gpt2", "float16", 1, 512, GPT2_FLOPS(1, 512)),
    "vit_b8_fp16": lambda: model("vit", "float16", 8, None, VIT_FLOPS(8)),
    **{f"llama_b1_s{s}_fp16": (lambda s=s: model("llama", "float16", 1, s, LLAMA_FLOPS(1, s))) for s in (1, 512)},
}
GROUPS = {
    "quick": ["chain", "mlp_64"],
    "loops": ["chain", "softmax", "norm", "small"],
    "rows": [name for name in WORKLOADS if name.startswith(("softmax_", "norm_"))],
    "mlp": ["mlp_64", "mlp_64_cold", "mlp_4096"],
    "transformers": [*(f"bert_b{b}_s{s}_fp16" for b, s in ((1, 128), (8, 128), (32, 512))), "gpt2_b1_s512_fp16", "llama_b1_s1_fp16", "llama_b1_s512_fp16", "vit_b8_fp16"],
    "models": [name for name in WORKLOADS if name.startswith(("bert_b1_", "bert_b8_", "resnet50"))],
}
