#!/usr/bin/env python3
"""Times ge beside PyTorch on one GPU, in one run, on the same random data.

    python3 test/bench/peers.py --bin build/bin [--out FOLDER] [--only chain,mlp]

chain: twelve float32 operators on two tensors of 64M elements, one pass over memory at best. The peer is
       torch.compile; the ceiling is a device-to-device copy measured here.
mlp:   1024-4096-4096-1024, gelu (erf), batch 64, fp16. The peer is eager PyTorch captured in a CUDA graph.

Each plan's result is compared with float32 PyTorch before it is timed. Times are medians on the device: CUDA events
around each replay for PyTorch, `ge-run --bench --json` for ge. Ratios hold from day to day; absolute times only roughly.
Exits with 1 when a result is wrong or a goal is missed.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy as np
import torch

ELEMENTS = 64 << 20
WARMUP, RUNS = 10, 60


def timed_us(call):
    """Median device time of `call`, in microseconds; the queue is empty before each run."""
    for _ in range(WARMUP):
        call()
    times = []
    for _ in range(RUNS):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        start.record()
        call()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) * 1e3)
    return statistics.median(times)


def in_cuda_graph(call):
    """`call` recorded into a CUDA graph; returns what replays it."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            call()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    return graph.replay


def copy_gb_per_s():
    """Bytes read and written per second by a large device-to-device copy."""
    source = torch.rand(ELEMENTS * 2, device="cuda")
    target = torch.empty_like(source)
    return 2 * source.nbytes / timed_us(lambda: target.copy_(source)) / 1e3


