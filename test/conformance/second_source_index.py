"""Random cases, and references, of the operators that look elements up, put them in or order them, of quantization and
attention: for second_source_cases.py and second_source_numpy.py. Entries: indexing, quantized, attention, OWN_INDEX.
"""
import numpy as np
import onnx.reference

F32, F16, F64 = np.float32, np.float16, np.float64
I64, I32, U8 = np.int64, np.int32, np.uint8
TYPES = [F32, F16, F64, np.int64, np.int32, np.int16, np.int8, np.uint64, np.uint32, np.uint16, np.uint8, np.bool_]
REDUCE = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def own_top_k(case):
    """NaN highest, of equals the lower position; onnxruntime leaves NaN to chance."""
    x = case.inputs[0]
    k = int(case.inputs[1][0]) if len(case.inputs) > 1 else case.attributes["k"]
    axis, largest = case.attributes.get("axis", -1), case.attributes.get("largest", 1)
    moved = np.moveaxis(x, axis, -1)
    columns, flat = moved.shape[:-1], moved.reshape(-1, moved.shape[-1])
    picked = np.zeros((flat.shape[0], k), I64)
    for r, row in enumerate(flat):
        values = [(float("nan") if v != v else v) for v in row.tolist()]
        def key(i):
            v, nan = values[i], values[i] != values[i]
            return (not nan, -v if not nan else 0, i) if largest else (nan, v if not nan else 0, i)
        picked[r] = sorted(range(len(values)), key=key)[:k]
    indices = np.moveaxis(picked.reshape(*columns, k), -1, axis)
    return [np.take_along_axis(x, indices, axis), indices]


def own_scatter(case):
    """In row-major order of the updates, one at a time, rounded each time."""
    data, indices, updates = case.inputs
    kind, out = case.attributes.get("reduction", "none"), case.inputs[0].copy()
    with np.errstate(all="ignore"):
        for at in np.ndindex(*(indices.shape if case.op == "ScatterElements" else indices.shape[:-1])):
            if case.op == "ScatterElements":
                where = list(at)
                where[case.attributes.get("axis", 0)] = indices[at]
                where = tuple(int(w) for w in where)
            else:
                where = tuple(int(w) for w in indices[at])
            out[where] = updates[at] if kind == "none" else REDUCE[kind](out[where], updates[at])
    return [out]


def own_cum_sum(case):
    """onnxruntime has no float16; sums run in float64 here."""
    x, axis = case.inputs[0], int(case.inputs[1])
    wide = x.astype(F64) if x.dtype.kind == "f" else x
    if case.attributes.get("reverse", 0):
        wide = np.flip(wide, axis)
    y = np.cumsum(wide, axis, dtype=wide.dtype)
    if case.attributes.get("exclusive", 0):
        zero = np.zeros_like(np.take(y, [0], axis)) if y.shape[axis] else np.take(y, [], axis)
        y = np.concatenate([zero, np.delete(y, -1, axis)], axis) if y.shape[axis] else y
    return [(np.flip(y, axis) if case.attributes.get("reverse", 0) else y).astype(x.dtype)]


def own_one_hot(case):
    indices, depth, values = case.inputs[0], int(np.ravel(case.inputs[1])[0]), case.inputs[2]
    axis = case.attributes.get("axis", -1) % (indices.ndim + 1)
    index = np.expand_dims(indices.astype(I64), axis)
    index = np.where(index < 0, index + depth, index)
    shape = [1] * index.ndim
    shape[axis] = depth
    return [np.where(np.arange(depth).reshape(shape) == index, values[1], values[0]).astype(values.dtype)]


def own_reference(case):
    """onnx.reference: kernels of onnxruntime follow an earlier text of these operators. float16 runs in float32 there."""
    given, half = case.inputs, case.inputs[0].dtype == F16
    if half:
        case.inputs = [a.astype(F32) if a is not None and a.dtype == F16 else a for a in given]
    feeds = {f"i{k}": a for k, a in enumerate(case.inputs) if a is not None}
    try:
        with np.errstate(all="ignore"):
            got = onnx.reference.ReferenceEvaluator(case.model()).run(None, feeds)
            return [a.astype(F16) for a in got] if half else got
    finally:
        case.inputs = given


OWN_INDEX = {"Attention": own_reference, "RotaryEmbedding": own_reference, "TopK": own_top_k, "ScatterElements": own_scatter, "ScatterND": own_scatter, "CumSum": own_cum_sum, "OneHot": own_one_hot}


