#!/usr/bin/env python3
"""A second, independent answer for every operator.

Random cases (and, with --node-tests, the ONNX backend node tests) run through ge-compile and ge-run at -O2 and -O0;
the answers are compared with ONNX Runtime, with onnx.reference where that has no kernel, with the expected outputs
of the node tests, or with numpy where both are known to be wrong (second_source_numpy.py). Many cases share one
graph, so few processes start. Not part of ctest.

  second_source.py --bin build/bin                                     random cases
  second_source.py --bin build/bin --node-tests DIR                    DIR: .../onnx/backend/test/data/node
  second_source.py --bin build/bin --symbolic                          dims of inputs are names
  second_source.py --bin build/bin --only Pow,Mod --seed 7 -v
  second_source.py --bin build/bin --only LpPool --keep test/golden/onnx_values     a few cases as graphs for ctest

Needs Python with numpy, ml_dtypes, onnx and onnxruntime. Exit 1 when an answer differs. The programs run on the CPU.
"""
import argparse
import base64
import collections
import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np
import onnx
import onnx.reference
import onnxruntime as ort
from onnx import helper, numpy_helper

from second_source_numpy import OWN

ST = {"float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16", "float8_e4m3fn": "F8_E4M3",
      "float8_e5m2": "F8_E5M2", "int64": "I64", "int32": "I32", "int16": "I16", "int8": "I8", "uint64": "U64",
      "uint32": "U32", "uint16": "U16", "uint8": "U8", "bool": "BOOL"}
FROM_ST = {"BF16": ml_dtypes.bfloat16, "F8_E4M3": ml_dtypes.float8_e4m3fn, "F8_E5M2": ml_dtypes.float8_e5m2}
FROM_ST.update({ST[k]: np.dtype(k) for k in ST if ST[k] not in FROM_ST})
GE_NAME = {"float8_e4m3fn": "float8e4m3fn", "float8_e5m2": "float8e5m2"}
TOLERANCE = {"float64": (1e-9, 1e-12), "float32": (1e-4, 1e-5), "float16": (4e-3, 2e-3), "bfloat16": (2e-2, 1e-2),
             "float8_e4m3fn": (0, 0), "float8_e5m2": (0, 0)}
# safetensors files have no 4-bit types: such values travel as 8-bit ones, with a Cast beside the node.
BYTES = {"int4": np.int8, "uint4": np.uint8}
# Inputs that ge wants as constants: operator -> positions.
CONSTANT_INPUTS = {"Reshape": [1], "Expand": [1], "Squeeze": [1], "Unsqueeze": [1], "Slice": [1, 2, 3, 4], "Pad": [1, 3],
                   "Tile": [1], "Split": [1], "TopK": [1], "CumSum": [1], "OneHot": [1], "ConstantOfShape": [0], "Range": [0, 1, 2], "Trilu": [1], "Dropout": [1, 2], "Resize": [1, 2, 3],
                   "ReduceSum": [1], "ReduceMean": [1], "ReduceMax": [1], "ReduceMin": [1], "ReduceProd": [1],
                   "ReduceL1": [1], "ReduceL2": [1], "ReduceLogSum": [1], "ReduceLogSumExp": [1],
                   "ReduceSumSquare": [1], "com.microsoft.GroupQueryAttention": [6],
                   "CenterCropPad": [1], "CumProd": [1], "Col2Im": [1, 2], "MaxUnpool": [2], "MelWeightMatrix": [0, 1, 2, 3, 4],
                   "HannWindow": [0], "HammingWindow": [0], "BlackmanWindow": [0], "AffineGrid": [1], "DFT": [1, 2], "STFT": [1, 3],
                   "Upsample": [1]}


def ge_name(dtype):
    return GE_NAME.get(np.dtype(dtype).name, np.dtype(dtype).name)


def domain_and_type(op):
    """Cases of another domain than ONNX's own name it: "com.microsoft.FastGelu"."""
    domain, _, name = op.rpartition(".")
    return domain, name


def schema_of(op, opset):
    """None where onnx knows no such operator."""
    domain, name = domain_and_type(op)
    return onnx.defs.get_schema(name, opset) if not domain and onnx.defs.has(name) else None


