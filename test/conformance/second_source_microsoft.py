"""Random cases of the com.microsoft operators; ONNX Runtime, whose own they are, is their second source. Entry: microsoft."""
import numpy as np

F32, F16, F64, I64, I32 = np.float32, np.float16, np.float64, np.int64, np.int32
MS = "com.microsoft."


def ramp(m, shape, dtype=F32, low=-3, high=3):
    return m.array(shape, dtype, low, high)


def products(m):
    for dtype in (F32, F64):
        for a, b, flags in [((3, 4), (4, 5), {}), ((4, 3), (4, 5), {"transA": 1}), ((3, 4), (5, 4), {"transB": 1}),
                            ((2, 4, 3), (2, 5, 4), {"transA": 1, "transB": 1}), ((7,), (7, 3), {}), ((3, 7), (7,), {"transA": 0}),
                            ((2, 3, 4), (4, 5), {}), ((0, 4), (4, 5), {}), ((3, 2, 4), (2, 4, 5), {"transBatchA": 1}),
                            ((2, 3, 4), (4, 2, 5), {"transBatchB": 1}), ((4, 2, 3), (2, 4, 5), {"transBatchA": 1, "transA": 1})]:
            for alpha in (1.0, 0.125):
                m.add(MS + "FusedMatMul", [ramp(m, a, dtype), ramp(m, b, dtype)], {**flags, "alpha": alpha})
    for activation, extra in [("Relu", {}), ("Sigmoid", {}), ("Tanh", {}), ("LeakyRelu", {"activation_alpha": 0.2}),
                              ("HardSigmoid", {"activation_alpha": 0.3, "activation_beta": 0.4})]:
        attributes = {"activation": activation, **extra}
        m.add(MS + "FusedGemm", [ramp(m, (3, 4)), ramp(m, (4, 5)), ramp(m, (5,))], {**attributes, "alpha": 0.5})
        m.add(MS + "FusedGemm", [ramp(m, (4, 3)), ramp(m, (5, 4))], {**attributes, "transA": 1, "transB": 1})
    for activation, params in [("Relu", None), ("Sigmoid", None), ("Tanh", None), ("LeakyRelu", [0.2]), ("Clip", [-1.0, 1.5]),
                               ("HardSigmoid", [0.3, 0.4])]:
        attributes = {"activation": activation, **({"activation_params": params} if params else {})}
        m.add(MS + "FusedConv", [ramp(m, (2, 3, 7, 5)), ramp(m, (4, 3, 3, 3)), ramp(m, (4,))], {**attributes, "pads": [1, 1, 1, 1]})
        m.add(MS + "FusedConv", [ramp(m, (1, 2, 4, 4)), ramp(m, (2, 1, 3, 3)), ramp(m, (2,)), ramp(m, (1, 2, 2, 2))],
              {**attributes, "group": 2})
        m.add(MS + "FusedConv", [ramp(m, (1, 4, 6, 6)), ramp(m, (4, 2, 3, 3)), ramp(m, (4,)), ramp(m, (1, 4, 4, 4))],
              {**attributes, "group": 2})


def activations(m):
    special = m.special(F32)
    for shape in [(7,), (3, 5), (0, 4), (2, 3, 33)]:
        m.add(MS + "Gelu", [ramp(m, shape)])
        m.add(MS + "FastGelu", [ramp(m, shape)])
        m.add(MS + "FastGelu", [ramp(m, shape), ramp(m, shape[-1:])])
        m.add(MS + "BiasGelu", [ramp(m, shape), ramp(m, shape[-1:])])
        for alpha in (1.702, 1.0, -0.5):
            m.add(MS + "QuickGelu", [ramp(m, shape)], {"alpha": alpha})
    for op in ("Gelu", "FastGelu", "QuickGelu"):
        finite = special[np.abs(np.nan_to_num(special, posinf=1e9, neginf=1e9)) < 1e6]
        m.add(MS + op, [finite], label="special")


def normalizations(m):
    for dtype in (F32, F16):
        for shape in [(2, 3, 8), (1, 1, 1), (2, 5, 33), (0, 3, 4)]:
            n = shape[-1:]
            x, skip = ramp(m, shape, dtype), ramp(m, shape, dtype)
            gamma, beta, bias = ramp(m, n, dtype), ramp(m, n, dtype), ramp(m, n, dtype)
            for op, parameters in (("SkipLayerNormalization", [gamma, beta]), ("SkipSimplifiedLayerNormalization", [gamma])):
                m.add(MS + op, [x, skip, *parameters], {"epsilon": 1e-5})
                m.add(MS + op, [x, skip, *parameters, bias], {"epsilon": 1e-5}, outputs=[0, 3])
            m.add(MS + "SkipLayerNormalization", [x, skip, gamma], {"epsilon": 1e-2})
            if shape[0] > 1:
                m.add(MS + "SkipLayerNormalization", [x, skip[:1], gamma, beta], {"epsilon": 1e-5})
                m.add(MS + "SkipSimplifiedLayerNormalization", [x, skip[0], gamma], {"epsilon": 1e-5})
    for dtype in (F32, F64, F16):
        for shape, axis in [((2, 3, 8), -1), ((4, 6), 1), ((2, 3, 4), 1), ((33,), 0)]:
            x = ramp(m, shape, dtype)
            m.add("SimplifiedLayerNormalization", [x, ramp(m, shape[axis:], dtype)], {"axis": axis, "epsilon": 1e-5, "stash_type": 1}, outputs=2 if dtype == F32 else 1)


