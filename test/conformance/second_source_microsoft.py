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


def microsoft(m):
    for area in (products, activations, normalizations):
        area(m)
