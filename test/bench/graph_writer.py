"""GraphWriter: a ge-graph/1 graph and its weights, written node by node from PyTorch modules."""
import numpy as np


class GraphWriter:
    """Collects nodes and weights; every method returns the name of the value it made."""

    def __init__(self, name, dtype, dims, inputs, opset):
        self.dtype, self.weights, self.nodes, self.constants = dtype, {}, [], []
        self.head = {"format": "ge-graph/1", "name": name, "opset": opset, "dims": dims, "inputs": inputs}

    def weight(self, name, tensor):
        """A module's tensor in the graph's dtype."""
        self.weights[name] = np.ascontiguousarray(tensor.detach().numpy().astype(self.dtype))
        return name

    def constant(self, name, values, dtype="int64"):
        """A small tensor kept in the JSON; a scalar where `values` is no list."""
        if not any(entry["name"] == name for entry in self.constants):
            many = isinstance(values, list)
            self.constants.append({"name": name, "dtype": dtype, "shape": [len(values)] if many else [], "data": values if many else [values]})
        return name

    def add(self, name, op, *inputs, outputs=None, **attributes):
        node = {"name": name, "op": op, "inputs": list(inputs), "outputs": outputs or [name]}
        self.nodes.append({**node, "attributes": attributes} if attributes else node)
        return name

    def linear(self, name, x, module):
        if module.bias is None:
            return self.add(name, "MatMul", x, self.weight(f"{name}.weight", module.weight.T))
        product = self.add(f"{name}.matmul", "MatMul", x, self.weight(f"{name}.weight", module.weight.T))
        return self.add(name, "Add", product, self.weight(f"{name}.bias", module.bias))

    def layer_norm(self, name, x, module):
        scale, bias = self.weight(f"{name}.weight", module.weight), self.weight(f"{name}.bias", module.bias)
        return self.add(name, "LayerNormalization", x, scale, bias, axis=-1, epsilon=module.eps)

    def rms_norm(self, name, x, module):
        return self.add(name, "RMSNormalization", x, self.weight(f"{name}.weight", module.weight), axis=-1, epsilon=module.eps)

    def finish(self, output):
        files = [{"name": name, "dtype": self.dtype, "shape": list(value.shape), "data": {"file": "weights.safetensors", "tensor": name}}
                 for name, value in self.weights.items()]
        return {**self.head, "outputs": [output], "initializers": files + self.constants, "nodes": self.nodes}, self.weights
