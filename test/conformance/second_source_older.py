"""Random cases of operators as older opsets have them: attributes that became inputs, other defaults, other meanings.
Entry: older. ONNX Runtime keeps kernels from opset 7 on; before that numpy answers.
"""
import numpy as np

F32, F16, F64, I64, I32, BOOL = np.float32, np.float16, np.float64, np.int64, np.int32, np.bool_


def matrices(m):
    for op in ("Softmax", "LogSoftmax", "Hardmax"):
        for opset in (7, 9, 11, 12):
            for shape, axis in [((3, 4, 5), None), ((3, 4, 5), 0), ((3, 4, 5), 2), ((2, 1, 7, 3), 2), ((6,), 0), ((1, 1), None)]:
                m.add(op, [m.array(shape, F32)], {} if axis is None else {"axis": axis}, opsets=(opset,))
        m.add(op, [m.array((3, 4, 5), F32)], {"axis": -1}, opsets=(11,))


def limits(m):
    for opset in (7, 10):
        x = m.array((3, 7), F32, -9, 9)
        for attributes in ({}, {"min": -1.5}, {"max": 2.5}, {"min": -1.0, "max": 1.0}, {"min": 2.0, "max": -2.0}):
            m.add("Clip", [x], attributes, opsets=(opset,))
    x = m.array((2, 5), F64, -9, 9)
    m.add("Clip", [x], {"min": -1.0, "max": 1.0}, opsets=(7,))


def parts(m):
    for opset in (7, 9):
        for dtype in (F32, I64, BOOL):
            x = m.array((4, 5, 6), dtype)
            m.add("Slice", [x], {"starts": [1, 0], "ends": [3, 4], "axes": [0, 2]}, opsets=(opset,))
            m.add("Slice", [x], {"starts": [-3, 1], "ends": [1000, -1]}, opsets=(opset,))
            m.add("Slice", [x], {"starts": [3], "ends": [1], "axes": [1]}, opsets=(opset,))
    for opset in (7, 11):
        x = m.array((4, 6), F32)
        m.add("Split", [x], {"axis": 1, "split": [1, 2, 3]}, outputs=3, opsets=(opset,))
        m.add("Split", [x], {"axis": 0}, outputs=2, opsets=(opset,))
        m.add("Squeeze", [m.array((1, 3, 1, 2), F32)], {"axes": [0, 2]}, opsets=(opset,))
        m.add("Squeeze", [m.array((1, 3, 1, 2), F32)], opsets=(opset,))
        m.add("Unsqueeze", [m.array((3, 2), F32)], {"axes": [0, 3]}, opsets=(opset,))
        m.add("Concat", [x, m.array((4, 2), F32)], {"axis": 1}, opsets=(opset,))
        m.add("Flatten", [m.array((2, 3, 4), F32)], {"axis": 2}, opsets=(opset,))
        m.add("ReduceSum", [m.array((2, 3, 4), F32)], {"axes": [0, 2], "keepdims": 0}, opsets=(opset,))
        m.add("ReduceSum", [m.array((2, 3, 4), I32)], opsets=(opset,))
        m.add("ReduceMax", [m.array((2, 3, 4), F32)], {"axes": [1]}, opsets=(opset,))
        m.add("ArgMax", [m.array((2, 3, 4), F32)], {"axis": 2, "keepdims": 0}, opsets=(opset,))
    for opset in (7, 10):
        for mode in ("constant", "reflect", "edge"):
            m.add("Pad", [m.array((3, 4), F32)], {"mode": mode, "pads": [1, 2, 0, 1], "value": 2.5}, opsets=(opset,))
        m.add("Pad", [m.array((3, 4), F32)], {"pads": [0, -1, 1, 0]}, opsets=(opset,))


def orders(m):
    x = m.array((3, 8), F32)
    for opset in (7, 9):
        m.add("TopK", [x], {"k": 3}, outputs=2, opsets=(opset,))
        m.add("TopK", [x], {"k": 2, "axis": 0}, outputs=2, opsets=(opset,))
    m.add("TopK", [x, np.array([4], I64)], outputs=2, opsets=(10,))
    m.add("OneHot", [np.array([0, 3, 1], I64), np.array(4, I64), np.array([2, 5], F32)], opsets=(9, 10))
    indices = np.array([[0, 2, 1], [1, 0, 2]], I64)
    m.add("Scatter", [m.array((3, 3), F32), indices, m.array((2, 3), F32)], {"axis": 0}, opsets=(9, 10))
    m.add("GatherND", [m.array((2, 3, 4), F32), np.array([[0, 1], [1, 2]], I64)], opsets=(11,))