class Ge:
    """Writes a model, compiles it, runs it on given inputs and times it."""

    def __init__(self, bin_folder, folder):
        self.bin, self.folder = pathlib.Path(bin_folder), pathlib.Path(folder)

    def tool(self, name, *arguments):
        done = subprocess.run([str(self.bin / name), *map(str, arguments)], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{name} {' '.join(map(str, arguments))}\nexit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def compile(self, name, inputs, weights, nodes, output):
        """Writes NAME.json and NAME.safetensors and compiles them for this GPU. Nodes are (op, inputs, output)."""
        from safetensors.numpy import save_file
        save_file(weights, self.folder / f"{name}.safetensors")
        kind = lambda value: {"dtype": str(value.dtype), "shape": list(value.shape)}
        graph = {
            "format": "ge-graph/1", "name": name, "opset": 21,
            "inputs": [{"name": key, **kind(value)} for key, value in inputs.items()],
            "outputs": [output],
            "initializers": [{"name": key, **kind(value), "data": {"file": f"{name}.safetensors", "tensor": key}} for key, value in weights.items()],
            "nodes": [{"name": f"n{i}", "op": op, "inputs": list(used), "outputs": [out]} for i, (op, used, out) in enumerate(nodes)],
        }
        (self.folder / f"{name}.json").write_text(json.dumps(graph))
        for key, value in inputs.items():
            np.save(self.folder / f"{name}.{key}.npy", value)
        self.arguments = [f"{key}={self.folder / f'{name}.{key}.npy'}" for key in inputs]
        self.plan, self.output = self.folder / f"{name}.bin", output
        self.tool("ge-compile", self.folder / f"{name}.json", "-o", self.plan)
        return self

    def flags(self):
        return [self.plan, "--device", "cuda", *(word for a in self.arguments for word in ("-i", a))]

    def result(self):
        path = self.folder / "result.npy"
        self.tool("ge-run", *self.flags(), "-o", f"{self.output}={path}")
        return np.load(path)

    def time_us(self):
        report = json.loads(self.tool("ge-run", *self.flags(), "--bench", "--json", "--warmup", WARMUP, "--iterations", RUNS))
        return report["bench"]["device_us"]["median"]


def relative_error(got, reference):
    got, reference = got.astype(np.float64), reference.astype(np.float64)
    error = np.linalg.norm(got - reference) / np.linalg.norm(reference)
    return error if np.isfinite(error) else float("inf")


CHAIN = [
    ("Add", ("a", "b"), "v1"), ("Mul", ("v1", "half"), "v2"), ("Sub", ("v2", "a"), "v3"), ("Abs", ("v3",), "v4"),
    ("Sqrt", ("v4",), "v5"), ("Mul", ("v5", "b"), "v6"), ("Add", ("v6", "one"), "v7"), ("Sigmoid", ("v7",), "v8"),
    ("Mul", ("v8", "a"), "v9"), ("Max", ("v9", "low"), "v10"), ("Min", ("v10", "high"), "v11"), ("Neg", ("v11",), "y"),
]
CHAIN_CONSTANTS = {"half": 0.5, "one": 1.0, "low": -0.75, "high": 0.75}


def chain(a, b):
    return -torch.clamp(torch.sigmoid(torch.sqrt(torch.abs((a + b) * 0.5 - a)) * b + 1.0) * a, -0.75, 0.75)


def bench_chain(ge, copy_speed):
    random = np.random.default_rng(11)
    inputs = {name: random.standard_normal(ELEMENTS, np.float32) for name in "ab"}
    a, b = (torch.from_numpy(value).cuda() for value in inputs.values())
    ge.compile("chain", inputs, {k: np.full((), v, np.float32) for k, v in CHAIN_CONSTANTS.items()}, CHAIN, "y")
    error = relative_error(ge.result(), chain(a, b).cpu().numpy())
    compiled = torch.compile(chain)
    moved = 3 * a.nbytes
    ours, theirs = ge.time_us(), timed_us(in_cuda_graph(lambda: compiled(a, b)))
    share = moved / ours / 1e3 / copy_speed
    return {"workload": "chain", "error": error, "limit": 1e-6, "ge_us": ours, "peer_us": theirs, "peer": "torch.compile",
            "ge_gb_per_s": moved / ours / 1e3, "share_of_copy": share, "goal": share >= 0.95, "goal_text": ">= 95% of copy speed"}


def bench_mlp(ge, _copy_speed):
    sizes, random = (1024, 4096, 4096, 1024), np.random.default_rng(12)
    x = random.standard_normal((64, sizes[0])).astype(np.float16)
    weights, nodes, value = {}, [], "x"
    for i, (rows, columns) in enumerate(zip(sizes, sizes[1:])):
        weights[f"w{i}"] = (random.standard_normal((rows, columns)) * rows ** -0.5).astype(np.float16)
        weights[f"b{i}"] = (random.standard_normal(columns) * 0.1).astype(np.float16)
        nodes += [("MatMul", (value, f"w{i}"), f"m{i}"), ("Add", (f"m{i}", f"b{i}"), f"s{i}")]
        value = f"s{i}"
        if i < 2:
            nodes.append(("Gelu", (value,), f"g{i}"))
            value = f"g{i}"
    ge.compile("mlp", {"x": x}, weights, nodes, value)
    # nn.Linear keeps [out, in]; the same numbers, in the layout PyTorch likes best.
    layers = [(torch.from_numpy(weights[f"w{i}"]).cuda().T.contiguous(), torch.from_numpy(weights[f"b{i}"]).cuda()) for i in range(3)]
    device_x = torch.from_numpy(x).cuda()

    def forward(kind):  # .to() of the kind it has already is no work
        h = device_x.to(kind)
        for i, (weight, bias) in enumerate(layers):
            h = torch.nn.functional.linear(h, weight.to(kind), bias.to(kind))
            h = torch.nn.functional.gelu(h) if i < 2 else h
        return h

    with torch.no_grad():
        error = relative_error(ge.result(), forward(torch.float32).cpu().numpy())
        ours, theirs = ge.time_us(), timed_us(in_cuda_graph(lambda: forward(torch.float16)))
    return {"workload": "mlp", "error": error, "limit": 2e-3, "ge_us": ours, "peer_us": theirs, "peer": "eager in a CUDA graph",
            "goal": ours <= theirs, "goal_text": "no slower than the peer"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--out", help="keeps peers.json there")
    parser.add_argument("--only", default="chain,mlp")
    options = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    copy_speed = copy_gb_per_s()
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        rows = [globals()[f"bench_{name}"](Ge(options.bin, folder), copy_speed) for name in options.only.split(",")]
    if options.out:
        report = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "copy_gb_per_s": copy_speed, "rows": rows}
        pathlib.Path(options.out, "peers.json").write_text(json.dumps(report, indent=1) + "\n")
    print(f"workload   ge us    peer us  ratio  of copy  error    goal    ({torch.cuda.get_device_name()}, copy {copy_speed:.0f} GB/s)")
    ok = True
    for row in rows:
        right = row["error"] <= row["limit"]
        ok = ok and right and row["goal"]
        share = f"{row['share_of_copy']:.1%}" if "share_of_copy" in row else "-"
        print(f"{row['workload']:<10} {row['ge_us']:<8.1f} {row['peer_us']:<8.1f} {row['ge_us'] / row['peer_us']:<6.3f} {share:<8} "
              f"{row['error']:<8.1e} {'met' if row['goal'] else 'MISSED'}: {row['goal_text']}{'' if right else '; RESULT WRONG'}; peer: {row['peer']}")
    sys.exit(0 if ok else 1)


if __name__ == "__main__":
    main()
