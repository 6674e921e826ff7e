"""References of second_source.py for operators where onnxruntime and onnx.reference are wrong or differ from the rules
of ge: integers wrap, x / 0 is 0, float to integer saturates, NaN passes. Entry: OWN, operator or (operator, kind of
dtype) -> function of a case to its outputs; None where it does not apply.
"""
import math

import numpy as np
from onnx import helper

from second_source_index import OWN_INDEX
from second_source_microsoft import OWN_MICROSOFT
from second_source_rare import OWN_RARE
import second_source_spatial


def own_float64(function):
    """The reference of onnx computes these in float32."""
    return lambda case: [np.vectorize(function, otypes=[np.float64])(case.inputs[0])] if case.inputs[0].dtype == np.float64 else None


def own_gelu(case):
    tanh = case.attributes.get("approximate") == "tanh"
    return None if tanh else own_float64(lambda x: 0.5 * x * math.erfc(-x * math.sqrt(0.5)))(case)


def own_nan_passes(case):
    """NaN through ThresholdedRelu and Shrink as through Relu; onnxruntime gives 0, PyTorch NaN."""
    x, a = case.inputs[0].astype(np.float64), {k: float(np.float32(v)) for k, v in case.attributes.items()}
    if case.op == "ThresholdedRelu":
        y = np.where(x <= a.get("alpha", 1.0), 0, x)
    else:
        l, b = a.get("lambd", 0.5), a.get("bias", 0.0)
        y = np.where(x < -l, x + b, np.where(x > l, x - b, np.where(np.isnan(x), x, 0)))
    return [y.astype(case.inputs[0].dtype)]


def own_reduce(case):
    """Integers and NaN: onnxruntime has no kernel for some, loses the fraction of exp, and skips a NaN in first place."""
    x = case.inputs[0]
    rank = x.ndim
    axes = case.inputs[1].tolist() if len(case.inputs) > 1 else case.attributes.get("axes", [])
    if not axes and case.attributes.get("noop_with_empty_axes", 0):
        axes = None
    axes = () if axes is None else tuple(a % rank for a in axes) if axes else tuple(range(rank))
    keep = bool(case.attributes.get("keepdims", 1))
    wide = x.astype(np.float64) if case.op.startswith(("ReduceLog", "ReduceMean")) else x
    if case.op == "ReduceLogSum":
        y = np.log(np.sum(wide, axis=axes, keepdims=keep))
    elif case.op == "ReduceLogSumExp":
        top = np.max(wide, axis=axes, keepdims=True)
        top = np.where(np.isinf(top), 0, top)
        y = np.log(np.sum(np.exp(wide - top), axis=axes, keepdims=True)) + top
        y = y if keep else np.squeeze(y, axis=axes)
    elif case.op == "ReduceMean":
        y = np.trunc(np.mean(wide, axis=axes, keepdims=keep)) if x.dtype.kind != "f" else np.mean(wide, axis=axes, keepdims=keep)
    elif case.op == "ReduceSumSquare":
        y = np.sum(x * x, axis=axes, keepdims=keep)
    else:
        y = (np.max if case.op == "ReduceMax" else np.min)(x, axis=axes, keepdims=keep)
    return [np.asarray(y).astype(x.dtype)]


def own_global_max(case):
    x = case.inputs[0]
    return [np.max(x, axis=tuple(range(2, x.ndim)), keepdims=True)] if 0 not in x.shape[2:] else None


def own_gemm(case):
    """Integers wrap."""
    a, b = (x.T if case.attributes.get(t) else x for x, t in zip(case.inputs, ("transA", "transB")))
    alpha, beta = (int(case.attributes.get(k, 1)) for k in ("alpha", "beta"))
    y = alpha * (a.astype(object) @ b.astype(object))
    if len(case.inputs) > 2:
        y = y + beta * case.inputs[2].astype(object)
    bits = a.dtype.itemsize * 8
    return [np.vectorize(lambda v: v % 2**bits, otypes=[object])(y).astype(f"u{a.dtype.itemsize}").view(a.dtype)]


def own_divide(case):
    """x / 0 is 0, INT_MIN / -1 wraps, towards zero."""
    x, y = np.broadcast_arrays(*case.inputs)
    bits = x.dtype.itemsize * 8

    def divide(a, b):
        a, b = int(a), int(b)
        return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) % 2**bits

    y = np.vectorize(divide, otypes=[object])(x, y).astype(f"u{x.dtype.itemsize}").view(x.dtype) if x.size else x.copy()
    return [y]


def own_cast(case):
    """Float to integer saturates, NaN is 0."""
    target = (case.inputs[1].dtype if case.op == "CastLike" else helper.tensor_dtype_to_np_dtype(case.attributes["to"]))
    if np.dtype(target).kind not in "iu":
        return None
    info = np.iinfo(target)

    def convert(v):
        return 0 if math.isnan(v) else int(info.min if v <= info.min else info.max if v >= info.max else v)

    return [np.vectorize(convert, otypes=[target])(case.inputs[0].astype(np.float64))]


def own_hard_swish(case):
    x = case.inputs[0]
    return [x * np.clip(x / 6 + 0.5, 0, 1)] if x.dtype == np.float64 else None


def own_sign(case):
    return [np.sign(case.inputs[0])]


def own_prelu(case):
    x, slope = case.inputs
    return [np.where(x < 0, x * slope, x)]


OWN = {"Erf": own_float64(math.erf), "Gelu": own_gelu, "ThresholdedRelu": own_nan_passes, "Shrink": own_nan_passes,
       ("Gemm", "u"): own_gemm, ("Gemm", "i"): own_gemm, "GlobalMaxPool": own_global_max, "PRelu": own_prelu,
       "HardSwish": own_hard_swish, ("Sign", "f"): own_sign}
OWN.update({(f"Reduce{op}", kind): own_reduce for op in ("LogSum", "LogSumExp", "Mean", "SumSquare") for kind in "iu"})
OWN.update({("Div", "i"): own_divide, ("Div", "u"): own_divide, ("Cast", "f"): own_cast, ("CastLike", "f"): own_cast})
OWN.update({f"Reduce{op}": own_reduce for op in ("Max", "Min")})
OWN.update(second_source_spatial.OWN)
OWN.update(OWN_INDEX)
OWN.update(OWN_MICROSOFT)
OWN.update(OWN_RARE)