def indexing(m):
    index = lambda shape, low, high, dtype=I64: m.rng.integers(low, high, shape).astype(dtype)
    for n, dtype in enumerate(TYPES):
        itype = [I64, I32][n % 2]
        for data, indices, axis in [((5,), (3,), 0), ((5, 3), (2, 3), 0), ((5, 3), (5, 7), 1), ((2, 6, 4), (2, 3, 4), -2), ((3, 5), (2, 2), 1),
                                    ((4, 0), (2, 0), 0), ((7, 1), (0, 1), 0), ((300, 33), (17, 33), 0)]:
            extent = data[axis]
            at = index(indices, -extent, extent, itype) if extent else np.zeros(indices, itype)
            m.add("GatherElements", [m.array(data, dtype), at], {"axis": axis})
            for kind in ["none"] + (list(REDUCE) if dtype is not np.bool_ else []):
                opset = {"none": 13, "add": 16, "mul": 16}.get(kind, 18)
                m.add("ScatterElements", [m.array(data, dtype), at, m.array(indices, dtype)],
                      {"axis": axis, **({"reduction": kind} if opset > 13 else {})}, opsets=(opset, 24) if kind != "mul" else (24,))
        for data, q, length, batch in [((5,), (3,), 1, 0), ((5, 3), (4,), 1, 0), ((5, 3), (2, 2), 2, 0), ((2, 5, 3), (2, 4), 1, 1),
                                       ((2, 5, 3), (2,), 2, 1), ((2, 3, 4, 5), (2, 3, 2), 1, 2), ((3, 4), (0,), 1, 0)]:
            parts = [index(q, -e, e) for e in data[batch:batch + length]]
            at = np.stack(parts, -1)
            m.add("GatherND", [m.array(data, dtype), at], {"batch_dims": batch} if batch else {}, opsets=(13, 24))
            if batch:
                continue
            rest = (*q, *data[length:])
            for kind in ["none"] + (list(REDUCE) if dtype is not np.bool_ else []):
                opset = {"none": 13, "add": 16, "mul": 16}.get(kind, 18)
                m.add("ScatterND", [m.array(data, dtype), at, m.array(rest, dtype)], {"reduction": kind} if opset > 13 else {}, opsets=(opset,))
        if dtype is np.bool_:
            continue
        for shape, axis, k in [((7,), 0, 3), ((3, 5), 1, 5), ((3, 5), 0, 1), ((2, 4, 6), -2, 2), ((4, 0), 0, 2), ((2, 5), 1, 0), ((3, 300), -1, 17)]:
            for largest in (0, 1):
                m.add("TopK", [m.array(shape, dtype), np.array([k], I64)], {"axis": axis, "largest": largest}, opsets=(13, 24), outputs=2)
        for largest in (0, 1):
            s = m.special(dtype)
            m.add("TopK", [s, np.array([len(s)], I64)], {"largest": largest}, outputs=2, label="special")
        for shape in [(), (2, 3), (0,), (4, 1)]:
            for axis in (0, -1):
                m.add("OneHot", [m.array(shape, I64, -7, 7), np.array([5], I64), m.array((2,), dtype)], {"axis": axis})
        m.add("OneHot", [m.array((3,), dtype, 0, 4), np.array(4, F32), m.array((2,), F32)])
        for k in (-2, 0, 1, 9):
            m.add("EyeLike", [m.array((3, 5), dtype)], {"k": k})
        m.add("EyeLike", [m.array((2, 2), dtype)], {"dtype": 1})
        if dtype in (F32, F16, F64, I64, I32, np.uint64, np.uint32):
            for shape, axis in [((7,), 0), ((3, 5), 1), ((3, 5), -2), ((2, 3, 4), 1), ((0, 3), 0), ((3, 0), 0), ((2, 100), 1), ((70, 3), 0)]:
                for exclusive in (0, 1):
                    for reverse in (0, 1):
                        m.add("CumSum", [m.array(shape, dtype), np.array(axis, itype)], {"exclusive": exclusive, "reverse": reverse})
    for dtype in (F32, F16, F64, I64, I32):
        for equation, shapes in [("ij->ji", [(3, 5)]), ("ij,jk->ik", [(3, 5), (5, 2)]), ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]), ("i,j->ij", [(3,), (4,)]),
                                 ("ii->i", [(4, 4)]), ("ii", [(4, 4)]), ("iji->j", [(3, 2, 3)]), ("...ij,...jk->...ik", [(2, 1, 3, 4), (5, 4, 2)]),
                                 ("bqhd,bkhd->bhqk", [(2, 3, 2, 4), (2, 5, 2, 4)]), ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 2)]), ("ij->", [(3, 4)]),
                                 ("i,i", [(5,), (5,)]), ("ij,ij->ij", [(3, 4), (3, 4)]), ("...,...", [(3, 1), (1, 4)]), ("ab,cd->dbca", [(2, 3), (4, 5)]),
                                 ("bn, nk -> bk", [(2, 0), (0, 3)]), ("...a->a...", [(2, 3, 4)]), ("Ab,bA->", [(2, 3), (3, 2)]),
                                 ("abc,cd,b->ad", [(2, 3, 4), (4, 5), (3,)]), ("iij,jkk->ik", [(2, 2, 3), (3, 4, 4)])]:
            m.add("Einsum", [m.array(s, dtype) for s in shapes], {"equation": equation})


