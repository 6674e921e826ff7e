"""Random cases and references of operators on [N, C, spatial...]: normalizations of channels, transposed and integer
convolutions, pools with indices, blocks of space, Resize. Entry: add_cases(maker), OWN.
"""
import itertools

import numpy as np
import onnx.reference
import onnxruntime as ort

F32, F16, F64 = np.float32, np.float16, np.float64
I64, I32, I8, U8 = np.int64, np.int32, np.int8, np.uint8
FLOATS = [F32, F16, F64]


# ---- references

def in_float32(case):
    """onnxruntime in float32 for the types it has no kernel for; data of float64 cases are small integers."""
    dtype = case.inputs[0].dtype
    if dtype == np.float32:
        return None
    wide = type(case)(case.op, case.opset, [a.astype(F32) if a is not None and a.dtype == dtype else a for a in case.inputs], case.attributes, case.outputs)
    session = ort.InferenceSession(wide.model().SerializeToString(), providers=["CPUExecutionProvider"])
    got = session.run(None, {f"i{k}": a for k, a in enumerate(wide.inputs) if a is not None})
    return [g.astype(dtype) if g.dtype == np.float32 else g for g in got]


def attribute(case, name, fallback):
    """As ONNX stores it: in float32."""
    value = case.attributes.get(name, fallback)
    return float(np.float32(value)) if isinstance(value, float) else value


def normalized(x, axes, epsilon):
    mean = x.mean(axis=axes, keepdims=True)
    return (x - mean) / np.sqrt(((x - mean) ** 2).mean(axis=axes, keepdims=True) + epsilon)


def column(v, rank):
    return v.astype(F64).reshape([1, -1] + [1] * (rank - 2))


def own_instance(case):
    x, scale, bias = case.inputs
    y = normalized(x.astype(F64), tuple(range(2, x.ndim)), attribute(case, "epsilon", 1e-5))
    return [(y * column(scale, x.ndim) + column(bias, x.ndim)).astype(x.dtype)]


