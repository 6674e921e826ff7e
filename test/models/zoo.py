"""The models that exported.py exports: real architectures with seeded random weights, nothing fetched.

`ZOO[name]` is an `Entry`: `make()` gives a float32 module in eval mode whose forward takes the tensors of `inputs(size)` in
their order, `dims` says which axes are dynamic and by what name, `sizes` are the three shapes that one plan must be right at.
Vision models come from torchvision, language models from transformers (both without pretrained weights); the diffusion block is
written here. Weights are such that a deep net's answer still depends on its input: norms get scales near 1, batch norms the
statistics of noise, layer scales (1e-6 at the start of training) ordinary numbers.
"""
import dataclasses
import math
from typing import Callable

import torch
from torch import nn
from torch.nn import functional


@dataclasses.dataclass
class Entry:
    make: Callable[[], nn.Module]
    inputs: Callable[[dict], dict]  # size -> name -> tensor
    dims: dict  # input name -> {axis: dim's name}
    sizes: list  # of {dim's name: extent}
    outputs: list = None  # names; None: one output, "y"


ZOO = {}


def entry(name, **fields):
    def register(make):
        ZOO[name] = Entry(make=make, **fields)
        return make
    return register


# ---- weights and data

def perturbed(module):
    """Norms and biases as after some training; layer scales that do something."""
    generator = torch.Generator().manual_seed(11)
    noise = lambda p, mean, deviation: p.data.copy_(mean + deviation * torch.randn(p.shape, generator=generator))
    for name, p in module.named_parameters():
        leaf = name.rsplit(".", 1)[-1]
        if leaf in ("layer_scale", "gamma"):
            noise(p, 0.4, 0.1)
        elif p.dim() == 1:
            noise(p, 1.0 if leaf == "weight" else 0.0, 0.1)
        if name.endswith("bn3.weight"):  # a residual net whose branches weigh as much as its trunk amplifies every rounding
            p.data.mul_(0.3)
    return module.eval()


def calibrated(module, shape):
    """Batch norms hold the statistics of one batch of noise; no dropout takes part."""
    norms = [m for m in module.modules() if isinstance(m, nn.modules.batchnorm._BatchNorm)]
    for norm in norms:
        norm.momentum = 1.0
        norm.train()
    with torch.no_grad():
        module(torch.randn(shape, generator=torch.Generator().manual_seed(9)))
    return module.eval()


def generator_of(size):
    return torch.Generator().manual_seed(sum(1000003 ** i * n for i, n in enumerate(size.values())) % (1 << 31))


def images(size):
    side = size.get("side", 224)
    return {"x": torch.randn((size["batch"], 3, size.get("height", side), size.get("width", side)), generator=generator_of(size))}


def token_ids(size, vocabulary, length=None):
    return torch.randint(0, vocabulary, (size["batch"], length or size["sequence"]), generator=generator_of(size))


BATCH = {"x": {0: "batch"}}
IMAGE = {"x": {0: "batch", 2: "height", 3: "width"}}
BATCHES = [{"batch": 1}, {"batch": 2}, {"batch": 3}]
IMAGES = [{"batch": 1, "height": 224, "width": 224}, {"batch": 2, "height": 160, "width": 192}, {"batch": 3, "height": 97, "width": 131}]
TEXTS = [{"batch": 1, "sequence": 128}, {"batch": 2, "sequence": 37}, {"batch": 3, "sequence": 1}]


# ---- vision

def vision(name, **arguments):
    import torchvision
    torch.manual_seed(7)
    return perturbed(getattr(torchvision.models, name)(weights=None, **arguments))


@entry("resnet50", inputs=images, dims=IMAGE, sizes=IMAGES)
def resnet50():
    return calibrated(vision("resnet50"), (4, 3, 128, 128))


@entry("mobilenet_v3_large", inputs=images, dims=IMAGE, sizes=IMAGES)
def mobilenet_v3_large():
    return calibrated(vision("mobilenet_v3_large"), (4, 3, 128, 128))


