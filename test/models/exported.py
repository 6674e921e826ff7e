#!/usr/bin/env python3
"""Exports models from PyTorch to ONNX, compiles each to one plan and runs that plan at three shapes: one table.

    python3 test/models/exported.py --bin build/bin [--device cpu|cuda] [--only bert_base,resnet50] [--dtype float32,float16,bfloat16]
                                    [--exporter dynamo,script] [--work FOLDER] [--stage export,compile,run] [--json FILE] [-t TARGETS]

Models are those of zoo.py; rows whose library (torchvision, transformers) is not installed are said to be left out. --stage does
part of the work, on what the parts before it left in FOLDER: `export` (with PyTorch's answers, on the CPU) and `compile` need no GPU.

The error is norm(ge - reference) / norm(reference), the worst output at each shape; the reference is PyTorch in float64 with the
weights and inputs as the dtype holds them (float32 where a module insists on that). `torch` is PyTorch's own error in that dtype. A row is right where ge's error is below
1e-4 (float32), 5e-3 (float16), 4e-2 (bfloat16), or below twice PyTorch's own. Exits with 1 where a row is not right; a model that
PyTorch itself cannot export, or exports as what ONNX's own checker refuses, is said to be left out.
"""
import argparse
import copy
import inspect
import json
import logging
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import warnings

import numpy as np
import onnx
import torch
from safetensors.torch import load_file, save_file
from torch.fx.experimental.optimization import fuse

from zoo import ZOO

LIMITS = {"float32": 1e-4, "float16": 5e-3, "bfloat16": 4e-2}


class NotExported(Exception):
    """PyTorch's exporter failed."""


class NoOnnx(Exception):
    """What the exporter wrote is refused by ONNX's own checker too."""


def in_dtype(feeds, dtype):
    return {name: value.to(dtype) if value.is_floating_point() else value for name, value in feeds.items()}


def answers(module, feeds):
    with torch.no_grad():
        done = module(*feeds.values())
    return done if isinstance(done, (tuple, list)) else (done,)


def folded(module, kind):
    """A copy; in 16 bits with batch norms folded before weights are rounded: both exporters fold them after it, which no PyTorch run shows."""
    norms = [m for m in module.modules() if isinstance(m, torch.nn.modules.batchnorm._BatchNorm)]
    return fuse(module) if norms and kind is not torch.float32 else copy.deepcopy(module)


def reference_answers(module, feeds):
    for kind in (torch.float64, torch.float32):
        try:
            return answers(copy.deepcopy(module).to(kind), in_dtype(feeds, kind))
        except RuntimeError:  # "expected scalar type": parts of the module are float32 whatever is asked
            continue
    raise RuntimeError("PyTorch itself cannot run the module")


def relative_error(found, expected):
    """Of arrays; infinite where one holds NaN and the other none, or shapes differ."""
    if found.shape != expected.shape:
        return float("inf")
    found, expected = found.astype(np.float64), expected.astype(np.float64)
    error = np.linalg.norm(found - expected) / max(np.linalg.norm(expected), 1e-30)
    return float(error) if np.isfinite(error) else float("inf")


def export(entry, module, feeds, exporter, path):
    names, outputs = list(feeds), entry.outputs or ["y"]
    arguments = tuple(feeds.values())
    if exporter == "script":
        axes = {name: axes for name, axes in entry.dims.items()}
        torch.onnx.export(module, arguments, str(path), input_names=names, output_names=outputs, dynamic_axes=axes, dynamo=False, opset_version=20)
        return
    shapes = [entry.dims[name] for name in names]
    parameters = list(inspect.signature(module.forward).parameters.values())
    plain = [p for p in parameters if p.kind is not p.VAR_POSITIONAL]
    if len(plain) < len(parameters):  # what *rest takes is one entry
        shapes = [*shapes[: len(plain)], tuple(shapes[len(plain):])]
    torch.onnx.export(module, arguments, str(path), input_names=names, output_names=outputs, dynamic_shapes=tuple(shapes), dynamo=True,
                      external_data=False, verbose=False)


