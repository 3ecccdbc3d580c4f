"""Writes the cases of models that the shared ones leave out, from models.py, in float64.

    python tests/parity/make_cases.py    # needs torch and safetensors
"""
import json
import math
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import save_file

import models

HERE = Path(__file__).parent
torch.set_default_dtype(torch.float64)
generator = torch.Generator().manual_seed(7)


def normal(*shape):
    return torch.randn(*shape, generator=generator).float().double()


def ids(vocabulary, *shape):
    return torch.randint(0, vocabulary, shape, generator=generator)


def with_weights(module):
    """Weights exact in float32: matrices scaled by their width, norms near 1, biases near 0."""
    with torch.no_grad():
        for name, p in module.named_parameters():
            values = normal(*p.shape)
            if p.dim() > 1:
                values = values / math.sqrt(p.shape[-1])
            else:
                values = values * 0.3 + (1 if name.endswith("weight") else 0)
            p.copy_(values.float().double())
    return module


def as_arrays(tensors):
    return {name: t.detach().numpy().astype(np.float32 if t.is_floating_point() else np.int32)
            for name, t in tensors.items()}


def write(case, settings, module, inputs, forward):
    """`forward` gives the outputs by name; without a loss each gets a cotangent."""
    floats = {name: x.requires_grad_() for name, x in inputs.items() if x.is_floating_point()}
    outputs = forward()
    cotangents = {}
    if "loss" in outputs:
        outputs["loss"].sum().backward()
    else:
        cotangents = {f"{name}.grad": normal(*y.shape) for name, y in outputs.items()}
        sum((y * cotangents[f"{name}.grad"]).sum() for name, y in outputs.items()).backward()
    parameters = dict(module.named_parameters())
    gradients = {f"{name}.grad": x.grad for name, x in {**parameters, **floats}.items()}
    folder = HERE / case
    folder.mkdir(exist_ok=True)
    model = case.rsplit("-", 1)[0]
    (folder / "settings.json").write_text(
        json.dumps({"model": model, "settings": settings}, indent=1) + "\n")
    save_file(as_arrays({**inputs, **cotangents}), folder / "inputs.safetensors")
    if parameters:
        save_file(as_arrays(parameters), folder / "weights.safetensors")
    save_file(as_arrays({**outputs, **gradients}), folder / "expected.safetensors")


def modules():
    x = normal(3, 7, 6)
    encoding = models.PositionalEncoding(6)
    write("positional_encoding-0", {"hidden": 6}, encoding, {"x": x},
          lambda: {"output": encoding(x)})

    a, b = normal(3, 5, 9), normal(3, 5, 9)
    norm = with_weights(models.AddNorm([9]))
    write("add_norm-0", {"hidden": 9}, norm, {"x": a, "y": b}, lambda: {"output": norm(a, b)})

    y = normal(2, 5, 7)
    ffn = with_weights(models.PositionWiseFFN(7, 11, 9))
    write("position_wise_ffn-0", {"input": 7, "ffn": 11, "output": 9}, ffn, {"x": y},
          lambda: {"output": ffn(y)})


def blocks():
    config = models.Config(num_hiddens=18, ffn_num_hiddens=31, num_heads=3, num_layers=2,
                           tgt_vocab=13)
    sizes = {"hidden": 18, "ffn": 31, "heads": 3}
    x, lens = normal(3, 9, 18), torch.tensor([0, 4, 9])
    encoder = with_weights(models.EncoderBlock(config, use_bias=True))
    write("encoder_block-0", {**sizes, "bias": True}, encoder, {"x": x, "valid_lens": lens},
          lambda: {"output": encoder(x, lens)})

    y, memory, memory_lens = normal(3, 6, 18), normal(3, 5, 18), torch.tensor([5, 0, 2])
    decoder = with_weights(models.DecoderBlock(config, 0)).train()
    write("decoder_block-0", sizes, decoder, {"x": y, "memory": memory, "memory_lens": memory_lens},
          lambda: {"output": decoder(y, [memory, memory_lens, [None]])[0]})

    tgt, memory = ids(13, 3, 6), normal(3, 5, 18)
    stack = with_weights(models.TransformerDecoder(config)).train()
    write("transformer_decoder-0", {**sizes, "tgt_vocab": 13, "layers": 2}, stack,
          {"tgt": tgt, "memory": memory, "memory_lens": memory_lens},
          lambda: {"logits": stack(tgt, stack.init_state(memory, memory_lens))[0]})


def paper(case, vocabularies, pad, smoothing, **tied):
    settings = {"src_vocab": vocabularies[0], "tgt_vocab": vocabularies[1], "d_model": 12,
                "d_inner": 20, "layers": 1, "heads": 3, "d_k": 5, "d_v": 7, "pad": pad,
                "label_smoothing": smoothing, "dropout": 0.1, **tied}
    config = models.Config(**settings, n_layers=1, n_head=3, share_prj=tied["share_projection"],
                           share_emb=tied["share_embeddings"])
    model = with_weights(models.AttentionIsAllYouNeed(config)).eval()
    src, tgt, labels = (ids(v, 3, n) for v, n in zip((*vocabularies, vocabularies[1]), (6, 5, 5)))
    for x, lengths in ((src, (0, 4, 6)), (tgt, (5, 0, 3)), (labels, (5, 0, 3))):
        for row, length in zip(x, lengths):
            row[length:] = pad
    tgt[0, 1] = src[2, 0] = pad  # padding in the middle

    def forward():
        logits = model(src, tgt)
        return {"logits": logits, "loss": models.smoothed_ce(logits, labels, pad, smoothing)}

    write(case, settings, model, {"src": src, "tgt": tgt, "labels": labels}, forward)


modules()
blocks()
paper("attention_is_all_you_need-1", (19, 19), 1, 0.1, scale="prj", share_projection=True,
      share_embeddings=True)
paper("attention_is_all_you_need-2", (11, 14), 0, 0.0, scale="none", share_projection=False,
      share_embeddings=False)
