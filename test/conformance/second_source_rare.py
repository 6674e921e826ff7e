"""Random cases of operators that few models have: losses, sequences, folds, signals, grids, regions, and numpy formulas where neither
ONNX Runtime nor onnx.reference has a kernel that is right. Entries: rare, OWN_RARE.
"""
import numpy as np
from onnx import helper

F32, F16, F64, I64, I32, I8, U8 = np.float32, np.float16, np.float64, np.int64, np.int32, np.int8, np.uint8
FLOATS = [F32, F16, F64]


def ints(*values):
    return np.array(values, I64)


def number(value, dtype=I64):
    return np.array(value, dtype)


# -- losses --

def losses(m):
    for op in ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"):
        for dtype in FLOATS:
            for shape in [(3, 5), (2, 4, 3), (1, 2, 3, 2), (2, 1)]:
                target = m.array((shape[0], *shape[2:]), I64, 0, shape[1] - 1)
                x, weight = m.array(shape, dtype), m.array((shape[1],), dtype, 0.1, 2)
                for reduction in ("none", "sum", "mean"):
                    outputs = 2 if op[0] == "S" else 1
                    m.add(op, [x, target, weight], {"reduction": reduction}, outputs=outputs)
                    m.add(op, [x, target.astype(I32)], {"reduction": reduction}, opsets=(13, 24), outputs=outputs)
                    ignored = target.copy()
                    ignored.reshape(-1)[0] = -100
                    m.add(op, [x, ignored, weight], {"reduction": reduction, "ignore_index": -100}, outputs=outputs)
                    m.add(op, [x, target], {"reduction": reduction, "ignore_index": int(target.reshape(-1)[-1])}, outputs=outputs)
        m.add(op, [m.array((3, 5), F32, 300, 900), m.array((3,), I64, 0, 4)], label="large")


def own_loss(case):
    """onnxruntime has no kernel for most types; onnx.reference keeps float64 sums in float32."""
    x = case.inputs[0].astype(F64)
    target = case.inputs[1].astype(I64)
    n, classes = x.shape[:2]
    log_prob = x
    if case.op[0] == "S":
        shifted = x - x.max(1, keepdims=True)
        log_prob = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    weight = case.inputs[2].astype(F64) if len(case.inputs) > 2 else np.ones(classes)
    valid = target != case.attributes.get("ignore_index", -2**40)
    safe = np.where(valid, target, 0)
    w = np.where(valid, weight[safe], 0)
    loss = -np.take_along_axis(log_prob, safe[:, None], 1)[:, 0] * w
    kind = case.attributes.get("reduction", "mean")
    y = loss if kind == "none" else loss.sum() if kind == "sum" else loss.sum() / w.sum()
    return [np.asarray(y).astype(case.inputs[0].dtype), log_prob.astype(case.inputs[0].dtype)][:case.outputs]


# -- sequences and shapes --

def sequences(m):
    for dtype in (F32, F16, I32, U8, np.bool_):
        for shape in [(4, 3), (5, 2, 3), (1, 1), (3, 0, 2)]:
            for batch in (0, 1):
                lengths = m.array((shape[batch],), I64, 1, max(shape[1 - batch], 1))
                m.add("ReverseSequence", [m.array(shape, dtype), lengths], {"batch_axis": batch, "time_axis": 1 - batch}, opsets=(13, 24))
        for shape, axis, count in [((2, 3, 5, 4), -2, 2), ((2, 7), 1, 3), ((3, 4, 2), -1, 1), ((2, 3, 5, 4), 1, 3), ((2, 4, 3), 1, 0)]:
            update = list(shape)
            update[axis] = count
            starts = m.array((shape[0],), I64, 0, shape[axis] - count)
            cache, new = m.array(shape, dtype), m.array(update, dtype)
            m.add("TensorScatter", [cache, new], {"axis": axis})
            m.add("TensorScatter", [cache, new, starts], {"axis": axis})
            m.add("TensorScatter", [cache, new, starts + 2], {"axis": axis, "mode": "circular"})
        for shape, wanted, axes in [((5, 4), (3, 3), None), ((5, 4), (8, 1), None), ((3, 5, 2), (6, 3), [0, -1]), ((2, 3), (2, 3), None), ((1, 1), (4, 5), None), ((0, 2), (3, 2), None),
                                    ((4,), (0,), [0])]:
            m.add("CenterCropPad", [m.array(shape, dtype), ints(*wanted)], {"axes": axes} if axes else {})