def pictures(m):
    x = m.array((1, 2, 3, 4), F32)
    for mode in ("nearest", "linear"):
        for scales in ([1, 1, 2, 2], [1, 1, 2, 3], [1, 1, 1.5, 2.5]):
            m.add("Upsample", [x], {"mode": mode, "scales": [float(s) for s in scales]}, opsets=(7,))
            m.add("Upsample", [x, np.array(scales, F32)], {"mode": mode}, opsets=(9,))
            m.add("Resize", [x, np.array(scales, F32)], {"mode": mode}, opsets=(10,))
        m.add("Resize", [x, np.array([1, 1, 0.5, 0.75], F32)], {"mode": mode}, opsets=(10,))
    for scales in ([1, 1, 0.6, 2], [1, 1, 2, 2]):
        m.add("Resize", [x, np.array([], F32), np.array(scales, F32)],
              {"mode": "nearest", "coordinate_transformation_mode": "tf_half_pixel_for_nn", "nearest_mode": "floor"}, opsets=(11,))
    pool = {"kernel_shape": [2, 2], "strides": [2, 2]}
    for opset in (7, 8, 10):
        m.add("MaxPool", [m.array((1, 2, 5, 6), F32)], pool, opsets=(opset,))
        m.add("AveragePool", [m.array((1, 2, 5, 6), F32)], {**pool, "pads": [1, 1, 0, 0], "count_include_pad": 1}, opsets=(opset,))
    m.add("MaxPool", [m.array((1, 2, 5, 6), F32)], {**pool, "ceil_mode": 1}, opsets=(10,))
    m.add("DepthToSpace", [m.array((1, 8, 2, 3), F32)], {"blocksize": 2}, opsets=(7,))
    m.add("DepthToSpace", [m.array((1, 8, 2, 3), F32)], {"blocksize": 2, "mode": "CRD"}, opsets=(11,))
    m.add("SpaceToDepth", [m.array((1, 2, 4, 6), F32)], {"blocksize": 2}, opsets=(7, 28))
    m.add("SpaceToDepth", [m.array((1, 2, 4, 6), F32)], {"blocksize": 2, "mode": "CRD"}, opsets=(28,))


def norms(m):
    for opset in (7, 9, 12):
        x = m.array((2, 3, 4), F32)
        vectors = [m.array((3,), F32), m.array((3,), F32), m.array((3,), F32), m.array((3,), F32, 0.1, 2)]
        m.add("BatchNormalization", [x, *vectors], opsets=(opset,))
        m.add("BatchNormalization", [x, *vectors], {"epsilon": 0.125}, opsets=(opset,))
    x = m.array((4, 3, 5), F32)
    vectors = [m.array((3,), F32), m.array((3,), F32), m.array((3,), F32), m.array((3,), F32, 0.1, 2)]
    for opset in (14, 15):
        m.add("BatchNormalization", [x, *vectors], {"training_mode": 1, "momentum": 0.25}, outputs=3, opsets=(opset,))
    for opset in (7, 10, 12):
        m.add("Dropout", [m.array((3, 4), F32)], opsets=(opset,))
    m.add("PRelu", [m.array((2, 3, 4), F32), m.array((3, 1), F32)], opsets=(7,))
    for opset in (7, 9):
        a, b, c = m.array((3, 4), F32), m.array((5, 4), F32), m.array((5,), F32)
        m.add("Gemm", [a, b, c], {"transB": 1, "alpha": 0.5, "beta": 2.0}, opsets=(opset,))
    m.add("Cast", [m.array((3, 4), F32)], {"to": 7}, opsets=(7,))
    m.add("Pow", [m.array((3, 4), F32, 0.5, 2), m.array((4,), F32)], opsets=(7,))
    m.add("Less", [m.array((3, 4), F32), m.array((4,), F32)], opsets=(7,))
    m.add("Greater", [m.array((3, 4), F32), m.array((4,), F32)], opsets=(7,))
    for op, low in (("QuantizeLinear", -100), ("DequantizeLinear", -50)):
        x = m.array((3, 4), F32, low, -low) if op[0] == "Q" else m.array((3, 4), np.int8, -100, 100)
        m.add(op, [x, np.array(0.5, F32), np.array(3, np.int8)], opsets=(10,))


def lined_up(case):
    """Opset 6: B lies within A from an axis on."""
    a, b = case.inputs[:2]
    axis = case.attributes.get("axis", a.ndim - b.ndim) % max(a.ndim, 1)
    if case.attributes.get("broadcast"):
        b = b.reshape(b.shape + (1,) * (a.ndim - axis - b.ndim))
    function = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide, "Pow": np.power, "And": np.logical_and,
                "Or": np.logical_or, "Xor": np.logical_xor, "Less": np.less, "Greater": np.greater, "Equal": np.equal}[case.op]
    return [np.asarray(function(a, b))]


def oldest(m):
    def add(op, inputs, attributes=None):
        m.add(op, inputs, attributes, opsets=(6,))
        m.cases[-1].expected, m.cases[-1].source = lined_up(m.cases[-1]), "numpy"

    for op in ("Add", "Sub", "Mul", "Div", "Pow", "Less", "Greater"):
        x = m.array((2, 3, 4), F32, 0.5, 2)
        add(op, [x, m.array((2, 3, 4), F32)])
        add(op, [x, m.array((4,), F32)], {"broadcast": 1})
        add(op, [x, m.array((3,), F32)], {"broadcast": 1, "axis": 1})
        add(op, [x, m.array((3, 4), F32)], {"broadcast": 1, "axis": -2})
        add(op, [x, m.array((), F32)], {"broadcast": 1})
    for op in ("And", "Or", "Xor"):
        add(op, [m.array((2, 3), BOOL), m.array((3,), BOOL)], {"broadcast": 1})
    add("Equal", [m.array((2, 3), I32), m.array((2,), I32)], {"broadcast": 1, "axis": 0})


def older(m):
    for area in (matrices, limits, parts, orders, pictures, norms, oldest):
        area(m)
