"""The kernels of `fovea bench` at its sizes: what fovea is given, and every way in which PyTorch
(and NumPy) can compute the same."""
import functools
import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from ours import Source

HEADS, WIDTH, HIDDEN = 8, 64, 512
PRODUCTS = [(512, 512, 512, False), (1024, 512, 2048, False), (640, 32, 32, False),
            (640, 32, 32, True), (8, 512, 512, False), (1, 2048, 512, False),
            (2048, 2048, 2048, False)]
QUICK_PRODUCTS = [(24, 16, 40, False), (24, 16, 40, True), (1, 16, 40, False)]


@dataclass
class Case:
    """One kernel at one size.

    ways: {label: function from the inputs by name to the output}, each tried as it is and, unless
    its label is in `as_is`, compiled as well."""
    suite: str
    name: str
    source: Source
    inputs: dict      # {name: tensor}, in the order of the functions' parameters
    output: str
    ways: dict
    backward: bool = True
    as_is: tuple = ()
    options: tuple = ((),)  # of torch.compile, each tried


def normal(*shape):
    return torch.randn(*shape)


def in_numpy(function):
    """numpy's product of tensors: the memory is shared, the result one that stays."""
    import numpy
    out = {}

    def run(a, b):
        a, b = function(a.numpy(), b.numpy())
        key = (a.shape, b.shape)
        if key not in out:
            out[key] = numpy.empty((a.shape[0], b.shape[1]), numpy.float32)
        return torch.from_numpy(numpy.matmul(a, b, out=out[key]))
    return run


def contraction_cases(quick):
    for m, k, n, transposed in QUICK_PRODUCTS if quick else PRODUCTS:
        if transposed:
            ways = {"linear": F.linear, "mm": lambda a, b: torch.mm(a, b.t()),
                    "onednn": lambda a, b: torch.ops.mkldnn._linear_pointwise(
                        a, b, None, "none", [], "")}
        else:
            ways = {"mm": torch.mm,
                    "onednn": lambda a, b: torch.ops.mkldnn._linear_pointwise(
                        a, b.t(), None, "none", [], "")}
        try:
            ways["numpy"] = in_numpy((lambda a, b: (a, b.T)) if transposed else lambda a, b: (a, b))
        except ImportError:
            pass
        shape = (n, k) if transposed else (k, n)
        suffix = "_transposed" if transposed else ""
        yield Case("contraction", f"{m}x{k}x{n}{' transposed' if transposed else ''}",
                   Source.of_file("contraction.cpp", f"product_{k}x{n}{suffix}"),
                   {"a": normal(m, k), "b": normal(*shape)}, "c", ways, backward=False,
                   as_is=("numpy", "onednn"),
                   options=((), ("cpp_wrapper",), ("max_autotune", "cpp_wrapper")))


def eager_attention(q, k, v, keep=None, change=None):
    """The plain ops. change: what the scores become."""
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if change is not None:
        scores = change(scores)
    if keep is not None:
        scores = scores.masked_fill(~keep, -1e6)
    return F.softmax(scores, -1) @ v


def with_backend(backend, **given):
    def run(q, k, v):
        with sdpa_kernel(backend):
            return F.scaled_dot_product_attention(q, k, v, **given)
    return run


def sdpa_ways(**given):
    """scaled_dot_product_attention, as PyTorch chooses and with each of its backends."""
    ways = {"sdpa": lambda q, k, v: F.scaled_dot_product_attention(q, k, v, **given)}
    for backend in (SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION,
                    SDPBackend.MATH):
        ways[f"sdpa {backend.name.lower()}"] = with_backend(backend, **given)
    return ways


def flex(batch, length, score=None, mask=None):
    """FlexAttention, which is meant to be compiled; its block mask is made beforehand."""
    blocks = None
    if mask is not None:
        blocks = create_block_mask(mask, batch, None, length, length, device="cpu")
    compiled = torch.compile(flex_attention, dynamic=False)
    return lambda q, k, v: compiled(q, k, v, score_mod=score, block_mask=blocks)