@entry("efficientnet_b0", inputs=images, dims=IMAGE, sizes=IMAGES)
def efficientnet_b0():
    return calibrated(vision("efficientnet_b0"), (4, 3, 128, 128))


@entry("convnext_tiny", inputs=images, dims=IMAGE, sizes=IMAGES)
def convnext_tiny():
    return vision("convnext_tiny")


@entry("swin_t", inputs=images, dims=BATCH, sizes=BATCHES)
def swin_t():
    return vision("swin_t")


@entry("vit_b_16", inputs=images, dims=BATCH, sizes=BATCHES)
def vit_b_16():
    module = vision("vit_b_16")
    nn.init.normal_(module.heads.head.weight, std=768 ** -0.5)  # torchvision starts with zeros
    return module


class FirstMap(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, x):
        return self.module(x)["out"]


@entry("deeplabv3", inputs=images, dims=IMAGE,
       sizes=[{"batch": 1, "height": 160, "width": 160}, {"batch": 2, "height": 96, "width": 128}, {"batch": 1, "height": 129, "width": 97}])
def deeplabv3():
    import torchvision
    torch.manual_seed(7)
    module = torchvision.models.segmentation.deeplabv3_resnet50(weights=None, weights_backbone=None, num_classes=21)
    return calibrated(FirstMap(perturbed(module)), (4, 3, 96, 96))


# ---- language

class Bert(nn.Module):
    def __init__(self):
        super().__init__()
        from transformers import BertConfig, BertModel
        self.module = BertModel(BertConfig(), add_pooling_layer=True)

    def forward(self, input_ids, attention_mask, token_type_ids):
        done = self.module(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids)
        return done.last_hidden_state, done.pooler_output