class Case:
    """One operator call; inputs are arrays or None (absent); outputs are the wanted positions."""

    def __init__(self, op, opset, inputs, attributes=None, outputs=1, expected=None, label="", source=""):
        self.op, self.opset, self.inputs = op, opset, inputs
        self.attributes = dict(attributes or {})
        self.wanted = list(outputs) if isinstance(outputs, (list, tuple)) else list(range(outputs))  # positions
        self.outputs = len(self.wanted)
        if inputs and expected is None and any(a is not None and a.dtype == np.float64 for a in inputs):
            schema = schema_of(op, opset)
            for name, info in schema.attributes.items() if schema else ():  # ONNX floats have 32 bits
                if info.type == onnx.defs.OpSchema.AttrType.FLOAT and info.default_value.name:
                    self.attributes.setdefault(name, info.default_value.f)
        self.attributes = {k: float(np.float32(v)) if isinstance(v, float) else v for k, v in self.attributes.items()}
        self.expected, self.label, self.source = expected, label, source
        self.fault, self.got = None, {}
        self.tolerance = None  # of floats, where that of the type is not meant: relative, absolute

    def describe(self):
        parts = [f"{a.dtype}{list(a.shape)}" if a is not None else "-" for a in self.inputs]
        return f"{self.op}-{self.opset} {self.label} {self.attributes} ({', '.join(parts)})"

    def model(self):
        names = [f"i{k}" if a is not None else "" for k, a in enumerate(self.inputs)]
        outs = ["" for _ in range(self.wanted[-1] + 1)]
        for k, position in enumerate(self.wanted):
            outs[position] = f"o{k}"
        attributes = {k: numpy_helper.from_array(v) if isinstance(v, np.ndarray) else v
                      for k, v in self.attributes.items()}
        domain, name = domain_and_type(self.op)
        node = helper.make_node(name, names, outs, domain=domain, **attributes)
        infos = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
                 for n, a in zip(names, self.inputs) if a is not None]
        graph = helper.make_graph([node], "case", infos, [onnx.ValueInfoProto(name=o) for o in outs if o])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset), helper.make_opsetid("com.microsoft", 1)], ir_version=10)

    def reference(self):
        """Fills expected; False when no second source knows the case."""
        if self.expected is not None:
            return True
        if (self.op, np.dtype(self.inputs[0].dtype).kind if self.inputs else "") in OWN or self.op in OWN:
            own = OWN.get(self.op) or OWN[self.op, self.inputs[0].dtype.kind]
            with np.errstate(all="ignore"):
                self.expected, self.source = own(self), "numpy"
            if self.expected is not None:
                return True
        feeds = {f"i{k}": a for k, a in enumerate(self.inputs) if a is not None}
        model = self.model()
        try:
            inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
            options = ort.SessionOptions()
            options.intra_op_num_threads = 1
            options.log_severity_level = 4
            options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
            session = ort.InferenceSession(inferred.SerializeToString(), options, providers=["CPUExecutionProvider"])
            self.expected, self.source = session.run(None, feeds), "onnxruntime"
            return True
        except Exception as e:  # no kernel for this type, or the case is wrong
            self.ort_fault = str(e)
        try:
            with np.errstate(all="ignore"):
                got = onnx.reference.ReferenceEvaluator(model).run(None, feeds)
            self.expected, self.source = got, "onnx.reference"
            return True
        except Exception as e:
            self.ref_fault = str(e)
            return False


# Weights, whose kernel must be known: they keep their dims where --symbolic gives others names.
KNOWN_SHAPES = {"QLinearConv": [3], "Det": [0], "CausalConvWithState": [0, 1], "DeformConv": [1], "com.microsoft.FusedConv": [1], "Conv": [1], "ConvTranspose": [1], "ConvInteger": [1]}


def tensor_json(a):
    return {"dtype": ge_name(a.dtype), "shape": list(a.shape), "data": {"base64": base64.b64encode(a.tobytes()).decode()}}


