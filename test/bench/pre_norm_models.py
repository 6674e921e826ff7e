"""GPT-2 small, a llama-like decoder of 1.0 billion weights and ViT-B/16: pre-norm transformers as PyTorch modules and as graphs.

gpt2:  int64 ids [batch, sequence] -> [batch, sequence, 768]; 12 causal layers (12 heads, fused qkv, tanh gelu, 3072), learned positions.
llama: int64 ids [batch, sequence] -> [batch, sequence, 2048]; 16 causal layers (32 query and 8 key heads of 64, rotary positions, no
       biases, rms norms, silu(gate) * up of 8192 with both in one product), no cache.
vit:   [batch, 3, 224, 224] -> [batch, 1000]; 196 patches and a class token, 12 layers (12 heads, fused qkv, erf gelu, 3072).

None has a mask tensor: causal layers use Attention's is_causal. What comes out of the decoders is the last norm; the product with the
vocabulary is left out.
"""
import numpy as np
import torch
from torch import nn
from torch.nn import functional

from graph_writer import GraphWriter


def split_heads(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def write_heads(graph, name, x, heads, size):
    """[batch, rows, heads * size] -> [batch, heads, rows, size]"""
    rows = graph.add(f"{name}.rows", "Reshape", x, graph.constant(f"heads_{heads}", [0, 0, heads, size]))
    return graph.add(f"{name}.heads", "Transpose", rows, perm=[0, 2, 1, 3])


def write_join(graph, name, x, width):
    rows = graph.add(f"{name}.back", "Transpose", x, perm=[0, 2, 1, 3])
    return graph.add(f"{name}.joined", "Reshape", rows, graph.constant("width", [0, 0, width]))


def write_first_rows(graph, name, table, like, axis=1):
    """The first rows of a table, as many as `like` has along `axis`."""
    length = graph.add(f"{name}.length", "Shape", like, start=axis, end=axis + 1)
    zero = graph.constant("zero", [0])
    return graph.add(name, "Slice", table, zero, length, zero)


def id_inputs(vocabulary):
    return lambda batch, sequence: {"ids": np.random.default_rng(batch * 1000 + sequence).integers(0, vocabulary, (batch, sequence), np.int64)}


class Layer(nn.Module):
    """A pre-norm layer with biases: what GPT-2 and ViT share."""

    def __init__(self, width, heads, eps, causal, gelu):
        super().__init__()
        self.width, self.heads, self.causal, self.gelu = width, heads, causal, gelu
        self.norm1, self.norm2 = nn.LayerNorm(width, eps=eps), nn.LayerNorm(width, eps=eps)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        q, k, v = (split_heads(part, self.heads) for part in self.qkv(self.norm1(x)).chunk(3, -1))
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return x + self.down(functional.gelu(self.up(self.norm2(x)), approximate=self.gelu))

    def write(self, graph, name, x):
        at = lambda part: f"{name}.{part}"
        parts = [at("q"), at("k"), at("v")]
        graph.add(at("split"), "Split", graph.linear(at("qkv"), graph.layer_norm(at("norm1"), x, self.norm1), self.qkv), outputs=parts, axis=-1, num_outputs=3)
        causal = {"is_causal": 1} if self.causal else {}
        mixed = graph.add(at("attention"), "Attention", *parts, q_num_heads=self.heads, kv_num_heads=self.heads, **causal)
        x = graph.add(at("residual1"), "Add", x, graph.linear(at("out"), mixed, self.out))
        up = graph.linear(at("up"), graph.layer_norm(at("norm2"), x, self.norm2), self.up)
        return graph.add(at("residual2"), "Add", x, graph.linear(at("down"), graph.add(at("gelu"), "Gelu", up, approximate=self.gelu), self.down))


class Gpt2(nn.Module):
    name = "gpt2"
    inputs = staticmethod(id_inputs(50257))

    def __init__(self, layers=12):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(50257, 768), nn.Embedding(1024, 768)
        self.layers = nn.ModuleList(Layer(768, 12, 1e-5, True, "tanh") for _ in range(layers))
        self.norm = nn.LayerNorm(768, eps=1e-5)

    def forward(self, ids):
        x = self.tokens(ids) + self.positions.weight[: ids.shape[1]]
        for layer in self.layers:
            x = layer(x)
        return self.norm(x)

    def graph(self, dtype, _attention=None):
        dims = {"batch": {"min": 1, "max": 64, "opt": 1}, "sequence": {"min": 1, "max": 1024, "opt": 512}}
        graph = GraphWriter(self.name, dtype, dims, [{"name": "ids", "dtype": "int64", "shape": ["batch", "sequence"]}], 23)
        words = graph.add("words", "Gather", graph.weight("tokens", self.tokens.weight), "ids", axis=0)
        x = graph.add("embedded", "Add", words, write_first_rows(graph, "places", graph.weight("positions", self.positions.weight), "ids"))
        for i, layer in enumerate(self.layers):
            x = layer.write(graph, f"layers.{i}", x)
        return graph.finish(graph.layer_norm("norm", x, self.norm))


class LlamaLayer(nn.Module):
    HEADS, KEY_HEADS, SIZE = 32, 8, 64

    def __init__(self, width, feed):
        super().__init__()
        self.norm1, self.norm2 = nn.RMSNorm(width, eps=1e-5), nn.RMSNorm(width, eps=1e-5)
        self.qkv = nn.Linear(width, (self.HEADS + 2 * self.KEY_HEADS) * self.SIZE, bias=False)
        self.out = nn.Linear(self.HEADS * self.SIZE, width, bias=False)
        self.gate_up, self.down = nn.Linear(width, 2 * feed, bias=False), nn.Linear(feed, width, bias=False)

    @staticmethod
    def rotate(x, cos, sin):
        low, high = x.chunk(2, -1)
        return x * cos + torch.cat((-high, low), -1) * sin

    def forward(self, x, cos, sin):
        sizes = [self.HEADS * self.SIZE, self.KEY_HEADS * self.SIZE, self.KEY_HEADS * self.SIZE]
        q, k, v = (split_heads(part, part.shape[-1] // self.SIZE) for part in self.qkv(self.norm1(x)).split(sizes, -1))
        q, k = self.rotate(q, cos, sin), self.rotate(k, cos, sin)
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        gate, up = self.gate_up(self.norm2(x)).chunk(2, -1)
        return x + self.down(functional.silu(gate) * up)

    def write_rotated(self, graph, name, x, cos, sin):
        low, high = f"{name}.low", f"{name}.high"
        graph.add(f"{name}.halves", "Split", x, outputs=[low, high], axis=-1, num_outputs=2)
        turned = graph.add(f"{name}.turned", "Concat", graph.add(f"{name}.minus", "Neg", high), low, axis=-1)
        return graph.add(f"{name}.rotary", "Add", graph.add(f"{name}.cos", "Mul", x, cos), graph.add(f"{name}.sin", "Mul", turned, sin))

    def write(self, graph, name, x, cos, sin):
        at = lambda part: f"{name}.{part}"
        parts, counts = [at("q"), at("k"), at("v")], [self.HEADS, self.KEY_HEADS, self.KEY_HEADS]
        sizes = graph.constant("qkv_sizes", [count * self.SIZE for count in counts])
        graph.add(at("split"), "Split", graph.linear(at("qkv"), graph.rms_norm(at("norm1"), x, self.norm1), self.qkv), sizes, outputs=parts, axis=-1)
        q, k, v = (write_heads(graph, part, part, count, self.SIZE) for part, count in zip(parts, counts))
        q, k = self.write_rotated(graph, at("q"), q, cos, sin), self.write_rotated(graph, at("k"), k, cos, sin)
        mixed = write_join(graph, at("attention"), graph.add(at("attention"), "Attention", q, k, v, is_causal=1), self.HEADS * self.SIZE)
        x = graph.add(at("residual1"), "Add", x, graph.linear(at("out"), mixed, self.out))
        gate, up = at("gate"), at("up")
        graph.add(at("halves"), "Split", graph.linear(at("gate_up"), graph.rms_norm(at("norm2"), x, self.norm2), self.gate_up), outputs=[gate, up], axis=-1, num_outputs=2)
        silu = graph.add(at("silu"), "Mul", gate, graph.add(at("sigmoid"), "Sigmoid", gate))
        return graph.add(at("residual2"), "Add", x, graph.linear(at("down"), graph.add(at("fed"), "Mul", silu, up), self.down))


class Llama(nn.Module):
    name = "llama"
    WIDTH, FEED, POSITIONS, VOCABULARY = 2048, 8192, 2048, 32000
    inputs = staticmethod(id_inputs(VOCABULARY))

    def __init__(self, layers=16):
        super().__init__()
        self.tokens = nn.Embedding(self.VOCABULARY, self.WIDTH)
        self.layers, self.norm = nn.ModuleList(LlamaLayer(self.WIDTH, self.FEED) for _ in range(layers)), nn.RMSNorm(self.WIDTH, eps=1e-5)
        turns = torch.arange(self.POSITIONS)[:, None] * 10000.0 ** (-torch.arange(LlamaLayer.SIZE // 2) / (LlamaLayer.SIZE // 2))
        self.register_buffer("cos", turns.cos().repeat(1, 2))
        self.register_buffer("sin", turns.sin().repeat(1, 2))

    def forward(self, ids):
        x, cos, sin = self.tokens(ids), self.cos[: ids.shape[1]], self.sin[: ids.shape[1]]
        for layer in self.layers:
            x = layer(x, cos, sin)
        return self.norm(x)

    def graph(self, dtype, _attention=None):
        dims = {"batch": {"min": 1, "max": 16, "opt": 1}, "sequence": {"min": 1, "max": self.POSITIONS, "opt": 1}}
        graph = GraphWriter(self.name, dtype, dims, [{"name": "ids", "dtype": "int64", "shape": ["batch", "sequence"]}], 23)
        x = graph.add("words", "Gather", graph.weight("tokens", self.tokens.weight), "ids", axis=0)
        cos, sin = (write_first_rows(graph, f"{part}.rows", graph.weight(part, getattr(self, part)), "ids") for part in ("cos", "sin"))
        for i, layer in enumerate(self.layers):
            x = layer.write(graph, f"layers.{i}", x, cos, sin)
        return graph.finish(graph.rms_norm("norm", x, self.norm))


class VitB16(nn.Module):
    name = "vit"

    def __init__(self, layers=12):
        super().__init__()
        self.patches = nn.Conv2d(3, 768, 16, 16)
        self.class_token, self.positions = nn.Parameter(torch.empty(1, 1, 768)), nn.Embedding(197, 768)
        self.layers = nn.ModuleList(Layer(768, 12, 1e-6, False, "none") for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(768, eps=1e-6), nn.Linear(768, 1000)

    def forward(self, image):
        x = self.patches(image).flatten(2).transpose(1, 2)
        x = torch.cat((self.class_token.expand(x.shape[0], -1, -1), x), 1) + self.positions.weight
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x)[:, 0])

    @staticmethod
    def inputs(batch, _sequence=None):
        return {"image": np.random.default_rng(batch).standard_normal((batch, 3, 224, 224), np.float32)}

    def graph(self, dtype, _attention=None):
        dims = {"batch": {"min": 1, "max": 64, "opt": 8}}
        graph = GraphWriter(self.name, dtype, dims, [{"name": "image", "dtype": dtype, "shape": ["batch", 3, 224, 224]}], 23)
        weights = graph.weight("patches.weight", self.patches.weight), graph.weight("patches.bias", self.patches.bias)
        x = graph.add("patches", "Conv", "image", *weights, kernel_shape=[16, 16], strides=[16, 16])
        x = graph.add("rows", "Transpose", graph.add("flat", "Reshape", x, graph.constant("flat_shape", [0, 768, -1])), perm=[0, 2, 1])
        batch = graph.add("batch_size", "Shape", "image", start=0, end=1)
        shape = graph.add("class_shape", "Concat", batch, graph.constant("class_rest", [1, 768]), axis=0)
        token = graph.add("class_tokens", "Expand", graph.weight("class_token", self.class_token), shape)
        x = graph.add("embedded", "Add", graph.add("joined", "Concat", token, x, axis=1), graph.weight("positions", self.positions.weight))
        for i, layer in enumerate(self.layers):
            x = layer.write(graph, f"layers.{i}", x)
        first = graph.add("first", "Gather", graph.layer_norm("norm", x, self.norm), graph.constant("first_row", 0), axis=1)
        return graph.finish(graph.linear("head", first, self.head))