def bert_inputs(size):
    ids = token_ids(size, 30522)
    mask = torch.ones_like(ids)
    if size["batch"] > 1:
        mask[1, (size["sequence"] + 1) // 2:] = 0  # padding
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": (torch.arange(size["sequence"]) > size["sequence"] // 2).long().repeat(size["batch"], 1)}


TEXT_DIMS = {0: "batch", 1: "sequence"}


@entry("bert_base", inputs=bert_inputs, sizes=TEXTS, outputs=["hidden", "pooled"],
       dims={name: TEXT_DIMS for name in ("input_ids", "attention_mask", "token_type_ids")})
def bert_base():
    torch.manual_seed(7)
    return perturbed(Bert())


class Gpt2(nn.Module):
    def __init__(self):
        super().__init__()
        from transformers import GPT2Config, GPT2LMHeadModel
        self.module = GPT2LMHeadModel(GPT2Config())

    def forward(self, input_ids, attention_mask):
        return self.module(input_ids=input_ids, attention_mask=attention_mask, use_cache=False).logits


def masked_inputs(size):
    return {name: value for name, value in bert_inputs(size).items() if name != "token_type_ids"}


MASKED_DIMS = {name: TEXT_DIMS for name in ("input_ids", "attention_mask")}


@entry("gpt2", inputs=masked_inputs, sizes=TEXTS, dims=MASKED_DIMS)
def gpt2():
    torch.manual_seed(7)
    return perturbed(Gpt2())


class WithPast(nn.Module):
    """A decoder's step: ids and each layer's keys and values -> logits, and the keys and values with the step's own."""

    def __init__(self, module, masked):
        super().__init__()
        self.module, self.masked = module, masked

    def forward(self, input_ids, *rest):
        from transformers import DynamicCache
        mask, past = (rest[0], rest[1:]) if self.masked else (None, rest)
        cache = DynamicCache(ddp_cache_data=[(past[i], past[i + 1]) for i in range(0, len(past), 2)])
        done = self.module(input_ids=input_ids, attention_mask=mask, past_key_values=cache, use_cache=True)
        return (done.logits, *(tensor for layer in done.past_key_values.layers for tensor in (layer.keys, layer.values)))


STEPS = [{"batch": 1, "sequence": 1, "past": 31}, {"batch": 2, "sequence": 5, "past": 12}, {"batch": 3, "sequence": 1, "past": 64}]
PAST_DIMS = {0: "batch", 2: "past"}


def past_names(layers, prefix):
    return [f"{prefix}.{i}.{part}" for i in range(layers) for part in ("key", "value")]


def step_inputs(size, vocabulary, layers, heads, width, masked):
    generator = generator_of(size)
    feeds = {"input_ids": token_ids(size, vocabulary)}
    if masked:
        feeds["attention_mask"] = torch.ones((size["batch"], size["past"] + size["sequence"]), dtype=torch.int64)
        if size["batch"] > 1:
            feeds["attention_mask"][1, :3] = 0  # padded on the left
    for name in past_names(layers, "past"):
        feeds[name] = torch.randn((size["batch"], heads, size["past"], width), generator=generator)
    return feeds


@entry("gpt2_past", sizes=STEPS, inputs=lambda size: step_inputs(size, 50257, 12, 12, 64, False),
       outputs=["logits", *past_names(12, "present")],
       dims={"input_ids": TEXT_DIMS, **{name: PAST_DIMS for name in past_names(12, "past")}})
def gpt2_past():
    from transformers import GPT2Config, GPT2LMHeadModel
    torch.manual_seed(7)
    return perturbed(WithPast(GPT2LMHeadModel(GPT2Config()), False))


@entry("llama_past", sizes=STEPS, inputs=lambda size: step_inputs(size, 32000, 8, 4, 64, True),
       outputs=["logits", *past_names(8, "present")],
       dims={"input_ids": TEXT_DIMS, "attention_mask": {0: "batch", 1: "total"}, **{name: PAST_DIMS for name in past_names(8, "past")}})
def llama_past():
    """Grouped queries (16 heads over 4), rotary positions, RMS norms, a gated feed-forward."""
    from transformers import LlamaConfig, LlamaForCausalLM
    torch.manual_seed(7)
    config = LlamaConfig(hidden_size=1024, intermediate_size=2816, num_hidden_layers=8, num_attention_heads=16, num_key_value_heads=4,
                         vocab_size=32000, max_position_embeddings=2048)
    return perturbed(WithPast(LlamaForCausalLM(config), True))


class FirstState(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, *inputs):
        return self.module(*inputs).last_hidden_state


@entry("t5_small_encoder", sizes=TEXTS, dims=MASKED_DIMS, inputs=masked_inputs)
def t5_small_encoder():
    from transformers import T5Config, T5EncoderModel
    torch.manual_seed(7)
    # Attention in parts: the exporter of PyTorch 2.11 stumbles over its own kernel's strides (view_3) with the other one.
    config = T5Config(d_model=512, d_kv=64, d_ff=2048, num_layers=6, num_heads=8, attn_implementation="eager")
    return perturbed(FirstState(T5EncoderModel(config)))


def mel_inputs(size):
    return {"x": torch.randn((size["batch"], 80, 3000), generator=generator_of(size))}


@entry("whisper_tiny_encoder", inputs=mel_inputs, dims=BATCH, sizes=BATCHES)
def whisper_tiny_encoder():
    from transformers import WhisperConfig
    from transformers.models.whisper.modeling_whisper import WhisperEncoder
    torch.manual_seed(7)
    config = WhisperConfig(d_model=384, encoder_layers=4, encoder_attention_heads=6, encoder_ffn_dim=1536)
    return perturbed(FirstState(WhisperEncoder(config)))


# ---- diffusion: one resolution of a U-Net as latent diffusion has it, down and up again

class Residual(nn.Module):
    """Group norm, SiLU, convolution; the time step's embedding in between; a shortcut of 1x1 where channels change."""

    def __init__(self, inputs, outputs, embedding):
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(32, inputs), nn.Conv2d(inputs, outputs, 3, padding=1)
        self.time, self.norm2 = nn.Linear(embedding, outputs), nn.GroupNorm(32, outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1)
        self.short = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x, embedding):
        h = self.conv1(functional.silu(self.norm1(x))) + self.time(functional.silu(embedding))[:, :, None, None]
        return self.short(x) + self.conv2(functional.silu(self.norm2(h)))


