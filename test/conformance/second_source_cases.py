"""Random cases of every operator for second_source.py: shapes with 0, 1 and odd sizes, broadcasting, negative axes,
unusual attributes, special values. One public entry, make_cases(seed); the same seed gives the same cases.
"""
import numpy as np
from onnx import helper

from second_source_index import attention, indexing, quantized
from second_source_microsoft import microsoft
from second_source_older import older
from second_source_rare import rare
from second_source_spatial import add_cases

F32, F16, F64 = np.float32, np.float16, np.float64
I64, I32, I16, I8 = np.int64, np.int32, np.int16, np.int8
U64, U32, U16, U8, BOOL = np.uint64, np.uint32, np.uint16, np.uint8, np.bool_
FLOATS, SIGNED = [F32, F16, F64], [I64, I32, I16, I8]
UNSIGNED = [U64, U32, U16, U8]
NUMBERS = FLOATS + SIGNED + UNSIGNED
SHAPES = [(), (1,), (7,), (3, 5), (2, 1, 5), (0, 3), (1, 1, 1, 1), (2, 3, 4, 5), (1, 33), (257,)]
PAIRS = [((3, 5), (3, 5)), ((), (4,)), ((3, 1), (1, 5)), ((2, 3, 4), (4,)), ((5, 1, 3), (2, 1)), ((0, 3), (1, 3)), ((1,), (2, 1, 3)),
         ((2, 3, 4, 5), (3, 1, 1)), ((1, 1), ())]
SPECIAL = [0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 1e-7, -1e-7, 1e-30, 100.0, -100.0, 88.5, -88.5,
           104.0, -104.0, 700.0, 1e4, -1e4, 3e38, -3e38, 1e-40]