def rotary(m):
    for dtype in (F32, F16):
        for interleaved in (0, 1):
            angle = m.array((9, 4), F64, -3, 3)
            cos, sin = np.cos(angle).astype(dtype), np.sin(angle).astype(dtype)
            m.add(MS + "RotaryEmbedding", [ramp(m, (1, 3, 6), dtype), m.array((1, 3), I64, 0, 4), cos[:5, :1], sin[:5, :1]],
                  {"interleaved": interleaved})
            m.add(MS + "RotaryEmbedding", [ramp(m, (2, 1, 3, 4), dtype), np.array([1], I64), cos[:5, :2], sin[:5, :2]],
                  {"interleaved": interleaved})
            for positions in (np.array([3], I64), m.array((2, 5), I64, 0, 8)):
                m.add(MS + "RotaryEmbedding", [ramp(m, (2, 5, 24), dtype), positions, cos, sin], {"interleaved": interleaved})
                m.add(MS + "RotaryEmbedding", [ramp(m, (2, 3, 5, 8), dtype), positions, cos, sin], {"interleaved": interleaved})
                m.add(MS + "RotaryEmbedding", [ramp(m, (2, 5, 30), dtype), positions, cos, sin],
                      {"interleaved": interleaved, "num_heads": 3, "rotary_embedding_dim": 8})


def multi_head_attention(m):
    op = MS + "MultiHeadAttention"
    for b, s, l, h, d, dv in [(2, 3, 5, 2, 4, 4), (1, 1, 7, 3, 2, 2), (2, 4, 4, 1, 8, 8), (2, 3, 5, 2, 4, 6)]:
        q, k, v = ramp(m, (b, s, h * d)), ramp(m, (b, l, h * d)), ramp(m, (b, l, h * dv))
        m.add(op, [q, k, v], {"num_heads": h})
        m.add(op, [q, k, v], {"num_heads": h, "scale": 0.3, "mask_filter_value": -5.0})
        m.add(op, [q, k, v, ramp(m, (2 * h * d + h * dv,))], {"num_heads": h})
        m.add(op, [q, k, v, None, m.array((b, l), I32, 0, 1)], {"num_heads": h, "mask_filter_value": -3.0})
        m.add(op, [q, k, v, None, m.array((b, s, l), I32, 0, 1)], {"num_heads": h})
        m.add(op, [q, k, v, None, m.array((b,), I32, 1, l)], {"num_heads": h})
        m.add(op, [q, k, v, None, None, ramp(m, (b, h, s, l))], {"num_heads": h})
        m.add(op, [q, k, v, None, m.array((b, l), I32, 0, 1), ramp(m, (1, 1, s, l))], {"num_heads": h})
        m.add(op, [q, ramp(m, (b, h, l, d)), ramp(m, (b, h, l, dv))], {"num_heads": h})
        if s == l:
            m.add(op, [q, k, v], {"num_heads": h, "unidirectional": 1})
            m.add(op, [ramp(m, (b, s, h, 3, d))], {"num_heads": h})
        m.add(op, [q, ramp(m, (b, l, h, 2, d))], {"num_heads": h})
        if d == dv:
            past = [ramp(m, (b, h, 3, d)), ramp(m, (b, h, 3, d))]
            m.add(op, [q, k, v, None, None, None, *past], {"num_heads": h}, outputs=3)
            m.add(op, [q, k[:, :s], v[:, :s], None, m.array((b, s + 3), I32, 0, 1), None, *past], {"num_heads": h, "unidirectional": 1}, outputs=3)