class CrossAttention(nn.Module):
    def __init__(self, width, context, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v = nn.Linear(width, width, bias=False), nn.Linear(context, width, bias=False), nn.Linear(context, width, bias=False)
        self.out = nn.Linear(width, width)

    def forward(self, x, context):
        split = lambda t: t.unflatten(-1, (self.heads, -1)).transpose(1, 2)
        y = functional.scaled_dot_product_attention(split(self.q(x)), split(self.k(context)), split(self.v(context)))
        return self.out(y.transpose(1, 2).flatten(2))


class Transformer(nn.Module):
    """Self-attention over the picture, attention to the text, a feed-forward gated by gelu."""

    def __init__(self, width, context, heads):
        super().__init__()
        self.norm, self.into, self.back = nn.GroupNorm(32, width), nn.Conv2d(width, width, 1), nn.Conv2d(width, width, 1)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.own, self.cross = CrossAttention(width, width, heads), CrossAttention(width, context, heads)
        self.gate, self.down = nn.Linear(width, 8 * width), nn.Linear(4 * width, width)

    def forward(self, x, context):
        height = x.shape[2]
        rows = self.into(self.norm(x)).flatten(2).transpose(1, 2)
        n = self.norms[0](rows)
        rows = rows + self.own(n, n)
        rows = rows + self.cross(self.norms[1](rows), context)
        value, gate = self.gate(self.norms[2](rows)).chunk(2, dim=-1)
        rows = rows + self.down(value * functional.gelu(gate))
        return x + self.back(rows.transpose(1, 2).unflatten(2, (height, -1)))


class UnetBlock(nn.Module):
    def __init__(self, width=128, context=256, heads=4):
        super().__init__()
        self.width, embedding = width, 4 * width
        self.time1, self.time2 = nn.Linear(width, embedding), nn.Linear(embedding, embedding)
        self.first = nn.Conv2d(4, width, 3, padding=1)
        self.res1, self.mix1 = Residual(width, width, embedding), Transformer(width, context, heads)
        self.shrink = nn.Conv2d(width, width, 3, stride=2, padding=1)
        self.res2, self.mix2 = Residual(width, 2 * width, embedding), Transformer(2 * width, context, heads)
        self.grow = nn.Conv2d(2 * width, width, 3, padding=1)
        self.res3, self.last_norm, self.last = Residual(2 * width, width, embedding), nn.GroupNorm(32, width), nn.Conv2d(width, 4, 3, padding=1)

    def forward(self, x, step, context):
        half = self.width // 2
        rate = torch.exp(torch.arange(half, dtype=torch.float32, device=x.device) * (-math.log(10000.0) / half))
        angle = step.float()[:, None] * rate
        e = self.time2(functional.silu(self.time1(torch.cat((angle.cos(), angle.sin()), -1).to(x.dtype))))
        h = self.mix1(self.res1(self.first(x), e), context)
        low = self.mix2(self.res2(self.shrink(h), e), context)
        up = self.grow(functional.interpolate(low, size=h.shape[2:], mode="nearest"))
        return self.last(functional.silu(self.last_norm(self.res3(torch.cat((up, h), 1), e))))


def unet_inputs(size):
    generator = generator_of(size)
    return {"x": torch.randn((size["batch"], 4, size["height"], size["width"]), generator=generator),
            "step": torch.randint(0, 1000, (size["batch"],), generator=generator),
            "context": torch.randn((size["batch"], size["tokens"], 256), generator=generator)}


@entry("unet_block", inputs=unet_inputs,
       dims={"x": {0: "batch", 2: "height", 3: "width"}, "step": {0: "batch"}, "context": {0: "batch", 1: "tokens"}},
       sizes=[{"batch": 1, "height": 32, "width": 32, "tokens": 77}, {"batch": 2, "height": 17, "width": 24, "tokens": 19}, {"batch": 3, "height": 8, "width": 8, "tokens": 1}])
def unet_block():
    torch.manual_seed(7)
    return perturbed(UnetBlock())