def attribute_json(op, name, value):
    if name in ("output_dtype", "precision", "softmax_precision") and value == 0:
        return 0
    if (op == "Cast" and name == "to") or name in ("output_dtype", "precision", "softmax_precision"):
        return ge_name(helper.tensor_dtype_to_np_dtype(value))
    if isinstance(value, np.ndarray):
        return {"tensor": tensor_json(value)}
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, (list, tuple)):
        return [attribute_json(op, "", v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def shape_json(shape, symbolic):
    """With symbolic, equal sizes share a name; 1 stays, as it may broadcast."""
    return [f"d{size}" if symbolic and size != 1 else size for size in shape]


def graph_json(cases, opset, symbolic):
    graph = {"format": "ge-graph/1", "name": "cases", "opset": opset, "inputs": [], "outputs": [], "initializers": [],
             "nodes": []}
    feeds = {}
    for n, case in enumerate(cases):
        names = []
        for k, a in enumerate(case.inputs):
            if a is None:
                names.append("")
                continue
            name = f"c{n}_i{k}"
            names.append(name)
            if k in CONSTANT_INPUTS.get(case.op, []):
                graph["initializers"].append({"name": name, **tensor_json(a)})
            elif a.dtype.name in BYTES:
                wide = a.astype(BYTES[a.dtype.name])
                graph["inputs"].append({"name": name + "_wide", "dtype": ge_name(wide.dtype), "shape": shape_json(a.shape, symbolic)})
                feeds[name + "_wide"] = wide
                graph["nodes"].append({"name": f"c{n}_pack{k}", "op": "Cast", "inputs": [name + "_wide"], "outputs": [name],
                                       "attributes": {"to": a.dtype.name}})
            else:
                named = symbolic and k not in KNOWN_SHAPES.get(case.op, [])
                graph["inputs"].append({"name": name, "dtype": ge_name(a.dtype), "shape": shape_json(a.shape, named)})
                feeds[name] = a
        outs = [f"c{n}_o{k}" for k in range(case.outputs)]
        for k, name in enumerate(outs):
            if case.expected is None or np.asarray(case.expected[k]).dtype.name not in BYTES:
                graph["outputs"].append(name)
                continue
            wide = np.dtype(BYTES[np.asarray(case.expected[k]).dtype.name]).name
            graph["outputs"].append(name + "_wide")
            graph["nodes"].append({"name": f"c{n}_unpack{k}", "op": "Cast", "inputs": [name], "outputs": [name + "_wide"],
                                   "attributes": {"to": wide}})
        all_outs = [outs[case.wanted.index(p)] if p in case.wanted else "" for p in range(case.wanted[-1] + 1)]
        domain, op = domain_and_type(case.op)
        graph["nodes"].append({"name": f"c{n}", "op": op, **({"domain": domain} if domain else {}), "inputs": names, "outputs": all_outs, "attributes":
                               {k: attribute_json(case.op, k, v) for k, v in case.attributes.items()}})
    return graph, feeds


def write_safetensors(path, tensors):
    header, blob = {}, b""
    for name, a in tensors.items():
        data = np.ascontiguousarray(a).tobytes()
        header[name] = {"dtype": ST[a.dtype.name], "shape": list(a.shape), "data_offsets": [len(blob), len(blob) + len(data)]}
        blob += data
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + blob)


def read_safetensors(path):
    raw = path.read_bytes()
    size = struct.unpack("<Q", raw[:8])[0]
    header, body = json.loads(raw[8:8 + size]), raw[8 + size:]
    return {n: np.frombuffer(body[t["data_offsets"][0]:t["data_offsets"][1]], FROM_ST[t["dtype"]]).reshape(t["shape"])
            for n, t in header.items() if n != "__metadata__"}


def run_ge(bin_dir, folder, cases, opset, level, symbolic):
    """Fills fault (unsupported) or got[level] of every case."""
    cases = [c for c in cases if c.fault is None]
    for _ in range(20):
        if not cases:
            return
        graph, feeds = graph_json(cases, opset, symbolic)
        (folder / "graph.json").write_text(json.dumps(graph))
        check = subprocess.run([bin_dir / "ge-compile", folder / "graph.json", "--check", "--json"], capture_output=True, text=True)
        faults = json.loads(check.stdout).get("faults", []) if check.stdout else []
        if not faults:
            break
        for fault in faults:
            parts = fault.get("path", "").split("/")
            names = {"nodes": lambda i: cases[int(graph["nodes"][i]["name"][1:].split("_")[0])], "inputs": lambda i: cases[int(graph["inputs"][i]["name"][1:].split("_")[0])],
                     "initializers": lambda i: cases[int(graph["initializers"][i]["name"][1:].split("_")[0])],
                     "outputs": lambda i: cases[int(graph["outputs"][i][1:].split("_")[0])]}
            if len(parts) < 3 or parts[1] not in names:
                raise SystemExit(f"fault without a place: {fault}")
            names[parts[1]](int(parts[2])).fault = f"{fault['code']} {fault['message']}; {fault.get('found', '')}"
        cases = [c for c in cases if c.fault is None]
    made = subprocess.run([bin_dir / "ge-compile", folder / "graph.json", "-o", folder / "p.plan", "-t", "cpu", f"-O{level}"],
                          capture_output=True, text=True)
    write_safetensors(folder / "in.safetensors", feeds)
    ran = made
    if made.returncode == 0:
        inputs = [x for n in feeds for x in ("-i", f"{n}={folder / 'in.safetensors'}:{n}")]
        (folder / "out.safetensors").unlink(missing_ok=True)
        ran = subprocess.run([bin_dir / "ge-run", folder / "p.plan", "-d", "cpu", "-o", folder / "out.safetensors", *inputs],
                             capture_output=True, text=True)
    if ran.returncode != 0:
        if len(cases) == 1:
            cases[0].got[level] = f"exit {ran.returncode}: {ran.stderr[-400:]}"
            return
        print(f"bisecting {len(cases)} cases at -O{level}: exit {ran.returncode} {ran.stderr[-300:]}", file=sys.stderr)
        half = len(cases) // 2  # find the case that broke the whole graph
        run_ge(bin_dir, folder, cases[:half], opset, level, symbolic)
        run_ge(bin_dir, folder, cases[half:], opset, level, symbolic)
        return
    got = read_safetensors(folder / "out.safetensors")
    for n, case in enumerate(cases):
        case.got[level] = [got[f"c{n}_o{k}"] if f"c{n}_o{k}" in got else got[f"c{n}_o{k}_wide"] for k in range(case.outputs)]


def difference(expected, got, case):
    """What differs and where; ("", None) when equal within the tolerance of the type."""
    expected = np.asarray(expected)
    expected = expected.astype(BYTES.get(expected.dtype.name, expected.dtype))
    if expected.dtype != got.dtype:
        return f"dtype {got.dtype}, expected {expected.dtype}", None
    if expected.shape != got.shape:
        return f"shape {got.shape}, expected {expected.shape}", None
    if expected.dtype.name not in TOLERANCE:
        wrong = expected != got
    else:
        rtol, atol = case.tolerance or TOLERANCE[expected.dtype.name]
        rtol *= 10 if case.source == "node test" else 1  # some expect 4 digits
        with np.errstate(all="ignore"):
            wrong = ~np.isclose(got.astype(np.float64), expected.astype(np.float64), rtol, atol, equal_nan=True)
    if not np.any(wrong):
        return "", None
    at = tuple(int(v) for v in np.argwhere(wrong)[0])
    return f"{int(np.sum(wrong))} of {wrong.size} differ; at {at}: {got[at]!r}, expected {expected[at]!r}", at


OPSETS = (7, 28)


def check(bin_dir, cases, verbose, symbolic):
    groups = collections.defaultdict(list)
    for case in cases:
        groups[case.opset].append(case)
    with tempfile.TemporaryDirectory() as name:
        for opset, members in sorted(groups.items()):
            for start in range(0, len(members), 200):
                for level in (2, 0):
                    run_ge(bin_dir, pathlib.Path(name), members[start:start + 200], opset, level, symbolic)
    table = collections.defaultdict(lambda: [0, 0, 0])
    failures = []
    for case in cases:
        row = table[case.op]
        if case.fault is not None:
            row[2] += 1
            failures.append(("unsupported", case, case.fault))
            continue
        said = []
        for level, got in case.got.items():
            if isinstance(got, str):
                said.append(f"-O{level}: {got}")
                continue
            for k, (e, g) in enumerate(zip(case.expected, got)):
                text, at = difference(e, g, case)
                if text:
                    same = [repr(a[at]) for a in case.inputs if at is not None and a is not None and a.shape == g.shape]
                    said.append(f"-O{level} output {k}: {text}{'; of ' if same else ''}{', '.join(same)}")
        row[1 if said else 0] += 1
        if said:
            failures.append(("differs", case, "\n      ".join(said)))
    for kind, case, text in failures:
        if kind == "differs" or verbose:
            print(f"{kind}: {case.describe()} [{case.source}]\n      {text}")
    print(f"{'operator':24}passed  failed  unsupported")
    for op in sorted(table):
        print(f"{op:24}{table[op][0]:6}{table[op][1]:8}{table[op][2]:8}")
    totals = [sum(r[k] for r in table.values()) for k in range(3)]
    print(f"{'all':24}{totals[0]:6}{totals[1]:8}{totals[2]:8}")
    return totals[1]


def list_json(a):
    """The elements, as few digits as their type needs."""
    special = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
    if a.dtype.kind in "iub":
        return a.reshape(-1).tolist()
    texts = [str(v) for v in (a if a.dtype.kind == "f" else a.astype(np.float32)).reshape(-1)]
    return [special.get(t) or (int(float(t)) if float(t).is_integer() and abs(float(t)) < 1e6 and not t.startswith("-0") else float(t)) for t in texts]


def keep(cases, folder, count=10):
    """Writes small cases of each operator, spread over all it has, for onnx_values_test."""
    chosen = collections.defaultdict(list)
    for case in cases:
        arrays = [a for a in list(case.inputs) + list(case.expected) if a is not None]
        small = case.fault is None and case.tolerance is None and sum(a.size for a in arrays) <= 200
        if small and all(a.dtype.name not in BYTES for a in arrays):
            chosen[case.op].append(case)
    for op, members in chosen.items():
        for at, opset in enumerate(sorted({c.opset for c in members})):
            own = [c for c in members if c.opset == opset]
            few = min(count, len(own))
            own = [own[(2 * k + at % 2) * len(own) // (2 * few)] for k in range(few)]
            graph, _ = graph_json(own, opset, False)
            tensor = lambda name, a: {"name": name, "dtype": ge_name(a.dtype), "shape": list(a.shape), "data": list_json(np.asarray(a))}
            rename = {i["name"]: "feed_" + i["name"] for i in graph["inputs"]}
            graph["initializers"], graph["inputs"] = [], []
            for n, case in enumerate(own):
                for k, a in enumerate(case.inputs):
                    if a is not None:
                        name = f"c{n}_i{k}"
                        fed = name in rename and k not in KNOWN_SHAPES.get(op, [])
                        rename[name] = "feed_" + name if fed else name
                        graph["initializers"].append(tensor(rename[name], a))
                for k, a in enumerate(case.expected[:case.outputs]):
                    graph["initializers"].append(tensor(f"c{n}_o{k}_expected", np.asarray(a)))
                    graph["outputs"].append(f"c{n}_o{k}_expected")
            for node in graph["nodes"]:
                node["inputs"] = [rename.get(i, i) for i in node["inputs"]]
            graph["name"] = f"{op} in opset {opset}, by {', '.join(sorted({c.source for c in own}))}"
            lines = ["{"]
            for key, value in graph.items():
                if isinstance(value, list) and value and isinstance(value[0], dict):
                    rows = ",\n".join("    " + json.dumps(v) for v in value)
                    lines.append(f'  "{key}": [\n{rows}\n  ],')
                else:
                    lines.append(f'  "{key}": {json.dumps(value)},')
            lines[-1] = lines[-1].rstrip(",")
            (folder / f"{op}-{opset}.json").write_text("\n".join(lines) + "\n}\n")


def supported_ops(bin_dir):
    said = subprocess.run([bin_dir / "ge-compile", "--list-ops", "--json"], capture_output=True, text=True, check=True)
    rows = json.loads(said.stdout)
    rows = rows if isinstance(rows, list) else next(v for v in rows.values() if isinstance(v, list))
    return {row["name"] if row["domain"] == "ai.onnx" else f"{row['domain']}.{row['name']}" for row in rows}


# Node tests that expect what the text of the operator does not say, nor ONNX Runtime gives.
DISPUTED = {**{f"test_bernoulli{kind}": "random numbers of another generator" for kind in ("", "_double", "_seed")},
            "test_resize_downsample_scales_cubic_align_corners": "the length of the output is an integer",
            "test_resize_downsample_scales_linear_align_corners": "the length of the output is an integer"}


def load(path):
    tensor = onnx.TensorProto()
    try:
        tensor.ParseFromString(path.read_bytes())
    except Exception:
        return None
    return numpy_helper.to_array(tensor)


def node_tests(folder, ops):
    for test in sorted(pathlib.Path(folder).glob("test_*")):
        model = onnx.load(test / "model.onnx")
        nodes = model.graph.node
        opset = {o.domain: o.version for o in model.opset_import}
        if len(nodes) != 1 or nodes[0].op_type not in ops or nodes[0].domain or model.graph.initializer:
            continue
        if test.name in DISPUTED:
            print(f"skipped {test.name}: {DISPUTED[test.name]}")
            continue
        node, data = nodes[0], test / "test_data_set_0"
        try:
            fed = {v.name: load(data / f"input_{k}.pb") for k, v in enumerate(model.graph.input)}
            given = {v.name: load(data / f"output_{k}.pb") for k, v in enumerate(model.graph.output)}
            inputs = [fed[n] if n else None for n in node.input]
            expected = [given[n] for n in node.output if n]
            attributes = {a.name: numpy_helper.to_array(a.t) if a.type == onnx.AttributeProto.TENSOR
                          else helper.get_attribute_value(a) for a in node.attribute}
            if any(a.dtype.name not in ST and a.dtype.name not in BYTES for a in list(filter(lambda a: a is not None, inputs)) + expected):
                raise ValueError("type")
        except Exception as e:
            print(f"skipped {test.name}: {e}")
            continue
        version = min(max(opset[""], OPSETS[0]), OPSETS[1])
        meant, taken = (onnx.defs.get_schema(node.op_type, v).since_version for v in (opset[""], version))
        if meant < taken and opset[""] < version:
            print(f"skipped {test.name}: opset {opset['']}")
            continue
        wanted = [k for k, n in enumerate(node.output) if n]
        yield Case(node.op_type, version, inputs, attributes, wanted, expected, test.name, "node test")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="folder of ge-compile and ge-run")
    parser.add_argument("--node-tests", help="folder of the ONNX backend node tests")
    parser.add_argument("--only", help="operators, separated by commas; com.microsoft.FastGelu where not of ai.onnx")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--symbolic", action="store_true", help="input dims are names in the graph")
    parser.add_argument("--keep", type=pathlib.Path, help="folder to write a few cases of each operator to")
    parser.add_argument("-v", "--verbose", action="store_true", help="name the unsupported cases too")
    options = parser.parse_args()
    ops = supported_ops(options.bin)
    if options.only:
        asked = set(options.only.split(","))
        for name in sorted(asked - ops):
            near = sorted(op for op in ops if op.rpartition(".")[2].lower() == name.rpartition(".")[2].lower())
            parser.error(f"--only {name}: ge has no such operator" + (f"; did you mean {' or '.join(near)}?" if near else ""))
        ops = asked
    if options.node_tests:
        cases = list(node_tests(options.node_tests, ops))
    else:
        from second_source_cases import make_cases
        cases = [c for c in make_cases(options.seed, Case) if c.op in ops]
        bad = [c for c in cases if not c.reference()]
        for case in bad:
            print(f"no second source: {case.describe()}: {case.ort_fault[:200]} / {case.ref_fault[:200]}")
        cases = [c for c in cases if c.expected is not None]
    if options.only and (without := sorted(ops - {c.op for c in cases})):
        parser.error(f"--only {','.join(without)}: no case of it has an answer; cases stand in test/conformance/second_source_*.py")
    if options.symbolic:
        cases = [c for c in cases if c.label != "static dims"]
    failed = check(options.bin, cases, options.verbose, options.symbolic)
    if options.keep:
        keep(cases, options.keep)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