def own_tensor_scatter(case):
    y, update = case.inputs[0].copy(), case.inputs[1]
    axis = case.attributes.get("axis", -2) % y.ndim
    for b in range(y.shape[0]):
        start = int(case.inputs[2][b]) if len(case.inputs) > 2 else 0
        for s in range(update.shape[axis]):
            at = (start + s) % y.shape[axis]
            np.moveaxis(y[b], axis - 1, 0)[at] = np.moveaxis(update[b], axis - 1, 0)[s]
    return [y]


def own_reverse_sequence(case):
    """onnxruntime has few types, and none for empty tensors."""
    x, lengths = case.inputs
    batch = case.attributes.get("batch_axis", 1)
    y = np.swapaxes(x.copy(), 0, batch)
    for b, length in enumerate(lengths):
        y[b, :length] = y[b, :length][::-1].copy()
    return [np.swapaxes(y, 0, batch)]


def own_center_crop_pad(case):
    """onnx.reference takes axes that are absent for an empty list."""
    x = case.inputs[0]
    axes = case.attributes.get("axes", range(x.ndim))
    for axis, wanted in zip(axes, case.inputs[1]):
        kept = min(wanted, x.shape[axis])
        first = (x.shape[axis] - kept) // 2
        x = np.take(x, range(first, first + kept), axis)
        before = (wanted - kept) // 2
        widths = [(0, 0)] * x.ndim
        widths[axis] = (before, wanted - kept - before)
        x = np.pad(x, widths)
    return [x]