def sliced(lengths):
    """Each sequence by itself, over its keys alone."""
    def run(q, k, v):
        return torch.cat([F.scaled_dot_product_attention(q[i:i + 1], k[i:i + 1, :, :n],
                                                         v[i:i + 1, :, :n])
                          for i, n in enumerate(lengths)])
    return run


def nested(lengths):
    """Keys and values as jagged nested tensors of the valid keys."""
    def jagged(x, counts):
        rows = [x[i, :, :n].transpose(0, 1) for i, n in enumerate(counts)]
        return torch.nested.as_nested_tensor(rows, layout=torch.jagged).transpose(1, 2)

    def run(q, k, v):
        full = [q.shape[2]] * q.shape[0]
        y = F.scaled_dot_product_attention(jagged(q, full), jagged(k, lengths), jagged(v, lengths))
        return torch.stack(y.transpose(1, 2).unbind()).transpose(1, 2)
    return run


def attention_case(name, function, batch, length, ways, lens=None, **rest):
    inputs = {x: normal(batch, HEADS, length, WIDTH) for x in "qkv"}
    if lens is not None:
        inputs["lens"] = torch.tensor(lens, dtype=torch.int32)
        ways = {label: functools.partial(lambda way, q, k, v, lens: way(q, k, v), way)
                for label, way in ways.items()}
    return Case("attention", name, Source.of_file("attention.cpp", function, training=True),
                inputs, "output", ways, as_is=("sdpa math", "sdpa flash_attention",
                                               "sdpa efficient_attention", "flex", "nested"),
                **rest)


def causal_mask(b, h, i, j):
    return i >= j


def soft_cap(scores):
    return 30 * torch.tanh(scores / 30)


def alibi_case(batch, length):
    slopes = 2.0 ** -torch.arange(1, HEADS + 1)
    distance = torch.arange(length) - torch.arange(length)[:, None]
    bias, keep = slopes[:, None, None] * distance, torch.ones(length, length).tril().bool()

    def score(value, b, h, i, j):
        return soft_cap(value + slopes[h] * (j - i))
    ways = {"eager": lambda q, k, v: eager_attention(q, k, v, keep, lambda s: soft_cap(s + bias)),
            "flex": flex(batch, length, score, causal_mask)}
    return attention_case("ALiBi, soft cap, causal", "alibi_soft_cap", batch, length, ways)