class Maker:
    def __init__(self, seed, case_type):
        self.rng, self.case_type, self.cases = np.random.default_rng(seed), case_type, []

    def array(self, shape, dtype, low=-3, high=3):
        dtype = np.dtype(dtype)
        if dtype == BOOL:
            return self.rng.integers(0, 2, shape).astype(BOOL)
        if dtype.kind == "f":
            return np.asarray(self.rng.uniform(low, high, shape)).astype(dtype)
        low, high = int(np.floor(low)), int(np.ceil(high))
        if dtype.kind == "u":
            low = max(low, 0)
        return np.asarray(self.rng.integers(low, high + 1, shape)).astype(dtype)

    def special(self, dtype):
        dtype = np.dtype(dtype)
        if dtype.kind == "f":
            with np.errstate(all="ignore"):
                return np.array(SPECIAL, F64).astype(dtype)
        if dtype == BOOL:
            return np.array([True, False])
        info = np.iinfo(dtype)
        values = [0, 1, 2, 3, 7, info.max, info.max - 1, info.min, info.max // 2] + ([-1, -2, -7, info.min + 1] if info.min else [])
        return np.array(values, dtype)

    def add(self, op, inputs, attributes=None, opsets=(24,), outputs=1, label=""):
        for opset in opsets:
            self.cases.append(self.case_type(op, opset, inputs, attributes, outputs, label=label))

    def pairs(self, dtype):
        """Every value of special with every other."""
        s = self.special(dtype)
        return np.repeat(s, len(s)), np.tile(s, len(s))


def unary(m):
    open_range = {"Acos": (-1, 1), "Asin": (-1, 1), "Atanh": (-0.99, 0.99), "Acosh": (1, 9), "Log": (0.01, 9), "Sqrt": (0, 9)}
    floats = ["Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Celu", "Cos", "Cosh", "Elu", "Erf", "Exp", "Floor", "Gelu",
              "HardSigmoid", "HardSwish", "IsInf", "IsNaN", "LeakyRelu", "Log", "Mish", "Reciprocal", "Round", "Selu", "Shrink",
              "Sigmoid", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Swish", "Tan", "Tanh", "ThresholdedRelu"]
    for op in floats:
        low, high = open_range.get(op, (-4, 4))
        for dtype in FLOATS:
            for shape in SHAPES:
                m.add(op, [m.array(shape, dtype, low, high)])
            m.add(op, [m.special(dtype)], label="special")
            if op in ("Sin", "Cos", "Tan"):
                m.add(op, [np.array([1e3, -1e4, 3e4, 60000], dtype)], label="large")
    for op, choices in {"Celu": [{"alpha": a} for a in (0.1, 2.0, -1.0)], "Elu": [{"alpha": a} for a in (0.0, 2.5, -0.5)],
                        "LeakyRelu": [{"alpha": a} for a in (0.0, 2.0, -1.5)],
                        "Selu": [{"alpha": 2.0, "gamma": 3.0}, {"alpha": -1.0, "gamma": 0.5}],
                        "HardSigmoid": [{"alpha": 0.5, "beta": 0.1}, {"alpha": -1.0, "beta": 0.3}],
                        "Shrink": [{"lambd": 1.0, "bias": 0.5}, {"lambd": 0.0, "bias": -1.0}, {"lambd": -1.0, "bias": 0.25}],
                        "ThresholdedRelu": [{"alpha": 0.0}, {"alpha": -2.0}], "Swish": [{"alpha": 2.0}, {"alpha": 0.0}, {"alpha": -1.0}],
                        "Gelu": [{"approximate": "tanh"}, {"approximate": "none"}],
                        "IsInf": [{"detect_negative": 0}, {"detect_positive": 0}, {"detect_negative": 0, "detect_positive": 0}]}.items():
        for attributes in choices:
            for dtype in (F32, F16):
                m.add(op, [m.array((5, 7), dtype)], attributes)
                m.add(op, [m.special(dtype)], attributes, label="special")
    for op, types in {"Abs": NUMBERS, "Sign": NUMBERS, "Neg": FLOATS + SIGNED, "Relu": FLOATS + SIGNED, "Identity": NUMBERS + [BOOL],
                      "Not": [BOOL], "BitwiseNot": SIGNED + UNSIGNED}.items():
        for dtype in types:
            for shape in SHAPES:
                m.add(op, [m.array(shape, dtype)])
            m.add(op, [m.special(dtype)], label="special")


def binary(m):
    for op, types in {"Add": NUMBERS, "Sub": NUMBERS, "Mul": NUMBERS, "Div": NUMBERS, "Equal": NUMBERS + [BOOL], "Greater": NUMBERS,
                      "GreaterOrEqual": NUMBERS, "Less": NUMBERS, "LessOrEqual": NUMBERS, "And": [BOOL], "Or": [BOOL], "Xor": [BOOL],
                      "BitwiseAnd": SIGNED + UNSIGNED, "BitwiseOr": SIGNED + UNSIGNED, "BitwiseXor": SIGNED + UNSIGNED,
                      "Max": NUMBERS, "Min": NUMBERS, "Sum": FLOATS, "Mean": FLOATS, "PRelu": FLOATS + [I64, I32, U32]}.items():
        for dtype in types:
            for a, b in PAIRS:
                if op == "PRelu" and (len(b) > len(a) or np.broadcast_shapes(a, b) != a):
                    continue
                y = m.array(b, dtype)
                if op == "Div" and np.dtype(dtype).kind != "f":
                    y[y == 0] = 2
                m.add(op, [m.array(a, dtype), y])
            x, y = m.pairs(dtype)
            m.add(op, [x, y], label="special")
    for op in ("Max", "Min", "Sum", "Mean"):
        for dtype in FLOATS if op in ("Sum", "Mean") else [F32, F16, I32, I64]:
            m.add(op, [m.array((3, 5), dtype)])
            m.add(op, [m.array((3, 1), dtype), m.array((5,), dtype), m.array((2, 1, 1), dtype), m.array((), dtype)])
    for dtype in (U8, U16, U32, U64):
        bits = np.dtype(dtype).itemsize * 8
        for direction in ("LEFT", "RIGHT"):
            m.add("BitShift", [m.special(dtype), np.arange(len(m.special(dtype))).astype(dtype) % bits], {"direction": direction})
            m.add("BitShift", [m.array((3, 1), dtype, 0, 200), m.array((4,), dtype, 0, 7)], {"direction": direction})
    for dtype in (I8, np.int16, I32, I64):
        bits = np.dtype(dtype).itemsize * 8
        by = np.array([0, 1, bits - 1, bits, bits + 1, 100, -1, -2, -100], dtype)
        for direction in ("LEFT", "RIGHT"):
            m.add("BitShift", [m.special(dtype)[:, None], by], {"direction": direction}, opsets=(28,))
        if dtype != I64:  # float64 holds no number near its ends
            m.add("Shrink", [m.special(dtype)], {"lambd": 1.5, "bias": 0.75})
    for dtype in NUMBERS:
        integer = np.dtype(dtype).kind != "f"
        for fmod in ([0, 1] if integer else [1]):
            for a, b in PAIRS:
                y = m.array(b, dtype)
                y[y == 0] = 2
                m.add("Mod", [m.array(a, dtype, -20, 20), y], {"fmod": fmod})
            x, y = m.pairs(dtype)
            if integer:
                keep = (y != 0) & ~((x == np.iinfo(dtype).min) & (y == dtype(-1) if np.iinfo(dtype).min else False))
                x, y = x[keep], y[keep]
            m.add("Mod", [x, y], {"fmod": fmod}, label="special")
    for dtype in FLOATS + [I64, I32]:
        for other in FLOATS + [I64, I32]:
            for a, b in PAIRS:
                m.add("Pow", [m.array(a, dtype, 1, 3), m.array(b, other, 0, 3)])
        x, y = m.pairs(dtype)
        if np.dtype(dtype).kind == "f":
            m.add("Pow", [x, y], label="special")
            m.add("Pow", [m.array((20,), dtype, -3, -1), m.array((20,), I64, -4, 4)], label="negative base")
        else:
            m.add("Pow", [m.array((20,), dtype, -3, 3), m.array((20,), dtype, 0, 4)], label="integers")
    for dtype in NUMBERS + [BOOL]:
        for c, a, b in [((3, 5), (3, 5), (3, 5)), ((), (4,), ()), ((3, 1), (1, 5), (2, 1, 1)), ((0,), (1,), (1,)), ((2, 1), (), (3,))]:
            m.add("Where", [m.array(c, BOOL), m.array(a, dtype), m.array(b, dtype)])
    m.add("Where", [np.arange(len(SPECIAL)) % 2 == 0, m.special(F32), m.special(F32)[::-1].copy()], label="special")
    for dtype in NUMBERS:
        for shape in ((), (3, 5), (0,)):
            m.add("Clip", [m.array(shape, dtype, -9, 9), np.array(1, dtype), np.array(4, dtype)])
            m.add("Clip", [m.array(shape, dtype, -9, 9), None, np.array(2, dtype)])
            m.add("Clip", [m.array(shape, dtype, -9, 9), np.array(2, dtype)])
            m.add("Clip", [m.array(shape, dtype, -9, 9)])
            m.add("Clip", [m.array(shape, dtype, -9, 9), np.array(4, dtype), np.array(1, dtype)], label="min > max")
        m.add("Clip", [m.special(dtype), np.array(1, dtype), np.array(4, dtype)], label="special")


def axes_of(shape):
    r = len(shape)
    return [None, [], *([i] for i in range(-r, r)), [0, -1] if r > 1 else [0], list(range(r))]


def reductions(m):
    for op in ["L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare"]:
        name = "Reduce" + op
        low = 0.1 if op in ("LogSum",) else -2
        for dtype in NUMBERS + ([BOOL] if op in ("Max", "Min") else []):
            kind = np.dtype(dtype).kind
            if kind == "u" and dtype not in (U32, U8) or dtype in (I16,):
                continue
            lo = 1 if op == "LogSum" and kind != "f" else low
            for shape in [(3, 5), (2, 3, 4), (7,), (1, 1), (4, 0, 2), (2, 129), (130, 3), ()]:
                for axes in axes_of(shape):
                    if axes and any(a >= len(shape) for a in axes):
                        continue
                    if len(shape) == 3 and axes and len(axes) == 1 and axes[0] < 0 and dtype not in (F32, I32):
                        continue
                    if 0 in shape and op in ("Max", "Min", "Mean", "LogSum", "LogSumExp", "Prod") and (not axes or 1 in axes or -2 in axes):
                        if op not in ("Prod",):
                            continue
                    keep = int(m.rng.integers(0, 2))
                    given = [m.array(shape, dtype, lo, 2)]
                    attributes = {"keepdims": keep}
                    if axes is not None:
                        given.append(np.array(axes, I64))
                    if axes == []:
                        attributes["noop_with_empty_axes"] = int(m.rng.integers(0, 2))
                    m.add(name, given, attributes)
                    if op != "Sum" and dtype in (F32, I32) and axes and m.rng.random() < 0.4:
                        m.add(name, given[:1], {"axes": axes, "keepdims": keep}, opsets=(13,))
            if kind == "f":
                special = np.array([[1, 2, np.nan, 3], [np.inf, 1, 2, 3], [-np.inf, 1, 0, 2], [np.inf, -np.inf, 0, 1], [-0.0, 0.0, -0.0, -0.0],
                                    [-np.inf] * 4, [100, 101, 99, 100], [-1000, -1001, -1000, -1002], [1e4, 1e4, 1e4, 1e4]]).astype(dtype)
                m.add(name, [special, np.array([1], I64)], {"keepdims": 0}, label="special")
            elif kind == "i" and op in ("Max", "Min"):
                m.add(name, [m.special(dtype)], {"keepdims": 0}, label="special")
            if dtype is F32:
                m.add(name, [m.array((3, 5), dtype, 0.5, 2)], {"keepdims": 0}, label="no axes")
    for op in ("ArgMax", "ArgMin"):
        for dtype in NUMBERS:
            for shape in [(3, 5), (2, 3, 4), (7,), (1, 1), (2, 200)]:
                for axis in range(-len(shape), len(shape)):
                    m.add(op, [m.array(shape, dtype)], {"axis": axis, "keepdims": int(m.rng.integers(0, 2)),
                                                        "select_last_index": int(m.rng.integers(0, 2))})
            m.add(op, [m.array((3, 5), dtype)])
    for op in ("Softmax", "LogSoftmax"):
        for dtype in FLOATS:
            for shape in [(3, 5), (2, 3, 4), (7,), (1, 1), (0, 3), (3, 0), (2, 300), (5, 1, 2)]:
                for axis in range(-len(shape), len(shape)):
                    m.add(op, [m.array(shape, dtype)], {"axis": axis})
            m.add(op, [np.array([[1e4, 1e4, 0], [-np.inf, 0, 1], [-1e4, -1e4, -1e4], [1, np.nan, 2]]).astype(dtype)], label="special")
    for dtype in FLOATS:
        for shape in [(3, 5), (2, 3, 4), (2, 3, 1, 5), (1, 300)]:
            for axis in range(-len(shape), len(shape)):
                tail = shape[axis:] if axis < 0 else shape[axis:]
                x, scale, bias = m.array(shape, dtype), m.array(tail, dtype), m.array(tail, dtype)
                m.add("LayerNormalization", [x, scale, bias], {"axis": axis, "epsilon": 1e-3}, opsets=(17, 24))
                m.add("LayerNormalization", [x, scale], {"axis": axis}, outputs=3 if dtype == F32 else 1)
                m.add("RMSNormalization", [x, scale], {"axis": axis, "epsilon": 1e-3})
        m.add("LayerNormalization", [m.array((2, 3, 4), dtype), m.array((1,), dtype), m.array((3, 4), dtype)], {"axis": 1}, label="broadcast")
        m.add("LayerNormalization", [(m.array((2, 64), dtype) + 50).astype(dtype), m.array((64,), dtype)], label="large mean")


def products(m):
    for dtype in FLOATS + [I64, I32, U32, U64]:
        for a, b in [((3, 4), (4, 5)), ((4,), (4, 5)), ((3, 4), (4,)), ((4,), (4,)), ((2, 3, 4), (4, 5)), ((2, 1, 3, 4), (5, 4, 2)),
                     ((0, 4), (4, 5)), ((3, 0), (0, 5)), ((1, 1), (1, 1)), ((33, 70), (70, 17)), ((2, 3, 4), (4,)), ((4,), (2, 4, 3))]:
            m.add("MatMul", [m.array(a, dtype), m.array(b, dtype)])
        for ta in (0, 1):
            for tb in (0, 1):
                for c in [None, (), (1,), (5,), (3, 1), (1, 5), (3, 5)]:
                    a, b = m.array((4, 3) if ta else (3, 4), dtype), m.array((5, 4) if tb else (4, 5), dtype)
                    scalars = {} if m.rng.random() < 0.3 else {"alpha": float(m.rng.choice([1, 2, 0, -1])), "beta": float(m.rng.choice([1, 3, 0, -2]))}
                    m.add("Gemm", [a, b] + ([] if c is None else [m.array(c, dtype)]), {"transA": ta, "transB": tb, **scalars})
    for dtype in (F32, F16):
        m.add("Gemm", [m.array((3, 4), dtype), m.array((4, 5), dtype), m.array((5,), dtype)], {"alpha": 0.3, "beta": 0.7})
        m.add("Gemm", [m.array((3, 0), dtype), m.array((0, 5), dtype), m.array((5,), dtype)], {"alpha": 0.3, "beta": 0.7}, label="k = 0")
    for dtype in (F32, F16, F64):
        for shape, w, attributes in [
            ((1, 3, 8, 8), (4, 3, 3, 3), {}), ((2, 4, 7, 9), (6, 2, 3, 2), {"group": 2, "strides": [2, 1], "pads": [1, 0, 2, 1]}),
            ((1, 2, 10), (3, 2, 4), {"dilations": [2], "pads": [3, 0]}), ((1, 1, 5, 6, 7), (2, 1, 2, 3, 2), {"strides": [1, 2, 2]}),
            ((1, 4, 6, 6), (4, 1, 3, 3), {"group": 4, "auto_pad": "SAME_UPPER", "strides": [2, 2]}),
            ((1, 2, 5, 5), (2, 2, 2, 2), {"auto_pad": "SAME_LOWER"}), ((1, 2, 5, 5), (2, 2, 2, 2), {"auto_pad": "VALID"}),
            ((1, 2, 5, 5), (2, 2, 1, 1), {"kernel_shape": [1, 1]}), ((0, 2, 5, 5), (2, 2, 3, 3), {}),
            ((1, 4, 6, 6), (8, 1, 3, 3), {"group": 4, "pads": [1, 1, 1, 1], "dilations": [2, 2]})]:
            x, k = m.array(shape, dtype), m.array(w, dtype)
            m.add("Conv", [x, k], attributes, opsets=(13, 24))
            m.add("Conv", [x, k, m.array((w[0],), dtype)], attributes)
    pool(m)
    for dtype in (F32, F16, F64):
        for shape in [(2, 3, 4, 5), (2, 3), (1, 3, 7), (0, 3, 2), (2, 1, 2, 2, 2)]:
            c = (shape[1],)
            for opset in (13, 15):
                m.add("BatchNormalization", [m.array(shape, dtype), m.array(c, dtype), m.array(c, dtype), m.array(c, dtype), m.array(c, dtype, 0.1, 2)],
                      {"epsilon": 1e-3}, opsets=(opset,))
            if len(shape) > 2:
                m.add("GlobalAveragePool", [m.array(shape, dtype)])
                m.add("GlobalMaxPool", [m.array(shape, dtype)])


def pool(m):
    plans = [((1, 2, 7, 8), {"kernel_shape": [3, 3]}), ((2, 1, 7, 8), {"kernel_shape": [3, 2], "strides": [2, 3], "pads": [1, 0, 1, 1]}),
             ((1, 1, 7, 7), {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}),
             ((1, 1, 6, 6), {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1, "pads": [1, 1, 1, 1]}),
             ((1, 2, 9), {"kernel_shape": [2], "strides": [3]}), ((1, 1, 4, 5, 6), {"kernel_shape": [2, 2, 2], "strides": [1, 2, 2]}),
             ((1, 1, 5, 5), {"kernel_shape": [2, 2], "auto_pad": "SAME_UPPER", "strides": [2, 2]}),
             ((1, 1, 5, 5), {"kernel_shape": [2, 2], "auto_pad": "SAME_LOWER"}), ((1, 1, 5, 5), {"kernel_shape": [2, 2], "auto_pad": "VALID"}),
             ((1, 1, 9, 9), {"kernel_shape": [3, 3], "dilations": [2, 2]}), ((1, 1, 10), {"kernel_shape": [3], "dilations": [3], "pads": [2, 2], "ceil_mode": 1, "strides": [2]})]
    for shape, attributes in plans:
        for dtype in (F32, F16, F64):
            m.add("MaxPool", [m.array(shape, dtype)], attributes)
            m.add("MaxPool", [m.array(shape, dtype)], attributes, opsets=(13,))
            for include in (0, 1):
                extra = {**attributes, "count_include_pad": include}
                m.add("AveragePool", [m.array(shape, dtype)], extra, opsets=(22,))
                if "dilations" not in attributes:
                    m.add("AveragePool", [m.array(shape, dtype)], extra, opsets=(13,))
        for dtype in (I8, U8):
            m.add("MaxPool", [m.array(shape, dtype, -100, 100)], attributes, opsets=(13,))


def layout(m):
    ints = lambda *v: np.array(v, I64)
    for dtype in (F32, F16, I64, I32, BOOL, U8, F64):
        x = m.array((2, 3, 4), dtype)
        for shape in [(24,), (4, -1), (0, 0, 4), (2, 0, -1, 1), (-1,)]:
            m.add("Reshape", [x, ints(*shape)], opsets=(13, 24))
        m.add("Reshape", [m.array((0, 3), dtype), ints(3, 0)], {"allowzero": 1})
        m.add("Reshape", [m.array((1,), dtype), np.zeros(0, I64)])
        for axis in range(-3, 4):
            m.add("Flatten", [x], {"axis": axis})
        m.add("Flatten", [m.array((), dtype)], {"axis": 0})
        m.add("Flatten", [m.array((0, 3), dtype)])
        m.add("Squeeze", [m.array((1, 3, 1, 2), dtype)])
        m.add("Squeeze", [m.array((1, 3, 1, 2), dtype), ints(-2, 0)])
        m.add("Squeeze", [m.array((1,), dtype)])
        m.add("Unsqueeze", [x, ints(0, -1)])
        m.add("Unsqueeze", [x, ints(3, 1)])
        m.add("Unsqueeze", [m.array((), dtype), ints(0)])
        m.add("Transpose", [x])
        for perm in ([0, 1, 2], [0, 2, 1], [2, 0, 1], [1, 0, 2]):
            m.add("Transpose", [x], {"perm": perm})
        m.add("Transpose", [m.array((0, 3), dtype)])
        m.add("Transpose", [m.array((), dtype)])
        for axis in (-3, -2, -1, 0, 1, 2):
            m.add("Concat", [x, m.array((2, 3, 4), dtype), m.array(tuple(0 if k == axis % 3 else n for k, n in enumerate((2, 3, 4))), dtype)], {"axis": axis})
        m.add("Concat", [x], {"axis": 1})
        for s, e, a, t in [((0,), (2,), None, None), ((1, 0, 1), (2, 3, -1), None, None), ((-1,), (-5,), (2,), (-1,)), ((3,), (0,), (-1,), (-2,)),
                           ((100,), (-100,), (1,), (-1,)), ((0,), (2**63 - 1,), (1,), (2,)), ((2,), (1,), (1,), None), ((-100, 1), (100, 100), (-1, 0), (3, 1)),
                           ((2**31 - 1,), (-2**63,), (2,), (-3,)), ((0,), (4,), (2,), (2**62,))]:
            given = [x, ints(*s), ints(*e)] + ([] if a is None and t is None else [None if a is None else ints(*a)]) + ([] if t is None else [ints(*t)])
            m.add("Slice", given)
        m.add("Slice", [x, np.array([0, -2], I32), np.array([5, 9], I32), np.array([0, 1], I32)])
        for shape in [(2, 3, 4), (5, 1, 1, 1), (1,), (3, 1)]:
            m.add("Expand", [m.array((3, 1), dtype) if len(shape) < 3 else m.array((2, 1, 4) if len(shape) == 3 else (2, 1, 1), dtype), ints(*shape)])
        m.add("Expand", [m.array((), dtype), ints(2, 3)])
        m.add("Expand", [m.array((1, 3), dtype), ints(0, 3)])
        m.add("Tile", [x, ints(1, 2, 3)])
        m.add("Tile", [x, ints(1, 0, 2)])
        m.add("Tile", [m.array((5,), dtype), ints(4)])
        for axis in (-3, -1, 0, 1):
            n = x.shape[axis]
            m.add("Gather", [x, m.array((2, 2), I64, -n, n - 1)], {"axis": axis})
            m.add("Gather", [x, m.array((), I32, -n, n - 1)], {"axis": axis})
            m.add("Gather", [x, m.array((0, 2), I32)], {"axis": axis})
        m.add("Split", [x, ints(1, 3)], {"axis": 2}, outputs=2)
        m.add("Split", [x, ints(0, 2, 1)], {"axis": -2}, outputs=3)
        m.add("Split", [x], {"axis": -1}, outputs=2, opsets=(13,))
        m.add("Split", [m.array((7, 2), dtype)], {"num_outputs": 3}, outputs=3)
        m.add("Split", [m.array((5, 2), dtype)], {"num_outputs": 3}, outputs=3, label="uneven")
        m.add("Split", [x], {"num_outputs": 1}, outputs=1)
        for k in (None, -9, -1, 0, 1, 2, 9):
            for upper in (0, 1):
                given = [m.array((2, 3, 5) if upper else (4, 3), dtype)] + ([] if k is None else [np.array(k, I64)])
                m.add("Trilu", given, {"upper": upper})
        m.add("Trilu", [m.array((0, 3), dtype)])
        for mode in ("constant", "reflect", "edge", "wrap"):
            for pads in [(0, 1, 2, 1, 0, 1), (1, 0, 0, 0, 2, 3), (0, 0, 0, 0, 0, 0), (-1, 1, 0, 0, -1, 2), (0, -2, -1, 1, 0, 0)]:
                if mode == "reflect" and pads[0] == -1 or mode == "wrap" and -2 in pads:
                    continue
                m.add("Pad", [x, ints(*pads)], {"mode": mode}, opsets=(24,) if mode == "wrap" else (13, 24))
            m.add("Pad", [x, ints(2, 1, 1, 0), None, ints(-1, 1)] if mode != "constant" else [x, ints(2, 1, 1, 0), np.array(1, dtype), ints(-1, 1)], {"mode": mode})
        for mode in ("reflect", "wrap"):
            m.add("Pad", [x, ints(5, 0, 3, 2, 7, 9)], {"mode": mode}, label="far")
            m.add("Pad", [m.array((1, 3), dtype), ints(2, 3, 1, 4)], {"mode": mode}, label="far")
        m.add("Pad", [x, ints(0, 1, 2, 1, 0, 1), np.array(1, dtype)], opsets=(13,))
        m.add("Pad", [m.array((0, 2), dtype), ints(1, 0, 2, 1)], label="empty")
        m.add("Shape", [x])
        for start, end in [(0, 2), (-2, None), (1, -1), (-9, 9), (2, 1)]:
            m.add("Shape", [x], {"start": start} if end is None else {"start": start, "end": end})
        m.add("Shape", [m.array((), dtype)])
        m.add("Size", [x])
        m.add("Size", [m.array((0, 3), dtype)])
        m.add("Size", [m.array((), dtype)])
        m.add("ConstantOfShape", [ints(2, 3)], {"value": np.array([1], dtype)})
        m.add("ConstantOfShape", [np.zeros(0, I64)], {"value": np.array([1], dtype)})
    m.add("ConstantOfShape", [ints(2, 0)])
    m.add("Constant", [], {"value": m.array((2, 3), F32)})
    m.add("Constant", [], {"value_floats": [1.5, -2.0]})
    m.add("Constant", [], {"value_int": 7})
    m.add("Constant", [], {"value_float": 2.5})
    m.add("Constant", [], {"value_ints": [1, -2, 3]})
    for dtype in (F32, F64, I64, I32, I16):
        for v in [(0, 10, 3), (10, 0, -3), (0, 0, 1), (5, 1, 2), (1, 2, 1), (-3, 4, 2)]:
            m.add("Range", [np.array(t, dtype) for t in v])
    for dtype in (F32, F64):
        for v in [(0, 1, 0.1), (1, 0, -0.25), (0.5, 3.1, 0.7)]:
            m.add("Range", [np.array(t, dtype) for t in v])
    for dtype in FLOATS:
        m.add("Dropout", [m.array((3, 4), dtype)], outputs=2)
        m.add("Dropout", [m.array((3, 4), dtype), np.array(0.7, F32), np.array(False)], outputs=1)
        m.add("Dropout", [m.array((3, 4), dtype), np.array(0.7, F32)], outputs=1)


def casts(m):
    types = NUMBERS + [BOOL]
    for source in types:
        for target in types:
            to = helper.np_dtype_to_tensor_dtype(np.dtype(target))
            data = m.array((3, 5), source, 0, 100) if np.dtype(target).kind == "u" else m.array((3, 5), source, -100, 100)
            m.add("Cast", [data], {"to": to}, opsets=(13, 24))
            m.add("CastLike", [data, m.array((1,), target)])
            m.add("Cast", [m.special(source)], {"to": to}, label="special")


def make_cases(seed, case_type):
    m = Maker(seed, case_type)
    for area in (unary, binary, reductions, products, layout, casts, add_cases, indexing, quantized, attention, microsoft, rare, older):
        area(m)
    return m.cases
