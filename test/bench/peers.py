#!/usr/bin/env python3
"""Times ge beside PyTorch and JAX on one GPU, in one run, on the same random data.

    python3 test/bench/peers.py --bin build/bin [--out FOLDER] [--only quick,softmax,rows] [--peers eager,compile,jax]

--only names workloads (workloads.py) or groups of them: quick loops rows mlp models transformers. Each plan's result is compared with float32
PyTorch before it is timed. Peers: eager PyTorch and torch.compile, each replayed from a CUDA graph; JAX jit for the small ones
(calls queued back to back, which flatters it). Times are medians on the device: CUDA events around each replay for PyTorch,
`ge-run --bench --json` for ge. The floor is the larger of the bytes that must move, at this run's copy speed, and the products'
FLOPs, at the speed of an 8192^3 product here. Ratios hold from day to day; absolute times only roughly.
Exits with 1 when a result is wrong; with --strict also when a goal is missed.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
import numpy as np
import torch

from workloads import GROUPS, WORKLOADS

WARMUP, RUNS = 10, 60
KINDS = {"float16": torch.float16, "float32": torch.float32}


def timed_us(call, sweep=None):
    """Median device time of `call`, in microseconds; the queue is empty before each run. `sweep` empties caches before it."""
    for _ in range(WARMUP):
        call()
    times = []
    for _ in range(RUNS):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        if sweep:
            sweep()
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


class Speeds:
    """What this GPU does at best: bytes per us of a copy, FLOPs per us of a product, by dtype."""

    def __init__(self):
        source = torch.rand(128 << 20, device="cuda")
        target = torch.empty_like(source)
        self.copy = 2 * source.nbytes / timed_us(lambda: target.copy_(source))
        self.product = {}
        for kind in KINDS.values():
            a, b = (torch.randn(8192 if kind is torch.float16 else 4096, 8192, device="cuda").to(kind) for _ in range(2))
            self.product[kind] = 2.0 * a.shape[0] * 8192 * 8192 / timed_us(lambda: a @ b.T)

    def floor_us(self, workload, kind):
        return max(workload.moved / self.copy, workload.flops / self.product[kind])


class Ge:
    """Writes a workload, compiles it, runs it on its inputs and times it."""

    def __init__(self, bin_folder, folder, workload):
        from safetensors.numpy import save_file
        self.bin, self.folder, self.workload = pathlib.Path(bin_folder), pathlib.Path(folder), workload
        if workload.weights:
            save_file(workload.weights, self.folder / "weights.safetensors")
        (self.folder / "graph.json").write_text(json.dumps(workload.graph))
        self.plan = self.folder / "plan.bin"
        self.feeds = []
        for key, value in workload.inputs.items():
            np.save(self.folder / f"{key}.npy", value)
            self.feeds += ["-i", f"{key}={self.folder / f'{key}.npy'}"]
        began = time.monotonic()
        self.tool("ge-compile", self.folder / "graph.json", "-o", self.plan, *self.pins())
        self.compile_s = time.monotonic() - began

    def pins(self):
        """The graph's symbols at the sizes of the inputs: the peers' recorded graphs hold for these sizes alone, too."""
        symbols = {}
        for entry in self.workload.graph["inputs"]:
            for size, given in zip(entry["shape"], self.workload.inputs[entry["name"]].shape):
                if isinstance(size, str):
                    symbols[size] = given
        return [word for name, size in symbols.items() for word in ("--dim", f"{name}={size}")]

    def tool(self, name, *arguments):
        done = subprocess.run([str(self.bin / name), *map(str, arguments)], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{name} {' '.join(map(str, arguments))}\nexit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def run(self, *arguments):
        return self.tool("ge-run", self.plan, "--device", "cuda", *self.feeds, *arguments)

    def result(self):
        path = self.folder / "result.npy"
        self.run("-o", f"{self.workload.graph['outputs'][0]}={path}")
        return np.load(path)

    def time_us(self):
        report = json.loads(self.run("--bench", "--json", "--warmup", WARMUP, "--iterations", RUNS, *(["--cold"] if self.workload.cold else [])))
        return report["bench"]["device_us"]["median"]

    def launches(self):
        return len(json.loads(self.run("--profile", "--json"))["profile"]["launches"])


def relative_error(got, reference):
    got, reference = got.astype(np.float64), reference.astype(np.float64)
    error = np.linalg.norm(got - reference) / np.linalg.norm(reference)
    return error if np.isfinite(error) else float("inf")


def on_gpu(workload, kind):
    values = {**workload.inputs, **workload.weights} if workload.function.__code__.co_freevars.count("by_kind") == 0 else workload.inputs
    tensors = {key: torch.from_numpy(value).cuda() for key, value in values.items()}
    tensors = {key: value.to(kind) if value.is_floating_point() else value for key, value in tensors.items()}
    return {**tensors, "__kind__": kind}


def jax_us(workload):
    import jax
    import jax.numpy as jnp
    tensors = {key: jnp.asarray(value) for key, value in {**workload.inputs, **workload.weights}.items()}
    call = jax.jit(lambda t: workload.jax(t, jnp))
    call(tensors).block_until_ready()
    times = []
    for _ in range(5):
        began = time.monotonic()
        results = [call(tensors) for _ in range(20)]
        results[-1].block_until_ready()
        times.append((time.monotonic() - began) / 20 * 1e6)
        del results
    return statistics.median(times)


def peer_times(workload, kind, peers):
    tensors = on_gpu(workload, kind)
    sweep = None
    if workload.cold:
        other = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
        sweep = other.zero_
    times = {}
    workload.function(tensors)
    if "eager" in peers:
        times["eager"] = timed_us(in_cuda_graph(lambda: workload.function(tensors)), sweep)
    if "compile" in peers and workload.compiled:
        compiled = torch.compile(workload.function)
        times["torch.compile"] = timed_us(in_cuda_graph(lambda: compiled(tensors)), sweep)
        torch._dynamo.reset()
    if "jax" in peers and workload.jax:
        times["jax"] = jax_us(workload)
    return times


def goal_met(row):
    kind, _, bound = row["goal"].partition(" ")
    if not bound:
        return True
    of = {"peer": lambda: row["ge_us"] / min(row["peers"].values(), default=float("inf")), "floor": lambda: row["ge_us"] / row["floor_us"],
          "launch": lambda: row["ge_us"] / row["launches"]}[kind]()
    return of <= float(bound)


def bench(name, options, speeds):
    workload = WORKLOADS[name]()
    kind = KINDS[next((entry["dtype"] for entry in workload.graph["inputs"] if entry["dtype"] in KINDS),
                      next((entry["dtype"] for entry in workload.graph["initializers"] if entry["dtype"] in KINDS), "float32"))]
    with tempfile.TemporaryDirectory() as folder:
        ge = Ge(options.bin, folder, workload)
        reference = workload.function(on_gpu(workload, torch.float32)).float().cpu().numpy()
        error = relative_error(ge.result(), reference)
        row = {"workload": name, "dtype": str(kind).removeprefix("torch."), "error": error, "limit": workload.limit, "ge_us": ge.time_us(), "launches": ge.launches(),
               "compile_s": ge.compile_s, "floor_us": speeds.floor_us(workload, kind), "goal": workload.goal}
    row["peers"] = peer_times(workload, kind, options.peers.split(","))
    row["right"], row["met"] = bool(error <= workload.limit), goal_met(row)
    return row


def line(row):
    peer = min(row["peers"], key=row["peers"].get, default="-")
    best = row["peers"].get(peer, float("nan"))
    goal = "" if not row["goal"] else f"{'met' if row['met'] else 'MISSED'}: {row['goal']}"
    return (f"{row['workload']:<20} {row['floor_us']:>8.1f} {best:>9.1f} {row['ge_us']:>9.1f} {row['ge_us'] / best:>8.3f} {row['ge_us'] / row['floor_us']:>8.2f} "
            f"{row['launches']:>5} {row['error']:>8.1e} {'' if row['right'] else 'WRONG'} {peer:<14} {goal}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--out", help="keeps peers.json there")
    parser.add_argument("--only", default="quick")
    parser.add_argument("--peers", default="eager,compile,jax")
    parser.add_argument("--strict", action="store_true", help="a missed goal is a failure too")
    options = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    names = [name for word in options.only.split(",") for name in GROUPS.get(word, [word])]
    rows = []
    with torch.no_grad():
        speeds = Speeds()
        print(f"{torch.cuda.get_device_name()}, copy {speeds.copy / 1e3:.0f} GB/s, products {speeds.product[torch.float16] / 1e6:.0f} (fp16) and "
              f"{speeds.product[torch.float32] / 1e6:.0f} (fp32) TFLOP/s, torch {torch.__version__}")
        print(f"{'workload':<20} {'floor us':>8} {'peer us':>9} {'ge us':>9} {'ge/peer':>8} {'ge/floor':>8} {'steps':>5} {'error':>8}  peer           goal")
        for name in names:
            try:
                rows.append(bench(name, options, speeds))
                print(line(rows[-1]), flush=True)
            except Exception as error:  # one row must not cost the others
                print(f"{name:<20} FAILED: {error}", flush=True)
                rows.append({"workload": name, "right": False, "met": False, "failed": str(error)})
            torch.cuda.empty_cache()
            if options.out:
                report = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "copy_gb_per_s": speeds.copy / 1e3, "rows": rows}
                pathlib.Path(options.out).mkdir(parents=True, exist_ok=True)
                pathlib.Path(options.out, "peers.json").write_text(json.dumps(report, indent=1) + "\n")
    sys.exit(0 if all(row["right"] and (row["met"] or not options.strict) for row in rows) else 1)


if __name__ == "__main__":
    main()