def group_query_attention(m):
    op = MS + "GroupQueryAttention"
    for dtype in (F32, F16):
        for b, s, past, h, g, d in [(1, 1, 5, 4, 2, 16), (1, 1, 1, 1, 1, 16), (2, 4, 0, 4, 1, 16), (3, 1, 6, 2, 2, 16), (1, 3, 4, 6, 3, 16), (2, 1, 7, 4, 4, 16)]:
            total = past + s
            lengths = np.full((b,), total - 1, I32)
            if past:
                lengths[1:] -= np.arange(1, b).astype(I32)
            total_length = np.array(total, I32)
            q, k, v = ramp(m, (b, s, h * d), dtype, -1, 1), ramp(m, (b, s, g * d), dtype, -1, 1), ramp(m, (b, s, g * d), dtype, -1, 1)
            caches = [ramp(m, (b, g, past, d), dtype, -1, 1), ramp(m, (b, g, past, d), dtype, -1, 1)]
            angle = m.array((total + 2, d // 2), F64, -3, 3)
            turn = [np.cos(angle).astype(dtype), np.sin(angle).astype(dtype)]
            plain = {"num_heads": h, "kv_num_heads": g}
            given = [q, k, v, *caches, lengths, total_length]
            m.add(op, given, plain, outputs=3)
            m.add(op, given + turn, {**plain, "do_rotary": 1}, outputs=3)
            m.add(op, given + turn, {**plain, "do_rotary": 1, "rotary_interleaved": 1, "scale": 0.2}, outputs=3)
            m.add(op, given, {**plain, "local_window_size": 2}, outputs=3)
            m.add(op, given, {**plain, "softcap": 1.5}, outputs=3)
            m.add(op, given, {**plain, "smooth_softmax": 1}, outputs=3)
            m.add(op, given + [None, None, None, None, ramp(m, (h,), dtype)], plain, outputs=3)
            m.add(op, given + [None, None, None, ramp(m, (b, h, s, total), dtype)], plain, outputs=3)
            packed = [np.concatenate([q, k, v], 2), None, None, *caches, lengths, total_length]
            m.add(op, packed + turn, {**plain, "do_rotary": 1}, outputs=3)


def own_group_query_attention(case):
    """Batches of different lengths: what lies behind the last key of a shorter one is not the same in ONNX Runtime."""
    x = [a if a is None else a.astype(F64) for a in case.inputs] + [None] * 12
    lengths, total = case.inputs[5], int(case.inputs[6])
    if np.all(lengths == lengths[0]):
        return None
    n, g, at = case.attributes["num_heads"], case.attributes["kv_num_heads"], case.attributes
    b, s = x[0].shape[:2]
    heads = lambda a, count: a.reshape(b, s, count, -1).transpose(0, 2, 1, 3)
    parts = [heads(x[0], n), heads(x[1], g), heads(x[2], g)] if x[1] is not None else np.split(heads(x[0], n + 2 * g), [n, n + g], 1)
    q, k, v = parts
    past = [0 if total == s else int(length) + 1 - s for length in lengths]
    if at.get("do_rotary", 0):
        index = np.array([[p + i for i in range(s)] for p in past])
        cos, sin = x[7][index][:, None], x[8][index][:, None]
        half = cos.shape[-1]

        def turn(a):
            y = a.copy()
            one, two = (slice(0, 2 * half, 2), slice(1, 2 * half, 2)) if at.get("rotary_interleaved", 0) else (slice(0, half), slice(half, 2 * half))
            y[..., one], y[..., two] = cos * a[..., one] - sin * a[..., two], sin * a[..., one] + cos * a[..., two]
            return y
        q, k = turn(q), turn(k)
    caches = []
    for old, new in ((x[3], k), (x[4], v)):
        rows = [np.concatenate([old[i, :, :p], new[i], *[new[i, :, -1:]] * (total - p - s)], 1) for i, p in enumerate(past)]
        caches.append(np.stack(rows))
    keys, values = (np.repeat(c, n // g, 1) for c in caches)
    scores = q @ keys.transpose(0, 1, 3, 2) * (at.get("scale", 0) or 1 / np.sqrt(q.shape[-1]))
    if at.get("softcap", 0):
        scores = at["softcap"] * np.tanh(scores / at["softcap"])
    if x[10] is not None:
        scores = scores + x[10]
    place, key = np.array(past)[:, None, None, None] + np.arange(s)[:, None], np.arange(total)
    allowed = key <= place
    if at.get("local_window_size", -1) > 0:
        allowed = allowed & (place - key < at["local_window_size"])
    scores = np.where(allowed, scores, -np.inf)
    sink = x[11][None, :, None, None] if x[11] is not None else np.zeros((1, 1, 1, 1)) if at.get("smooth_softmax", 0) > 0 else None
    weights = np.exp(scores)
    weights = weights / (weights.sum(-1, keepdims=True) + (0 if sink is None else np.exp(sink)))
    y = (weights @ values).transpose(0, 2, 1, 3).reshape(b, s, -1)
    return [a.astype(case.inputs[0].dtype) for a in (y, *caches)]


OWN_MICROSOFT = {MS + "GroupQueryAttention": own_group_query_attention}


def microsoft(m):
    for area in (products, activations, normalizations, rotary, multi_head_attention, group_query_attention):
        area(m)