def padded_case(batch, length):
    lengths = [length * (2 * i + 1) // (2 * batch) for i in range(batch)]
    valid = torch.tensor(lengths)
    keep = (torch.arange(length) < valid[:, None])[:, None, None, :]
    ways = {"eager": lambda q, k, v: eager_attention(q, k, v, keep), **sdpa_ways(attn_mask=keep),
            "sliced": sliced(lengths), "nested": nested(lengths),
            "flex": flex(batch, length, mask=lambda b, h, i, j: j < valid[b])}
    return attention_case("padded", "padded", batch, length, ways, lens=lengths)


def additive_case(batch, length):
    def eager(q, k, v, w_v):
        scores = torch.tanh(q[:, :, None] + k[:, None]) @ w_v
        return F.softmax(scores, -1) @ v
    inputs = {x: normal(batch, length, WIDTH) for x in "qkv"} | {"w_v": normal(WIDTH)}
    return Case("attention", f"additive {length}",
                Source.of_file("attention.cpp", "additive", training=True), inputs, "output",
                {"eager": eager})


def attention_cases(quick):
    batch, long = (2, 24) if quick else (8, 1024)
    for length in (24,) if quick else (512, 1024, 2048):
        yield attention_case(f"length {length}", "full", batch, length, {
            "eager": eager_attention, **sdpa_ways(), "flex": flex(batch, length)})
    keep = torch.ones(long, long).tril().bool()
    yield attention_case(f"causal {long}", "causal_mask", batch, long, {
        "eager": lambda q, k, v: eager_attention(q, k, v, keep), **sdpa_ways(is_causal=True),
        "flex": flex(batch, long, mask=causal_mask)})
    yield padded_case(batch, long)
    yield attention_case(f"soft cap {long}", "soft_cap", batch, long, {
        "eager": lambda q, k, v: eager_attention(q, k, v, change=soft_cap),
        "flex": flex(batch, long, lambda value, b, h, i, j: soft_cap(value))})
    yield alibi_case(batch, long)
    yield additive_case(batch, 24 if quick else 256)


def rowwise_case(name, inputs, output, **ways):
    return Case("rowwise", name, Source.of_file("rowwise.cpp", f"{name}_rows", training=True),
                inputs, output, ways)


def cross_entropy(x, labels, lens):
    """[batch]: the mean over all steps of the terms inside the lengths."""
    terms = F.cross_entropy(x.flatten(0, 1), labels.flatten().long(), reduction="none")
    terms = terms.view(labels.shape)
    return (terms * (torch.arange(x.shape[1]) < lens[:, None])).sum(1) / x.shape[1]


def masked_softmax(x, lens):
    keep = torch.arange(x.shape[2]) < lens[:, None, None]
    return F.softmax(x.masked_fill(~keep, -1e6), -1)


def rowwise_cases(quick):
    scores = (2, 5, 24) if quick else (64, 512, 512)
    tokens = (2, 5, HIDDEN) if quick else (32, 512, HIDDEN)
    logits = (2, 5, 24) if quick else (16, 64, 8000)
    norm = {"weight": normal(HIDDEN), "bias": normal(HIDDEN)}
    yield rowwise_case("softmax", {"x": normal(*scores)}, "y", eager=lambda x: F.softmax(x, -1))
    yield rowwise_case("masked_softmax", {
        "x": normal(*scores), "lens": torch.full((scores[0],), scores[2]).int()}, "y",
        eager=masked_softmax)
    yield rowwise_case("layer_norm", {"x": normal(*tokens), **norm}, "y",
                       eager=lambda x, weight, bias: F.layer_norm(x, (HIDDEN,), weight, bias))
    yield rowwise_case(
        "add_norm", {"x": normal(*tokens), "residual": normal(*tokens), **norm}, "y",
        eager=lambda x, residual, weight, bias: F.layer_norm(x + residual, (HIDDEN,), weight, bias))
    yield rowwise_case("cross_entropy", {
        "x": normal(*logits), "labels": torch.randint(logits[2], logits[:2]).int(),
        "lens": torch.full((logits[0],), logits[1]).int()}, "loss", eager=cross_entropy)


def convolution_cases(quick):
    """A kernel of 3, or of 3 x 3, with as many zeros around that sizes stay. oneDNN computes them;
    channels_last is the layout that it is said to be fastest in."""
    def in_channels_last(x, weight, bias):
        of_last = torch.channels_last
        y = F.conv2d(x.to(memory_format=of_last), weight.to(memory_format=of_last), bias, padding=1)
        return y.contiguous()
    sizes = [("conv2d_6", (2, 6, 9, 11), (5, 6, 3, 3))] if quick else [
        ("conv2d_64", (8, 64, 56, 56), (64, 64, 3, 3)),
        ("conv1d_256", (8, 256, 512), (256, 256, 3))]
    for name, x, weight in sizes:
        is_image = len(x) == 4
        function = F.conv2d if is_image else F.conv1d
        ways = {"conv": functools.partial(function, padding=1)}
        if is_image:
            ways["channels_last"] = in_channels_last
        yield Case("convolution", f"{name} {'x'.join(map(str, x))}",
                   Source.of_file("convolution.cpp", name, training=True),
                   {"x": normal(*x), "weight": 0.1 * normal(*weight), "bias": normal(weight[0])},
                   "y", ways)


SUITES = {"contraction": contraction_cases, "convolution": convolution_cases,
          "attention": attention_cases, "rowwise": rowwise_cases}