def tool(*arguments):
    done = subprocess.run([str(a) for a in arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{pathlib.Path(str(arguments[0])).name} ended with {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-3000:]}")
    return done


def ranges_of(entry):
    """--dim flags: what the three sizes span."""
    flags = []
    for name in entry.sizes[0]:
        values = [size[name] for size in entry.sizes]
        if any(name in axes.values() for axes in entry.dims.values()):
            flags += ["--dim", f"{name}={min(values)}:{2 * max(values)}:{values[0]}"]
    return flags


def export_row(entry, module, row, folder):
    """model.onnx, and for each size the inputs and the reference."""
    kind = getattr(torch, row["dtype"])
    typed = folded(module, kind).to(kind)
    began = time.monotonic()
    try:
        export(entry, typed, in_dtype(entry.inputs(entry.sizes[1]), kind), row["exporter"], folder / "model.onnx")
    except ModuleNotFoundError:
        raise
    except Exception as error:
        raise NotExported(str(error)) from error
    row |= {"export_s": time.monotonic() - began, "torch": 0.0}
    for i, size in enumerate(entry.sizes):
        feeds = in_dtype(entry.inputs(size), kind)
        save_file({name: value.contiguous() for name, value in feeds.items()}, folder / f"in{i}.safetensors")
        expected = reference_answers(typed, feeds)
        for name, value in zip(entry.outputs or ["y"], expected):
            np.save(folder / f"{name}.{i}.npy", value.numpy())
        own = answers(typed, feeds)
        row["torch"] = max(row["torch"], *(relative_error(a.float().numpy(), b.numpy()) for a, b in zip(own, expected)))


def checked(path):
    """ONNX's own checker, with its inference of types, on a model that ge refuses."""
    try:
        onnx.checker.check_model(str(path), full_check=True)
    except Exception as error:  # it throws what it likes
        raise NoOnnx(str(error)) from error


def compile_row(entry, row, folder, options):
    began = time.monotonic()
    try:
        done = tool(options.bin / "ge-compile", folder / "model.onnx", "-o", folder / "plan.bin", "-t", options.target, *ranges_of(entry))
    except RuntimeError:
        checked(folder / "model.onnx")
        raise
    row |= {"compile_s": time.monotonic() - began, "launches": dict(re.findall(r"^(\S+): (\d+) launches", done.stderr, re.M))}
    if not options.keep:
        (folder / "model.onnx").unlink()


def run(entry, folder, options):
    errors = []
    for i in range(len(entry.sizes)):
        feeds = [flag for name in entry.dims for flag in ("-i", f"{name}={folder / f'in{i}.safetensors'}:{name}")]
        tool(options.bin / "ge-run", folder / "plan.bin", "-d", options.device, *feeds, "-o", folder / "out.safetensors")
        made = load_file(folder / "out.safetensors")
        errors.append(max(relative_error(made[name].float().numpy(), np.load(folder / f"{name}.{i}.npy")) for name in entry.outputs or ["y"]))
    return errors


def sizes_text(entry):
    return " ".join("x".join(str(n) for n in size.values()) for size in entry.sizes)


def row_text(row):
    head = f"{row['model']:<21} {row['exporter']:<8} {row['dtype']:<9}"
    if "skipped" in row or "failed" in row:
        return f"{head} {'left out: ' + row['skipped'] if 'skipped' in row else 'FAILED: ' + row['failed'].splitlines()[0]}"
    errors = " ".join(f"{e:8.1e}" for e in row.get("errors", [])) or f"{'':26}"
    launches = row.get("launches", {}).get(row["target"], "")
    return f"{head} {errors}  {row['torch']:7.1e} {launches:>8} {row.get('compile_s', 0):9.1f}  {row.get('verdict', ''):<6} {row['shapes']}"


def attempt(row, entry, made, folder, options):
    """The stages that were asked for; what they found is kept beside the files."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "row.json"
    if "export" in options.stage:
        export_row(entry, made(), row, folder)
    else:
        row |= {**json.loads(kept.read_text()), "target": row["target"]}
        if "skipped" in row:
            return
    if "compile" in options.stage:
        compile_row(entry, row, folder, options)
    if "run" in options.stage:
        row["errors"] = run(entry, folder, options)
        row["verdict"] = "right" if max(row["errors"]) < max(LIMITS[row["dtype"]], 2 * row["torch"]) else "WRONG"


def reason_of(error):
    """The cause's line out of what the exporter says."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    told = [line for line in lines if re.match(r"<class|\w*Error|\(op_type", line)]
    return (told or lines or [repr(error)])[0][:160]


def rows(options, work):
    for name in options.only.split(","):
        entry, modules = ZOO[name], []

        def made():
            modules[:] = modules or [entry.make()]
            return modules[0]

        for exporter in options.exporter.split(","):
            for dtype in options.dtype.split(","):
                row = {"model": name, "exporter": exporter, "dtype": dtype, "shapes": sizes_text(entry), "target": options.column}
                folder = work / f"{name}_{exporter}_{dtype}"
                try:
                    attempt(row, entry, made, folder, options)
                except ModuleNotFoundError as missing:
                    row["skipped"] = f"{missing.name} is not installed"
                except NotExported as error:
                    row["skipped"] = "PyTorch does not export it: " + reason_of(error)
                except NoOnnx as error:
                    row["skipped"] = "PyTorch exports what ONNX's checker refuses: " + reason_of(error)
                except Exception as error:  # a row that fails does not end the table
                    row["failed"] = str(error) or repr(error)
                    if options.trace:
                        traceback.print_exc()
                if options.work:
                    (folder / "row.json").write_text(json.dumps(row))
                else:
                    shutil.rmtree(folder, ignore_errors=True)
                yield row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/bin", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--only", default=",".join(ZOO))
    parser.add_argument("--dtype", default="float32,float16,bfloat16")
    parser.add_argument("--exporter", default="dynamo,script")
    parser.add_argument("--work", help="where files are kept; otherwise they go")
    parser.add_argument("--keep", action="store_true", help="keep model.onnx too")
    parser.add_argument("--stage", default="export,compile,run")
    parser.add_argument("-t", "--target", help="of ge-compile; cpu, or cpu and sm_90, by the device")
    parser.add_argument("--json")
    parser.add_argument("--trace", action="store_true", help="print where an export failed")
    options = parser.parse_args()
    options.target = options.target or ("cpu" if options.device == "cpu" else "cpu,sm_90")
    options.column = "cpu" if options.device == "cpu" else options.target.split(",")[-1]
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    torch.backends.cuda.matmul.allow_tf32 = False
    table = []
    print(f"{'model':<21} {'exporter':<8} {'dtype':<9} {'error at each shape':<26}  {'torch':>7} {'launches':>8} {'compile s':>9}  {'':<6} shapes")
    with tempfile.TemporaryDirectory() as scratch:
        for row in rows(options, pathlib.Path(options.work or scratch)):
            table.append(row)
            print(row_text(row), flush=True)
    for row in table:
        if "failed" in row:
            print(f"\n{row['model']} {row['exporter']} {row['dtype']}: {row['failed']}")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(table, indent=1) + "\n")
    wrong = sum("failed" in row or row.get("verdict") == "WRONG" for row in table)
    print(f"\n{len(table)} rows, {wrong} not right, {sum('skipped' in row for row in table)} left out")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