def quantized(m):
    """QuantizeLinear and its kin; scales are powers of two times odd numbers, so that ties are met."""
    import ml_dtypes
    from onnx import helper
    number = lambda dtype: helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    whole = [np.uint8, np.int8, np.uint16, np.int16, ml_dtypes.uint4, ml_dtypes.int4]
    def points(shape, dtype):
        bits = {"uint4": (0, 16), "int4": (-8, 8)}.get(np.dtype(dtype).name) or (np.iinfo(dtype).min, np.iinfo(dtype).max + 1)
        return m.rng.integers(*bits, shape).astype(np.int32).astype(dtype)
    shapes = [((), None, 0), ((5,), None, 0), ((2, 3, 4), None, 0), ((3, 5), 0, 0), ((2, 3, 4), 1, 0), ((2, 3, 4), -1, 0), ((3, 8), 1, 4), ((6, 5), 0, 4),
              ((2, 9, 2), 1, 2), ((0, 3), None, 0), ((2, 70), 1, 32)]
    for shape, axis, block in shapes:
        if axis is None:
            scale_shape = ()
        elif block:
            scale_shape = tuple(-(-d // block) if i == axis % len(shape) else d for i, d in enumerate(shape))
        else:
            scale_shape = (shape[axis],)
        attributes = {**({"axis": axis} if axis is not None else {}), **({"block_size": block} if block else {})}
        for to in whole:
            small = np.dtype(to).itemsize == 1 and np.dtype(to).name in ("int8", "uint8")
            opset = 13 if small and not block else 21
            for ftype in (F32, F16) if opset == 21 else (F32,):
                scale = (m.rng.integers(1, 9, scale_shape) / 16).astype(ftype)
                x = (m.rng.integers(-400, 400, shape) / 8).astype(ftype)
                m.add("QuantizeLinear", [x, scale, points(scale_shape, to)], attributes, opsets=(opset, 24))
                m.add("DequantizeLinear", [points(shape, to), scale, points(scale_shape, to)], attributes, opsets=(opset, 24))
            if opset == 21:
                m.add("QuantizeLinear", [x.astype(F32), scale.astype(F32)], {**attributes, "output_dtype": number(to)}, opsets=(21, 24))
        scale = (m.rng.integers(1, 9, scale_shape) / 16).astype(F32)
        m.add("DequantizeLinear", [m.array(shape, np.int32, -1000, 1000), scale], attributes, opsets=(21 if block else 13, 24))
        for to in (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2):
            x = (m.rng.integers(-400, 400, shape) / 8).astype(F32)
            m.add("QuantizeLinear", [x, scale, np.zeros(scale_shape, to)], attributes, opsets=(21,))
            m.add("DequantizeLinear", [x.astype(to), scale], attributes, opsets=(21,))
    for shape in [(7,), (3, 5), (1,), (2, 3, 4)]:
        for low, high in [(-3, 3), (1, 4), (-4, -1), (0, 0)]:
            m.add("DynamicQuantizeLinear", [m.array(shape, F32, low, high)], outputs=3)
    for a, b in [((3, 5), (5, 2)), ((2, 3, 5), (5, 4)), ((2, 3, 4), (2, 4, 3)), ((5,), (5, 2)), ((1, 300), (300, 3))]:
        for t in (np.uint8, np.int8):
            for u in (np.uint8, np.int8):
                x, y = points(a, t), points(b, u)
                m.add("MatMulInteger", [x, y])
                m.add("MatMulInteger", [x, y, points((), t), points((), u)])
                f = lambda v: np.array(v, F32)
                if t is u:
                    for v in (np.uint8, np.int8):
                        m.add("QLinearMatMul", [x, f(0.02), points((), t), y, f(0.013), points((), u), f(0.07 * a[-1] ** 0.5), points((), v)], opsets=(13, 24))
        if len(a) == 2:
            m.add("MatMulInteger", [points(a, np.uint8), points(b, np.uint8), points((a[0],), np.uint8), points((b[1],), np.uint8)])


def attention(m):
    for dtype in (F32, F16, F64):
        for b, hq, hk, s, t, d, dv, past in [(1, 2, 2, 3, 3, 4, 4, 0), (2, 4, 2, 3, 5, 8, 6, 0), (2, 6, 1, 1, 1, 4, 4, 7), (1, 3, 3, 5, 2, 2, 3, 2), (2, 2, 2, 0, 3, 4, 4, 0)]:
            if d % 2:
                continue
            array = lambda shape: m.array(shape, dtype, -1, 1)  # sums that nearly cancel say nothing of float16
            q, k, v = array((b, hq, s, d)), array((b, hk, t, d)), array((b, hk, t, dv))
            pk, pv = array((b, hk, past, d)), array((b, hk, past, dv))
            flat = lambda x: np.ascontiguousarray(x.transpose(0, 2, 1, 3)).reshape(b, x.shape[2], x.shape[1] * x.shape[3])
            keys = t + past
            masks = [None, array((s, keys)), m.array((b, 1, s, keys), np.bool_), array((hq, s, keys)), m.array((1, keys), np.bool_)]
            for n, mask in enumerate(masks):
                for causal in (0, 1):
                    if causal and mask is not None and mask.shape[-2] != s:
                        continue  # the reference loses the queries here
                    mode = int(m.rng.integers(0, 4))
                    extra = [{}, {"softcap": 1.5}, {"scale": 0.25}, {"softmax_precision": 1}][int(m.rng.integers(0, 4))]
                    if "softcap" in extra:  # mode 0 is capped there, against the text
                        mode = max(mode, 1)
                    attributes = {"is_causal": causal, "qk_matmul_output_mode": mode, **extra}
                    if dtype is F64:
                        attributes.pop("softmax_precision", None)
                    more = [mask, pk, pv] if past else [mask] if mask is not None else []
                    m.add("Attention", [q, k, v, *more], attributes, opsets=(23, 24), outputs=[0, 1, 2, 3])
                    if s:
                        m.add("Attention", [flat(q), flat(k), flat(v), *more], {**attributes, "q_num_heads": hq, "kv_num_heads": hk}, outputs=1)
            if past == 0 and t:
                length = m.rng.integers(0, t + 1, b).astype(I64)
                for causal in (0, 1):
                    m.add("Attention", [q, k, v, None, None, None, length], {"is_causal": causal})
                    if t > 1:
                        short = max(1, int(length.max()))
                        m.add("Attention", [q, k, v, array((s, short)), None, None, length], {"is_causal": causal},
                              label="static dims")
        if dtype is F64:
            continue
        for b, s, h, d, turned in [(1, 1, 1, 2, 0), (2, 3, 4, 8, 0), (2, 5, 3, 6, 4), (1, 0, 2, 4, 0)]:
            half = (turned or d) // 2
            ids = m.rng.integers(0, 9, (b, s)).astype(I64)
            for interleaved in (0, 1):
                base = {"interleaved": interleaved, **({"rotary_embedding_dim": turned} if turned else {})}
                for caches in ([m.array((9, half), dtype, -1, 1), m.array((9, half), dtype, -1, 1), ids],
                               [m.array((b, s, half), dtype, -1, 1), m.array((b, s, half), dtype, -1, 1)]):
                    m.add("RotaryEmbedding", [m.array((b, h, s, d), dtype, -1, 1), *caches], {**base, **({"num_heads": h} if turned else {})}, opsets=(23, 24))
                    if s:
                        m.add("RotaryEmbedding", [m.array((b, s, h * d), dtype, -1, 1), *caches], {**base, "num_heads": h})