def own_group(case):
    x, scale, bias = case.inputs
    groups = case.attributes["num_groups"]
    y = normalized(x.astype(F64).reshape([x.shape[0], groups, int(np.prod(x.shape[1:])) // groups]), (2,), attribute(case, "epsilon", 1e-5)).reshape(x.shape)
    if case.opset < 21:
        scale, bias = (np.repeat(v, x.shape[1] // groups) for v in (scale, bias))
    return [(y * column(scale, x.ndim) + column(bias, x.ndim)).astype(x.dtype)]


def own_lp_norm(case):
    x, axis, p = case.inputs[0].astype(F64), case.attributes.get("axis", -1), case.attributes.get("p", 2)
    norm = (np.abs(x) ** p).sum(axis=axis, keepdims=True) ** (1 / p)
    return [np.where(norm == 0, 0, x / norm).astype(case.inputs[0].dtype)]


def own_mvn(case):
    x, axes = case.inputs[0].astype(F64), tuple(case.attributes.get("axes", (0, 2, 3)))
    mean = x.mean(axis=axes, keepdims=True)
    return [((x - mean) / (np.sqrt(((x - mean) ** 2).mean(axis=axes, keepdims=True)) + 1e-9)).astype(case.inputs[0].dtype)]


def own_lrn(case):
    x, size = case.inputs[0].astype(F64), case.attributes["size"]
    squares = np.zeros_like(x)
    for c in range(x.shape[1]):
        squares[:, c] = (x[:, max(0, c - (size - 1) // 2):c + size // 2 + 1] ** 2).sum(axis=1)
    base = attribute(case, "bias", 1.0) + attribute(case, "alpha", 1e-4) / size * squares
    return [(x / base ** attribute(case, "beta", 0.75)).astype(case.inputs[0].dtype)]


def windows_of(case, x):
    """For each output position the slices of its window that lie inside; by the formulas of the operator's text."""
    attributes, spatial = case.attributes, x.ndim - 2
    kernel = attributes["kernel_shape"]
    strides, dilations = attributes.get("strides", [1] * spatial), attributes.get("dilations", [1] * spatial)
    pads, mode = list(attributes.get("pads", [0] * 2 * spatial)), attributes.get("auto_pad", "NOTSET")
    places = []
    for i in range(spatial):
        size, reach = x.shape[2 + i], (kernel[i] - 1) * dilations[i] + 1
        if mode in ("NOTSET", "VALID"):  # VALID rounds up too, whatever the text says: so do onnx's shape inference and onnxruntime
            low, total = (pads[i], pads[i] + pads[spatial + i]) if mode == "NOTSET" else (0, 0)
            room = size + total - reach
            count = room // strides[i] + 1
            if attributes.get("ceil_mode", 0):
                count = -(-room // strides[i]) + 1
                count -= (count - 1) * strides[i] >= size + low
        else:
            count = -(-size // strides[i])
            total = max((count - 1) * strides[i] + reach - size, 0)
            low = total // 2 if mode == "SAME_UPPER" else total - total // 2
        starts = [o * strides[i] - low for o in range(count)]
        places.append([([p for p in range(s, s + reach, dilations[i]) if 0 <= p < size],
                        len([p for p in range(s, s + reach, dilations[i]) if p < size + total - low])) for s in starts])
    for at in itertools.product(*(range(len(p)) for p in places)):
        picked = [places[i][o] for i, o in enumerate(at)]
        yield at, [p[0] for p in picked], int(np.prod([p[1] for p in picked]))


def own_pool(case):
    x = case.inputs[0]
    wide = x.astype(F64) if x.dtype.kind == "f" else x.astype(I64)
    cells = list(windows_of(case, x))
    shape = x.shape[:2] + tuple(n + 1 for n in (cells[-1][0] if cells else [-1] * (x.ndim - 2)))
    y, index = np.zeros(shape, wide.dtype), np.zeros(shape, I64)
    order = "F" if case.attributes.get("storage_order", 0) else "C"
    for at, inside, padded in cells:
        part = wide[np.ix_(range(x.shape[0]), range(x.shape[1]), *inside)]
        part = part.reshape(x.shape[:2] + (int(np.prod(part.shape[2:])),))
        where = (slice(None), slice(None)) + at
        if case.op == "MaxPool":
            y[where] = part.max(axis=2)
            flat = np.array([np.ravel_multi_index(p, x.shape[2:], order=order) for p in itertools.product(*inside)])
            plane = np.arange(x.shape[0] * x.shape[1]).reshape(x.shape[:2]) * int(np.prod(x.shape[2:]))
            index[where] = flat[part.argmax(axis=2)] + plane
        elif case.op == "AveragePool":
            y[where] = part.sum(axis=2) / (padded if case.attributes.get("count_include_pad", 0) else part.shape[2])
        else:
            p = case.attributes.get("p", 2)
            y[where] = (np.abs(part) ** p).sum(axis=2) ** (1 / p)
    return [y.astype(x.dtype), index][:case.outputs]


def own_global_lp(case):
    x, p = case.inputs[0].astype(F64), case.attributes.get("p", 2)
    y = (np.abs(x) ** p).sum(axis=tuple(range(2, x.ndim)), keepdims=True) ** (1 / p)
    return [y.astype(case.inputs[0].dtype)]


OWN = {"InstanceNormalization": own_instance, "GroupNormalization": own_group, "LpNormalization": own_lp_norm,
       "MeanVarianceNormalization": own_mvn, "LRN": own_lrn, "MaxPool": own_pool, "AveragePool": own_pool, "LpPool": own_pool,
       "GlobalLpPool": own_global_lp, "ConvTranspose": in_float32}


# ---- cases

def norms(m):
    for dtype in FLOATS:
        for shape in [(2, 3, 4, 5), (1, 4, 7), (2, 2, 3, 2, 2), (0, 4, 5), (3, 2, 1), (1, 6, 130)]:
            c = shape[1]
            given = [m.array(shape, dtype), m.array((c,), dtype), m.array((c,), dtype)]
            m.add("InstanceNormalization", given, opsets=(13, 24))
            m.add("InstanceNormalization", given, {"epsilon": 0.1})
            for groups in [g for g in (1, 2, 3, c) if c % g == 0]:
                m.add("GroupNormalization", given, {"num_groups": groups}, opsets=(21, 24))
                m.add("GroupNormalization", given[:1] + [m.array((groups,), dtype), m.array((groups,), dtype)],
                      {"num_groups": groups, "epsilon": 0.01}, opsets=(18, 20))
        m.add("GroupNormalization", [m.array((3, 4), dtype), m.array((4,), dtype), m.array((4,), dtype)], {"num_groups": 2, "stash_type": 11})
        m.add("InstanceNormalization", [(m.array((1, 2, 60), dtype) + 50).astype(dtype), m.array((2,), dtype), m.array((2,), dtype)],
              label="large mean")
        for shape in [(3, 5), (2, 3, 4), (7,), (1, 1), (2, 300), (0, 3)]:
            for axis in range(-len(shape), len(shape)):
                for p in (1, 2):
                    m.add("LpNormalization", [m.array(shape, dtype)], {"axis": axis, "p": p}, opsets=(13, 24))
        m.add("LpNormalization", [np.array([[0, 0, -0.0], [1, np.nan, 2], [3, -4, 0], [1e-4, 0, 0]]).astype(dtype)], label="special")
        for axes in (None, [1], [-1, 0], [0, 1, 2, 3]):
            m.add("MeanVarianceNormalization", [m.array((2, 3, 4, 5), dtype)], {} if axes is None else {"axes": axes}, opsets=(13, 24))
        for shape in [(2, 7, 3, 4), (1, 1, 2, 2), (2, 5, 6), (1, 4, 2, 2, 3), (0, 3, 2)]:
            for size in (1, 2, 3, 4, 9):
                m.add("LRN", [m.array(shape, dtype)], {"size": size}, opsets=(13,))
                m.add("LRN", [m.array(shape, dtype)], {"size": size, "alpha": 0.5, "beta": 0.5, "bias": 2.0})


def transposed(m):
    plans = [((1, 1, 3, 3), (1, 2, 3, 3), {}), ((2, 3, 4, 5), (3, 4, 2, 2), {"strides": [2, 2]}),
             ((1, 2, 5), (2, 3, 4), {"strides": [2], "pads": [1, 1]}), ((1, 4, 3, 3), (4, 3, 3, 3), {"group": 2, "strides": [2, 3], "pads": [1, 0, 0, 1]}),
             ((1, 2, 3, 2, 2), (2, 2, 2, 3, 2), {"strides": [2, 1, 3], "pads": [0, 1, 0, 1, 0, 1]}), ((2, 4, 2, 3, 2), (4, 1, 3, 2, 2), {"group": 4, "strides": [2, 2, 2]}),
             ((1, 2, 4, 4), (2, 2, 3, 3), {"dilations": [2, 2], "pads": [1, 1, 2, 2]}), ((1, 2, 4), (2, 3, 3), {"dilations": [2], "strides": [3]}),
             ((1, 2, 4, 4), (2, 2, 3, 3), {"strides": [2, 2], "pads": [1, 1, 1, 1], "output_padding": [1, 1]}),
             ((1, 2, 4), (2, 2, 3), {"strides": [3], "output_padding": [2]}), ((1, 2, 4, 3), (2, 2, 3, 3), {"strides": [2, 3], "output_shape": [9, 10]}),
             ((1, 2, 4, 3), (2, 2, 3, 3), {"strides": [2, 3], "output_shape": [8, 7]}), ((1, 2, 4, 3), (2, 2, 3, 3), {"strides": [2, 2], "auto_pad": "SAME_UPPER"}),
             ((1, 2, 4, 3), (2, 2, 3, 4), {"strides": [2, 3], "auto_pad": "SAME_LOWER"}), ((1, 2, 4, 3), (2, 2, 3, 4), {"strides": [2, 3], "auto_pad": "VALID"}),
             ((1, 2, 4), (2, 2, 1), {"strides": [3]}), ((1, 2, 4), (2, 2, 2), {"strides": [1], "auto_pad": "SAME_UPPER"}),
             ((1, 2, 6, 6), (2, 3, 5, 5), {"pads": [4, 4, 4, 4]}), ((1, 2, 6), (2, 3, 5), {"pads": [3, 4], "strides": [2]}), ((0, 2, 4), (2, 3, 3), {}),
             ((1, 3, 1, 1), (3, 2, 4, 4), {}), ((1, 2, 3), (2, 3, 3), {"strides": [2], "pads": [0, 2]}), ((1, 2, 4, 4), (2, 2, 2, 2), {"kernel_shape": [2, 2], "strides": [1, 2]})]
    for shape, w, attributes in plans:
        for dtype in FLOATS:
            make = (lambda s: m.array(s, I8, -4, 4).astype(dtype)) if dtype is not F32 else (lambda s: m.array(s, dtype))
            given = [make(shape), make(w)]
            m.add("ConvTranspose", given, attributes, opsets=(13, 24))
            m.add("ConvTranspose", given + [make((w[1] * attributes.get("group", 1),))], attributes)
    for t, u in itertools.product((I8, U8), (I8, U8)):
        full = lambda dtype: (np.iinfo(dtype).min, np.iinfo(dtype).max)
        for a, b, za, zb in [((3, 4), (4, 5), None, None), ((3, 4), (4, 5), (), ()), ((3, 4), (4, 5), (3,), (5,)), ((2, 3, 4), (4, 5), (2, 3, 1), (1, 5)),
                             ((4,), (4, 5), (), (5,)), ((3, 0), (0, 2), (), None), ((17, 40), (40, 3), (1,), (1,))]:
            given = [m.array(a, t, *full(t)), m.array(b, u, *full(u)), None if za is None else m.array(za, t, *full(t)), None if zb is None else m.array(zb, u, *full(u))]
            while given[-1] is None:
                given.pop()
            m.add("MatMulInteger", given, opsets=(13, 24))
        for shape, w, attributes in [((1, 2, 5, 5), (3, 2, 3, 3), {}), ((2, 4, 6), (4, 2, 3), {"group": 2, "pads": [1, 1], "strides": [2]}),
                                     ((1, 1, 7, 6), (2, 1, 2, 3), {"strides": [2, 1], "auto_pad": "SAME_UPPER"})]:
            given = [m.array(shape, t, *full(t)), m.array(w, u, *full(u))]
            m.add("ConvInteger", given, attributes)
            m.add("ConvInteger", given + [m.array((), t, *full(t)), m.array((), u, *full(u))], attributes)
            m.add("ConvInteger", given + [m.array((), t, *full(t)), m.array((w[0],), u, *full(u))], attributes, opsets=(13,))


def own_integer(case):
    """In Python's integers; onnxruntime has not every combination of types."""
    x, w = (a.astype(I64) for a in case.inputs[:2])
    zero = [case.inputs[k].astype(I64) if len(case.inputs) > k and case.inputs[k] is not None else np.int64(0) for k in (2, 3)]
    if case.op == "MatMulInteger":
        if np.ndim(zero[0]) == 1 and len(zero[0]) > 1 and x.ndim > 1:
            zero[0] = zero[0][:, None]
        return [((x - zero[0]) @ (w - zero[1])).astype(I32)]
    zero[1] = np.reshape(zero[1], [-1] + [1] * (w.ndim - 1)) if np.size(zero[1]) > 1 else zero[1]
    wide = type(case)("Conv", case.opset, [(x - zero[0]).astype(F32), (w - zero[1]).astype(F32)], case.attributes)
    session = ort.InferenceSession(wide.model().SerializeToString(), providers=["CPUExecutionProvider"])
    return [session.run(None, {"i0": wide.inputs[0], "i1": wide.inputs[1]})[0].astype(I32)]


OWN.update({"MatMulInteger": own_integer, "ConvInteger": own_integer})


def pools(m):
    plans = [((1, 2, 7, 8), {"kernel_shape": [3, 3]}), ((2, 3, 7, 8), {"kernel_shape": [3, 2], "strides": [2, 3], "pads": [1, 0, 1, 1]}),
             ((1, 1, 7, 7), {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}), ((2, 2, 6, 6), {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1, "pads": [1, 1, 1, 1]}),
             ((1, 2, 9), {"kernel_shape": [2], "strides": [3]}), ((1, 2, 4, 5, 6), {"kernel_shape": [2, 3, 2], "strides": [1, 2, 2], "pads": [1, 1, 0, 0, 1, 1]}),
             ((1, 1, 5, 5), {"kernel_shape": [2, 2], "auto_pad": "SAME_UPPER", "strides": [2, 2]}), ((1, 2, 5, 5), {"kernel_shape": [2, 2], "auto_pad": "SAME_LOWER"}),
             ((1, 1, 5, 5), {"kernel_shape": [2, 2], "auto_pad": "VALID", "strides": [2, 2]}), ((1, 1, 9, 9), {"kernel_shape": [3, 3], "dilations": [2, 2]}),
             ((1, 2, 10), {"kernel_shape": [3], "dilations": [3], "pads": [2, 2], "ceil_mode": 1, "strides": [2]}), ((0, 2, 5), {"kernel_shape": [2]}),
             ((1, 1, 6, 5), {"kernel_shape": [2, 2], "auto_pad": "VALID", "strides": [2, 2], "ceil_mode": 1}),
             ((1, 1, 6, 5), {"kernel_shape": [3, 2], "auto_pad": "SAME_UPPER", "strides": [3, 2], "ceil_mode": 1}),
             ((1, 1, 2, 2), {"kernel_shape": [2, 2], "strides": [3, 3], "ceil_mode": 1, "pads": [1, 1, 1, 1]}),
             ((1, 1, 8), {"kernel_shape": [3], "strides": [2], "ceil_mode": 1, "pads": [0, 1], "dilations": [2]})]
    for shape, attributes in plans:
        for dtype in FLOATS + [I8, U8]:
            for order in (0, 1):
                m.add("MaxPool", [m.array(shape, dtype, -3, 3)], {**attributes, "storage_order": order}, opsets=(13, 24), outputs=2)
            m.add("MaxPool", [m.array(shape, I8, -2, 1).astype(dtype)], attributes, outputs=2, label="ties")
        for dtype in FLOATS:
            for p in (1, 2, 3):
                m.add("LpPool", [m.array(shape, dtype)], {**attributes, "p": p}, opsets=(18, 24))
                if "dilations" not in attributes and "ceil_mode" not in attributes:
                    m.add("LpPool", [m.array(shape, dtype)], {**attributes, "p": p}, opsets=(13,))
            for include in (0, 1):
                m.add("AveragePool", [m.array(shape, dtype)], {**attributes, "count_include_pad": include}, opsets=(19, 24))
    for dtype in FLOATS:
        special = np.array([[[-np.inf, -np.inf, 1, np.nan, 2, np.nan, -np.inf, np.inf, np.inf]]]).astype(dtype)
        m.add("MaxPool", [special], {"kernel_shape": [3], "pads": [1, 1]}, outputs=2, label="special")
        for shape in [(2, 3, 4, 5), (1, 3, 7), (2, 1, 2, 2, 2)]:
            for p in (1, 2, 3):
                m.add("GlobalLpPool", [m.array(shape, dtype)], {"p": p}, opsets=(13, 24))


def blocks(m):
    for dtype in (F32, F16, I64, U8, np.bool_):
        for block in (1, 2, 3):
            for mode in ("DCR", "CRD"):
                m.add("DepthToSpace", [m.array((2, 2 * block * block, 3, 2), dtype)], {"blocksize": block, "mode": mode}, opsets=(13, 24))
            m.add("SpaceToDepth", [m.array((2, 3, 2 * block, 3 * block), dtype)], {"blocksize": block}, opsets=(13, 24))
        m.add("SpaceToDepth", [m.array((0, 3, 2, 4), dtype)], {"blocksize": 2})


def resizes(m):
    scales, sizes = lambda *v: [None, np.array(v, F32)], lambda *v: [None, None, np.array(v, I64)]
    roi = lambda *v: np.array(v, F32)
    modes = ["half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"]
    plans = [((1, 2, 3, 4), scales(1, 1, 2, 2)), ((1, 1, 5, 6), scales(1, 1, 0.6, 0.5)), ((2, 1, 3, 2), scales(1, 1, 1.5, 2.6)), ((1, 1, 4, 4), sizes(1, 1, 7, 3)),
             ((1, 1, 6, 5), sizes(1, 1, 10, 9)), ((1, 1, 4, 3), sizes(1, 1, 1, 1)), ((1, 1, 1, 1), sizes(1, 1, 3, 2)), ((3, 4), scales(2.4, 0.8)),
             ((5,), sizes(8)), ((2, 3, 2, 2), sizes(2, 3, 4, 6)), ((1, 1, 7, 10), scales(1, 1, 0.7, 0.3)), ((0, 1, 2, 2), scales(1, 1, 2, 2))]
    for shape, given in plans:
        size = given[-1] if len(given) == 3 else np.floor(np.array(shape) * given[1]).astype(I64)
        for coordinates in modes:
            if coordinates == "align_corners" and len(given) == 2 and not np.array_equal(np.array(shape) * given[1], size):
                continue  # the text says the length of the output, onnx.reference takes length * scale
            for dtype in (F32, F16, F64):
                for rounding in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"):
                    m.add("Resize", [m.array(shape, dtype if dtype is not F64 else I8).astype(dtype)] + given, {"coordinate_transformation_mode": coordinates, "nearest_mode": rounding}, opsets=(19,))
                for mode in ("linear", "cubic"):
                    if coordinates == "pytorch_half_pixel" and dtype is not F32 and 1 in size[2:]:
                        continue  # the text says 0 for a single output, onnx.reference -0.5
                    attributes = {"coordinate_transformation_mode": coordinates, "mode": mode}
                    opsets = (19, 24) if coordinates == "half_pixel_symmetric" else (13, 19)
                    m.add("Resize", [m.array(shape, dtype)] + given, attributes, opsets=opsets)
                    if mode == "cubic":
                        m.add("Resize", [m.array(shape, dtype)] + given, {**attributes, "cubic_coeff_a": -0.5, "exclude_outside": 1}, opsets=(19,))
                    if dtype is F32 and coordinates in ("half_pixel", "align_corners", "asymmetric"):
                        for outside in (0, 1):
                            m.add("Resize", [m.array(shape, dtype)] + given, {**attributes, "antialias": 1, "exclude_outside": outside}, opsets=(18, 24))
    for dtype in (I64, I32, U8, I8, np.bool_, np.int16):
        m.add("Resize", [m.array((1, 2, 3, 4), dtype, -100, 100)] + scales(1, 1, 1.7, 2), opsets=(13, 24))
        if dtype is not np.bool_:
            m.add("Resize", [m.array((1, 2, 3, 4), dtype, -100, 100)] + sizes(1, 2, 6, 2), {"mode": "linear"}, label="rounded")
            m.add("Resize", [m.array((1, 2, 3, 4), dtype, -100, 100)] + sizes(1, 2, 6, 8), {"mode": "cubic"}, label="rounded")
    for dtype in (F32, F16):
        for mode in ("nearest", "linear", "cubic"):
            for corners in [(0, 0, 0.2, 0.3, 1, 1, 0.7, 0.9), (0, 0, -0.4, 0.5, 1, 1, 1.3, 0.1), (0, 0, 0, 0, 1, 1, 1, 1)]:
                attributes = {"mode": mode, "coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 9.5}
                m.add("Resize", [m.array((1, 2, 4, 5), dtype), roi(*corners)] + sizes(1, 2, 3, 7)[1:], attributes, opsets=(13, 24))
                m.add("Resize", [m.array((1, 2, 4, 5), dtype), roi(*(corners[k] for k in (3, 2, 7, 6)))] + sizes(1, 6)[1:], {**attributes, "axes": [3, -2]})
        for policy in ("not_larger", "not_smaller", "stretch"):
            m.add("Resize", [m.array((1, 2, 4, 6), dtype)] + sizes(7, 8), {"axes": [2, 3], "keep_aspect_ratio_policy": policy, "mode": "linear"}, opsets=(18, 24))
            m.add("Resize", [m.array((1, 5, 4), dtype)] + sizes(3, 3), {"axes": [2, 1], "keep_aspect_ratio_policy": policy})


def own_resize(case):
    """onnx.reference, but for float32 and nearest: ONNX Runtime has linear and cubic for few types and cuts integers off."""
    x = case.inputs[0]
    if x.dtype == np.float32:
        return None
    if case.attributes.get("mode", "nearest") == "nearest":  # positions are those of float32
        return None if x.dtype.kind != "f" and x.dtype != np.bool_ else in_float32(case)
    attributes = {k: [a % x.ndim for a in v] if k == "axes" else v for k, v in case.attributes.items()}  # it takes no negative axes
    wide = type(case)(case.op, case.opset, [x if x.dtype.kind != "f" else x.astype(F32)] + case.inputs[1:], attributes)
    if x.dtype == np.float64:
        case.tolerance = (1e-5, 1e-5)  # coordinates are float32
    feeds = {f"i{k}": a for k, a in enumerate(wide.inputs) if a is not None}
    return [y.astype(x.dtype) for y in onnx.reference.ReferenceEvaluator(wide.model()).run(None, feeds)]


def own_far_pad(case):
    """numpy: ONNX Runtime refuses pads larger than the dim."""
    if case.label != "far":
        return None
    pads = case.inputs[1].reshape(2, -1).T
    return [np.pad(case.inputs[0], pads, mode=case.attributes["mode"])]


OWN["Resize"] = own_resize
OWN["Pad"] = own_far_pad


def add_cases(m):
    for area in (norms, transposed, pools, blocks, resizes):
        area(m)
