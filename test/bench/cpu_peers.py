#!/usr/bin/env python3
"""Times ge beside ONNX Runtime on the CPU: BERT-base (batch 1, 128 tokens) and ResNet-50 (batch 1), float32.

    python3 test/bench/cpu_peers.py --bin build/bin [--threads 2] [--rounds 9] [--models out/models]

The models are those of models.py, written where they are missing. Both answers are compared with float32 PyTorch first. A round
runs one and then the other, so that what else the machine does meets both; a row gives the least and the median time of
each, the ratio of the least times, and the median of the rounds' ratios. Exits with 1 when an answer is wrong or a ratio of least
times is over 1.5. Needs torch, onnx and onnxruntime; GE_ONEDNN=off times ge's own kernels alone.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples"))
from graph_json import NUMPY, initializer_array  # noqa: E402

import models  # noqa: E402

GOAL, CALLS = 1.5, 5  # ratio; runs a round


def onnx_bytes(path):
    """The graph.json at `path` as an ONNX model, made without ge."""
    from onnx import ValueInfoProto, helper, numpy_helper, shape_inference
    from safetensors.numpy import load_file
    graph, weights = json.loads(path.read_text()), load_file(path.parent / "weights.safetensors")
    kind = lambda dtype: helper.np_dtype_to_tensor_dtype(np.dtype(NUMPY[dtype]))
    values = lambda e: weights[e["data"]["tensor"]] if "tensor" in e["data"] else initializer_array(path.parent, e)
    model = helper.make_model(
        helper.make_graph(
            [helper.make_node(n["op"], n["inputs"], n["outputs"], name=n["name"], **n.get("attributes", {})) for n in graph["nodes"]],
            graph["name"], [helper.make_tensor_value_info(v["name"], kind(v["dtype"]), v["shape"]) for v in graph["inputs"]],
            [ValueInfoProto(name=name) for name in graph["outputs"]],
            [numpy_helper.from_array(values(e), e["name"]) for e in graph["initializers"]]),
        opset_imports=[helper.make_opsetid("", graph["opset"])], ir_version=10)
    return shape_inference.infer_shapes(model).SerializeToString()


def tool(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}\nexit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def time_model(name, options):
    """A row of the table."""
    import onnxruntime
    folder = options.models / f"{name}_float32"
    input_name, size = ("ids", "b1_s128") if name == "bert_base" else ("x", "b1")
    feed = folder / f"{input_name}_{size}.npy"
    if not feed.exists():
        models.write(models.MODELS[name](), options.models)
    plan, answer = options.models / f"{name}.bin", folder / f"y_{size}.npy"
    output = json.loads((folder / "graph.json").read_text())["outputs"][0]
    tool(options.bin / "ge-compile", folder / "graph.json", "-o", plan, "-t", "cpu")
    ge = [options.bin / "ge-run", plan, "-d", "cpu", "--threads", options.threads, "-i", f"{input_name}={feed}"]
    tool(*ge, "--expect", f"{output}={answer}", "--rtol", "1e-4", "--atol", "1e-4")
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = options.threads
    settings.add_session_config_entry("session.intra_op.allow_spinning", "1")
    session = onnxruntime.InferenceSession(onnx_bytes(folder / "graph.json"), settings, providers=["CPUExecutionProvider"])
    feeds = {input_name: np.load(feed)}
    np.testing.assert_allclose(session.run(None, feeds)[0], np.load(answer), rtol=1e-4, atol=1e-4)
    ours, theirs = [], []
    for _ in range(options.rounds):
        report = json.loads(tool(*ge, "--bench", "--json", "--warmup", 2, "--iterations", CALLS))["bench"]["host_us"]
        ours.append(report["min"] / 1e3)
        times = []
        for _ in range(CALLS + 2):
            began = time.perf_counter()
            session.run(None, feeds)
            times.append((time.perf_counter() - began) * 1e3)
        theirs.append(min(times[2:]))
    return ours, theirs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/bin"))
    parser.add_argument("--models", type=pathlib.Path, default=pathlib.Path("out/models"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="bert_base,resnet50")
    options = parser.parse_args()
    library = tool(options.bin / "ge-run", "--version").strip().splitlines()[-1]
    print(f"{options.threads} threads, ms, best of {CALLS} runs in each of {options.rounds} rounds; {library}")
    print("model       ge least  median  ONNX Runtime least  median  least/least  median of rounds")
    good = True
    for name in options.only.split(","):
        ours, theirs = time_model(name, options)
        ratio = min(ours) / min(theirs)
        good = good and ratio <= GOAL
        rounds = statistics.median(a / b for a, b in zip(ours, theirs))
        print(f"{name:<11} {min(ours):<9.1f} {statistics.median(ours):<7.1f} {min(theirs):<19.1f} {statistics.median(theirs):<7.1f} "
              f"{ratio:<12.2f} {rounds:<6.2f} {'met' if ratio <= GOAL else 'MISSED'}: at most {GOAL}")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