def folds(m):
    for dtype in (F32, F64, I32):
        for n, ch, image, block, more in [(2, 3, (5, 4), (2, 3), {}), (1, 2, (6, 6), (3, 2), {"strides": [2, 3]}), (1, 1, (5, 5), (2, 2), {"dilations": [2, 1]}),
                                          (2, 1, (4, 5), (3, 3), {"pads": [1, 0, 1, 2]}), (1, 2, (4, 3, 3), (2, 2, 1), {"pads": [0, 1, 0, 0, 1, 0]}), (1, 1, (1, 1), (1, 1), {}),
                                          (0, 2, (3, 3), (2, 2), {}), (1, 2, (7,), (3,), {"strides": [2]})]:
            r = len(image)
            pads, strides, dil = more.get("pads", [0] * 2 * r), more.get("strides", [1] * r), more.get("dilations", [1] * r)
            counts = [(image[i] + pads[i] + pads[i + r] - dil[i] * (block[i] - 1) - 1) // strides[i] + 1 for i in range(r)]
            m.add("Col2Im", [m.array((n, ch * int(np.prod(block)), int(np.prod(counts))), dtype), ints(*image), ints(*block)], more)


def own_col2im(case):
    x, image, block = case.inputs[0], case.inputs[1].tolist(), case.inputs[2].tolist()
    r, a = len(image), case.attributes
    pads, strides, dil = a.get("pads", [0] * 2 * r), a.get("strides", [1] * r), a.get("dilations", [1] * r)
    counts = [(image[i] + pads[i] + pads[i + r] - dil[i] * (block[i] - 1) - 1) // strides[i] + 1 for i in range(r)]
    x = x.reshape(x.shape[0], x.shape[1] // int(np.prod(block)), *block, *counts)
    y = np.zeros((x.shape[0], x.shape[1], *[image[i] + pads[i] + pads[i + r] for i in range(r)]), x.dtype)
    for k in np.ndindex(*block):
        for l in np.ndindex(*counts):
            y[(slice(None), slice(None), *[k[i] * dil[i] + l[i] * strides[i] for i in range(r)])] += x[(slice(None), slice(None), *k, *l)]
    return [y[(slice(None), slice(None), *[slice(pads[i], pads[i] + image[i]) for i in range(r)])]]


def unpools(m):
    for dtype in FLOATS:
        for shape, kernel, strides, pads in [((1, 2, 3, 3), [2, 2], [2, 2], None), ((2, 1, 4), [3], [2], None), ((1, 1, 2, 3), [3, 2], [2, 1], [1, 0, 0, 1]), ((1, 1, 2, 2, 2), [2, 2, 2], [2, 2, 2], None)]:
            r = len(kernel)
            full = [(shape[i + 2] - 1) * strides[i] + kernel[i] - (pads[i] + pads[i + r] if pads else 0) for i in range(r)]
            total = shape[0] * shape[1] * int(np.prod(full))
            index = m.rng.permutation(total)[:int(np.prod(shape))].reshape(shape).astype(I64)
            attributes = {"kernel_shape": kernel, "strides": strides, **({"pads": pads} if pads else {})}
            m.add("MaxUnpool", [m.array(shape, dtype), index], attributes, opsets=(13, 24))
            if not pads:
                m.add("MaxUnpool", [m.array(shape, dtype), index, ints(shape[0], shape[1], *[f + 1 for f in full])], attributes)


def determinants(m):
    for dtype in FLOATS:
        for shape in [(1, 1), (2, 2), (3, 3), (2, 4, 4), (3, 2, 5, 5), (9, 9), (0, 3, 3)]:
            m.add("Det", [m.array(shape, dtype, -1, 1)])
        singular = m.array((4, 4), dtype, -1, 1)
        singular[2] = 0
        m.add("Det", [singular], label="singular")
        m.add("Det", [np.eye(5)[[1, 0, 2, 4, 3]].astype(dtype)], label="permutation")
        m.add("Det", [np.zeros((3, 3), dtype)], label="zero")


def own_det(case):
    x = case.inputs[0]
    return [np.asarray(np.linalg.det(x.astype(F64))).astype(x.dtype)]


def quantized_conv(m):
    for xt in (U8, I8):
        for wt in (U8, I8):
            if xt == I8 and wt == U8:
                continue  # onnxruntime has none
            for per_channel in (False, True):
                for bias in (False, True):
                    x, w = m.array((1, 2, 5, 4), xt, -100, 100), m.array((3, 2, 3, 2), wt, -50, 50)
                    count = (3,) if per_channel else ()
                    zero = m.array(count, wt, 0, 9) if wt == U8 and not per_channel else np.zeros(count, wt)
                    given = [x, number(0.05, F32), m.array((), xt, 0, 9), w, m.array(count, F32, 0.01, 0.1), zero, number(1.7, F32), m.array((), xt, 0, 9)]
                    m.add("QLinearConv", given + ([m.array((3,), I32, -999, 999)] if bias else []), {"pads": [1, 0, 0, 1], "strides": [2, 1]}, opsets=(13, 24))
    m.add("QLinearConv", [m.array((2, 4, 6), U8, 0, 200), number(0.1, F32), number(7, U8), m.array((4, 1, 3), U8, 0, 200), number(0.2, F32), number(100, U8), number(30, F32), number(128, U8)],
          {"group": 4})


# -- signals --

def signals(m):
    for op in ("HannWindow", "HammingWindow", "BlackmanWindow"):
        for size in (2, 7, 16, 33):
            for periodic in (0, 1):
                m.add(op, [number(size, I32)], {"periodic": periodic})
                m.add(op, [number(size)], {"periodic": periodic, "output_datatype": 11})
        m.add(op, [number(1)], {"periodic": 1})
        m.add(op, [number(8)], {"output_datatype": 10})
    for bins, length, rate, low, high in [(8, 16, 8192, 0, 4096), (4, 33, 16000, 20, 8000), (1, 8, 100, 0, 40), (40, 512, 16000, 80, 7600)]:
        m.add("MelWeightMatrix", [number(bins), number(length), number(rate), number(low, F32), number(high, F32)], {})


# -- grids and regions --

def grids(m):
    for x, grid in [((1, 1, 3, 3), (1, 2, 2, 2)), ((2, 2, 4, 5), (2, 3, 4, 2)), ((1, 2, 1, 6), (1, 2, 5, 2)), ((1, 1, 2, 3, 4), (1, 2, 2, 2, 3)), ((0, 1, 2, 2), (0, 2, 2, 2))]:
        for padding in ("zeros", "border", "reflection"):
            for align in (0, 1):
                for mode in ("linear", "nearest", "cubic"):
                    if mode == "cubic" and len(x) == 5:
                        continue
                    old = {"linear": "bilinear", "cubic": "bicubic"}.get(mode, mode)
                    data, places = m.array(x, F32), m.array(grid, F32, -1.5, 1.5)
                    m.add("GridSample", [data, places], {"mode": mode, "padding_mode": padding, "align_corners": align}, opsets=(20, 24))
                    if len(x) == 4:
                        m.add("GridSample", [data, places], {"mode": old, "padding_mode": padding, "align_corners": align}, opsets=(16,))
                        m.add("GridSample", [data.astype(F64), places.astype(F64)], {"mode": mode, "padding_mode": padding, "align_corners": align})
    far = np.array([[[[-9, 9], [3.5, -2.25]], [[1e6, -1e6], [0, 7]]]], F32)
    for padding in ("zeros", "border", "reflection"):
        m.add("GridSample", [m.array((1, 1, 4, 3), F32), far], {"padding_mode": padding}, label="far")
    for size, dtype in [((2, 3, 4, 5), F32), ((1, 1, 2, 3, 4), F32), ((1, 1, 1, 2), F32), ((2, 1, 3, 3), F64)]:
        r = len(size) - 2
        for align in (0, 1):
            m.add("AffineGrid", [m.array((size[0], r, r + 1), dtype, -1, 1), ints(*size)], {"align_corners": align})


def own_affine_grid(case):
    """onnx.reference divides by 0 for one element, and gives float32 alone."""
    theta, size = case.inputs[0].astype(F64), case.inputs[1].tolist()
    axes = [(2 * np.arange(n) + 1 - n) / (max(n - 1, 1) if case.attributes.get("align_corners", 0) else n) for n in size[2:]]
    points = np.stack([*np.meshgrid(*axes, indexing="ij")[::-1], np.ones(size[2:])], -1)
    return [np.einsum("nij,...j->n...i", theta, points).astype(case.inputs[0].dtype)]


def own_grid_sample(case):
    """PyTorch's, from whose text the operator was taken; onnxruntime has no cubic float64."""
    x, grid, a = case.inputs[0], case.inputs[1], case.attributes
    if x.dtype != F64:
        return None
    import torch
    mode = {"linear": "bilinear", "cubic": "bicubic"}.get(a["mode"], a["mode"])
    y = torch.nn.functional.grid_sample(torch.from_numpy(x), torch.from_numpy(grid), mode, a["padding_mode"], bool(a["align_corners"]))
    return [y.numpy()]


def regions(m):
    for n, ch, h, w in [(1, 2, 6, 7), (2, 1, 5, 4), (1, 1, 1, 1)]:
        for r in (1, 3):
            corners = np.sort(m.array((r, 2, 2), F32, -1, 14), axis=1)
            rois, batch = corners.reshape(r, 4), m.array((r,), I64, 0, n - 1)
            for out in ((1, 1), (2, 3)):
                for ratio in (0, 1, 2):
                    for scale in (1.0, 0.5):
                        base = {"output_height": out[0], "output_width": out[1], "sampling_ratio": ratio, "spatial_scale": scale}
                        x = m.array((n, ch, h, w), F32)
                        m.add("RoiAlign", [x, rois, batch], base, opsets=(13,))
                        m.add("RoiAlign", [x, rois, batch], base, opsets=(16, 22))
                        m.add("RoiAlign", [x, rois, batch], {**base, "coordinate_transformation_mode": "output_half_pixel"}, opsets=(22,))
                        if ratio:
                            m.add("RoiAlign", [x, rois, batch], {**base, "mode": "max"}, opsets=(13, 22))
            for shape, scale in [([1, 1], 1.0), ([2, 3], 0.5), ([3, 2], 1.0)]:
                rows = np.concatenate([batch[:, None].astype(F32), np.round(rois)], 1).astype(F32)
                m.add("MaxRoiPool", [m.array((n, ch, h, w), F32), rows], {"pooled_shape": shape, "spatial_scale": scale}, opsets=(13,))


def deformed(m):
    for dtype in (F32, F64):
        for x, w, more in [((1, 1, 3, 3), (1, 1, 2, 2), {}), ((2, 2, 4, 5), (3, 2, 3, 2), {"pads": [1, 0, 1, 1]}), ((1, 4, 4, 4), (2, 2, 2, 2), {"group": 2, "offset_group": 2}),
                           ((1, 2, 5, 5), (2, 2, 2, 2), {"strides": [2, 1], "dilations": [2, 1], "offset_group": 2})]:
            r = len(x) - 2
            pads, strides, dil = more.get("pads", [0] * 2 * r), more.get("strides", [1] * r), more.get("dilations", [1] * r)
            out = [(x[i + 2] + pads[i] + pads[i + r] - dil[i] * (w[i + 2] - 1) - 1) // strides[i] + 1 for i in range(r)]
            k, og = int(np.prod(w[2:])), more.get("offset_group", 1)
            offset = m.array((x[0], og * k * r, *out), dtype, -1.5, 1.5)
            mask = m.array((x[0], og * k, *out), dtype, 0, 1)
            given = [m.array(x, dtype), m.array(w, dtype), offset]
            m.add("DeformConv", given, more, opsets=(19, 24))
            m.add("DeformConv", given + [m.array(w[:1], dtype)], more)
            m.add("DeformConv", given + [m.array(w[:1], dtype), mask], more)


# -- transforms, running products, random numbers --

def transforms(m):
    for shape, axis, length in [((2, 5, 1), 1, None), ((2, 5, 2), 1, None), ((1, 8, 1), 1, 5), ((1, 4, 2), 1, 7), ((3, 4, 2, 2), 0, None), ((2, 1, 1), 1, None), ((1, 96, 2), 1, None),
                                ((1, 67, 1), 1, None), ((0, 6, 1), 1, None), ((2, 128, 1), 1, None), ((1, 210, 2), -2, None)]:
        for dtype in (F32, F64):
            x = m.array(shape, dtype)
            given = [x] + ([number(length)] if length else [None])
            for inverse in (0, 1):
                m.add("DFT", given if length else [x], {"axis": axis, "inverse": inverse}, opsets=(17,))
                m.add("DFT", given + [number(axis)], {"inverse": inverse}, opsets=(20, 24))
            if shape[-1] == 1:
                m.add("DFT", given + [number(axis)], {"onesided": 1}, opsets=(20,))
                m.add("DFT", given if length else [x], {"axis": axis, "onesided": 1}, opsets=(17,))
            elif shape[axis] > 2:
                m.add("DFT", given + [number(axis)], {"onesided": 1, "inverse": 1}, opsets=(20,))
    for dtype in (F32, F64):
        for shape, step, window, length, onesided in [((1, 12, 1), 3, 4, None, 1), ((2, 11, 1), 2, None, 5, 1), ((1, 10, 2), 4, 6, 6, 0), ((1, 8, 1), 8, None, 8, 0), ((1, 9, 1), 1, 1, None, 1)]:
            w = None if window is None else m.array((window,), dtype, 0, 1)
            given = [m.array(shape, dtype), number(step), w] + ([number(length)] if length else [])
            m.add("STFT", given, {"onesided": onesided})


def parts_of(x):
    return x[..., 0].astype(F64) + (1j * x[..., 1].astype(F64) if x.shape[-1] == 2 else 0)


def pair(z, dtype):
    return np.stack([z.real, z.imag], -1).astype(dtype)


def own_dft(case):
    x, a = case.inputs[0], case.attributes
    given = case.inputs + [None, None]
    axis = a["axis"] if "axis" in a else -2 if given[2] is None else int(given[2])
    axis = axis + x.ndim if axis < 0 else axis
    n = None if given[1] is None else int(given[1])
    z = parts_of(x)
    if a.get("onesided", 0) and a.get("inverse", 0):
        return [np.fft.irfft(z, n, axis)[..., None].astype(x.dtype)]
    if a.get("inverse", 0):
        return [pair(np.fft.ifft(z, n, axis), x.dtype)]
    return [pair(np.fft.rfft(z.real, n, axis) if a.get("onesided", 0) else np.fft.fft(z, n, axis), x.dtype)]


def own_stft(case):
    x, step = case.inputs[0], int(case.inputs[1])
    window = case.inputs[2] if len(case.inputs) > 2 else None
    length = int(case.inputs[3]) if len(case.inputs) > 3 else len(window)
    z = parts_of(x)
    frames = np.stack([z[:, s:s + length] for s in range(0, z.shape[1] - length + 1, step)], 1)
    y = np.fft.fft(frames * (1 if window is None else window.astype(F64)), axis=-1)
    return [pair(y[..., :length // 2 + 1] if case.attributes.get("onesided", 1) else y, x.dtype)]


def products(m):
    for dtype in (F32, F64, F16, I32, I64, np.uint32):
        for shape in [(5,), (2, 3), (3, 1, 4), (2, 0), (1,), (2, 9)]:
            for axis in (0, -1):
                for flags in ({}, {"exclusive": 1}, {"reverse": 1}, {"exclusive": 1, "reverse": 1}):
                    m.add("CumProd", [m.array(shape, dtype, -2, 2), number(axis, I32)], flags, opsets=(26,))
    for dtype in FLOATS:
        for alpha in (1.0, 0.5, -2.0):
            m.add("SwiGLU", [m.array((3, 5), dtype), m.array((3, 5), dtype)], {"alpha": alpha}, opsets=(28,))


def bits(m):
    widths = {8: (I8, U8, np.bool_), 16: (F16, np.int16, np.uint16), 32: (F32, I32, np.uint32), 64: (F64, I64, np.uint64)}
    for types in widths.values():
        for source in types:
            for target in types:
                if target != np.bool_ or source == np.bool_:
                    to = {"to": helper.np_dtype_to_tensor_dtype(np.dtype(target))}
                    m.add("BitCast", [m.special(source)], to, opsets=(26,), label="special")
                    m.add("BitCast", [m.array((3, 0, 2), source, 0, 1)], to, opsets=(26,))


def own_bit_cast(case):
    return [case.inputs[0].view(helper.tensor_dtype_to_np_dtype(case.attributes["to"]))]


def own_cum_prod(case):
    x, axis = case.inputs[0], int(case.inputs[1])
    reverse, exclusive = case.attributes.get("reverse", 0), case.attributes.get("exclusive", 0)
    y = np.flip(x, axis) if reverse else x
    wide = y.astype(F64) if x.dtype.kind == "f" else y
    if exclusive:
        wide = np.concatenate([np.ones_like(np.take(wide, [0], axis)), np.take(wide, range(wide.shape[axis] - 1), axis)], axis) if wide.shape[axis] else wide
    with np.errstate(all="ignore"):
        wide = np.cumprod(wide, axis, dtype=wide.dtype)
    return [(np.flip(wide, axis) if reverse else wide).astype(x.dtype)]


def random_numbers(m):
    for seed in (0.0, 1.0, -3.5):
        for dtype in (1, 10, 11):
            m.add("RandomUniform", [], {"shape": [2, 5], "seed": seed, "dtype": dtype}, opsets=(13, 24))
            m.add("RandomUniform", [], {"shape": [7], "seed": seed, "low": -2.0, "high": 3.0, "dtype": dtype})
            m.add("RandomNormal", [], {"shape": [3, 3], "seed": seed, "mean": 1.0, "scale": 0.5, "dtype": dtype})
        m.add("RandomUniformLike", [m.array((2, 3), F32)], {"seed": seed}, opsets=(13, 24))
        m.add("RandomNormalLike", [m.array((4,), I32)], {"seed": seed, "dtype": 11})
        m.add("RandomUniform", [], {"shape": [0, 2], "seed": seed})
        m.add("RandomUniform", [], {"shape": [], "seed": seed})
        for dtype in FLOATS:
            m.add("Bernoulli", [m.array((3, 7), dtype, 0, 1)], {"seed": seed}, opsets=(15, 24))
            m.add("Bernoulli", [m.array((9,), dtype, 0, 1)], {"seed": seed, "dtype": 9})
            m.add("Multinomial", [m.array((2, 4), dtype)], {"seed": seed, "sample_size": 9, "dtype": 7}, opsets=(13, 24))


def causal(m):
    for dtype in (F32, F16):
        for b, ch, n, k in [(2, 3, 5, 3), (1, 1, 1, 1), (1, 2, 2, 4), (1, 4, 7, 2)]:
            for activation in ("none", "silu"):
                x, w = m.array((b, ch, n), dtype), m.array((ch, 1, k), dtype)
                bias, past = m.array((ch,), dtype), m.array((b, ch, k - 1), dtype)
                m.add("CausalConvWithState", [x, w], {"activation": activation}, opsets=(27,), outputs=2)
                m.add("CausalConvWithState", [x, w, bias, past], {"activation": activation}, opsets=(27,), outputs=2)


def own_causal(case):
    x, w = (a.astype(F64) for a in case.inputs[:2])
    bias, past = (case.inputs + [None, None])[2:4]
    k = w.shape[2]
    past = np.zeros((*x.shape[:2], k - 1)) if past is None else past.astype(F64)
    whole = np.concatenate([past, x], 2)
    y = sum(whole[:, :, i:i + x.shape[2]] * w[:, 0, i][:, None] for i in range(k)) + (0 if bias is None else bias.astype(F64)[:, None])
    if case.attributes["activation"] != "none":
        y = y / (1 + np.exp(-y))
    return [y.astype(case.inputs[0].dtype), whole[:, :, x.shape[2]:].astype(case.inputs[0].dtype)]


def philox(seed, count):
    """Philox4x32-10: four words for each counter from 0 up."""
    key = [int(np.frombuffer(F32(seed).tobytes(), np.uint32)[0]), 0]
    mask = 2**32 - 1
    words = []
    for n in range(count):
        c, k = [n & mask, n >> 32, 0, 0], list(key)
        for _ in range(10):
            p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
            c = [(q >> 32) ^ c[1] ^ k[0], q & mask, (p >> 32) ^ c[3] ^ k[1], p & mask]
            k = [(k[0] + 0x9E3779B9) & mask, (k[1] + 0xBB67AE85) & mask]
        words.append(c)
    return np.array(words, np.uint64).reshape(count, 4)


assert [f"{w:08x}" for w in philox(0, 1)[0].tolist()] == ["6627e8d5", "e169c58d", "bc57ac4c", "9b00dbd8"]  # the authors' known answer


def own_random(case):
    a, op = case.attributes, case.op
    to = np.dtype(helper.tensor_dtype_to_np_dtype(a["dtype"])) if "dtype" in a else case.inputs[0].dtype if case.inputs else np.dtype(F32)
    shape = tuple(a["shape"]) if "shape" in a else case.inputs[0].shape
    if op == "Multinomial":
        shape, wide = (shape[0], a["sample_size"]), np.dtype(F64)
    else:
        wide = np.dtype(F64) if (case.inputs[0].dtype if op == "Bernoulli" else to) == F64 else np.dtype(F32)
    words = philox(a["seed"], int(np.prod(shape)))

    def unit(first):
        if wide == F64:
            return ((words[:, first] << np.uint64(21)) | (words[:, first + 1] >> np.uint64(11))) * 2.0**-53
        return ((words[:, first] >> np.uint64(8)) * 2.0**-24).astype(F32)
    u = unit(0).reshape(shape)
    if op == "Bernoulli":
        return [(u < case.inputs[0]).astype(to)]
    if op == "Multinomial":
        x = case.inputs[0].astype(F64)
        p = np.exp(x - x.max(1, keepdims=True))
        sums = np.cumsum(p / p.sum(1, keepdims=True), 1)
        return [(sums[:, None, :] <= u[:, :, None] * sums[:, None, -1:]).sum(2).astype(to)]
    if op.startswith("RandomUniform"):
        low, high = F32(a.get("low", 0.0)), F32(a.get("high", 1.0))
        return [np.asarray(u * wide.type(float(high) - float(low)) + wide.type(low)).astype(to)]
    z = np.sqrt(-2 * np.log(1 - unit(0).astype(F64))) * np.cos(2 * np.pi * unit(2).astype(F64))
    return [np.asarray(z.reshape(shape) * F32(a.get("scale", 1.0)) + F32(a.get("mean", 0.0))).astype(to)]


def own_window(case):
    """onnxruntime takes the coefficients in float32."""
    if case.attributes.get("output_datatype", 1) != 11:
        return None
    size = int(case.inputs[0])
    n = np.arange(size) / max(size - (case.attributes.get("periodic", 1) == 0), 1)
    a = {"HannWindow": (0.5, 0.5, 0), "HammingWindow": (25 / 46, 21 / 46, 0), "BlackmanWindow": (0.42, 0.5, 0.08)}[case.op]
    return [a[0] - a[1] * np.cos(2 * np.pi * n) + a[2] * np.cos(4 * np.pi * n)]


def own_max_unpool(case):
    """onnxruntime takes indices for those of output_shape; the node tests of ONNX do not."""
    if len(case.inputs) < 3:
        return None
    x, index, wanted = case.inputs
    a, r = case.attributes, x.ndim - 2
    full = [(x.shape[i + 2] - 1) * a["strides"][i] + a["kernel_shape"][i] for i in range(r)]
    y = np.zeros(x.shape[0] * x.shape[1] * int(np.prod(full)), x.dtype)
    y[index.reshape(-1)] = x.reshape(-1)
    y = y.reshape(*x.shape[:2], *full)
    return [np.pad(y, [(0, int(w) - n) for w, n in zip(wanted, y.shape)])]


AREAS = [losses, sequences, folds, unpools, determinants, quantized_conv, signals, grids, regions, deformed, transforms, products, bits, random_numbers, causal]
OWN_RARE = {"NegativeLogLikelihoodLoss": own_loss, "SoftmaxCrossEntropyLoss": own_loss, "TensorScatter": own_tensor_scatter, "Det": own_det,
            "ReverseSequence": own_reverse_sequence, "CenterCropPad": own_center_crop_pad, "Col2Im": own_col2im, "HannWindow": own_window, "HammingWindow": own_window,
            "BlackmanWindow": own_window, "MaxUnpool": own_max_unpool, "AffineGrid": own_affine_grid,
            "GridSample": own_grid_sample, "DFT": own_dft, "STFT": own_stft, "CumProd": own_cum_prod, "BitCast": own_bit_cast, "CausalConvWithState": own_causal,
            **{op: own_random for op in ("RandomUniform", "RandomUniformLike", "RandomNormal", "RandomNormalLike", "Bernoulli", "Multinomial")}}


def rare(m):
    for area in AREAS:
        area(m)
