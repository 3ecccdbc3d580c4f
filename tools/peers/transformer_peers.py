"""What PyTorch, ONNX Runtime and CTranslate2 do with the Transformer of d2l_transformer.py: a
training step, the encoder, greedy decoding. Each is a function that runs once."""
import math
import pathlib
import tempfile
import warnings

import torch
from torch import nn
import torch.nn.functional as F

from d2l_transformer import BOS, Transformer

LEARNING_RATE, CLIP = 0.0001, 1.0
FIRST_WORD = 4  # after <unk>, <pad>, <bos>, <eos>


class TrainingStep:
    """Forward, backward, clipping and Adam on one batch."""

    def __init__(self, model, batch, options, fused):
        self.model, self.batch = model, batch
        self.parameters = list(model.parameters())
        self.adam = torch.optim.Adam(self.parameters, lr=LEARNING_RATE, fused=fused,
                                     foreach=not fused)
        self.loss_sum = model.loss_sum
        if options is not None:
            self.loss_sum = torch.compile(self.loss_sum, dynamic=False, options=options)

    def gradients(self):
        """{name: gradient} and "loss", summed over the batch."""
        self.adam.zero_grad(set_to_none=True)
        loss = self.loss_sum(*self.batch) / self.batch[-1].shape[1]
        loss.backward()
        named = {f"{name}.grad": p.grad for name, p in self.model.named_parameters()}
        return {"loss": loss.detach(), **named}

    def __call__(self):
        self.adam.zero_grad(set_to_none=True)
        (self.loss_sum(*self.batch) / self.batch[-1].shape[1]).backward()
        nn.utils.clip_grad_norm_(self.parameters, CLIP, foreach=True)
        self.adam.step()


def embedded(stack, ids):
    """Embedding times sqrt(hidden) plus positions."""
    scale = math.sqrt(stack.embedding.embedding_dim)
    return stack.embedding(ids) * scale + stack.positions[:ids.shape[1]]


def fast_path_encoder(encoder, hidden, ffn, heads):
    """nn.TransformerEncoder with the encoder's weights: evaluating, it takes PyTorch's fused path
    (known as BetterTransformer)."""
    layer = nn.TransformerEncoderLayer(hidden, heads, ffn, dropout=0, batch_first=True)
    stack = nn.TransformerEncoder(layer, len(encoder.blks)).eval()
    with torch.no_grad():
        for block, target in zip(encoder.blks, stack.layers):
            mine, theirs = block.attention, target.self_attn
            theirs.in_proj_weight.copy_(torch.cat([mine.W_q.weight, mine.W_k.weight,
                                                   mine.W_v.weight]))
            theirs.in_proj_bias.zero_()
            theirs.out_proj.weight.copy_(mine.W_o.weight)
            theirs.out_proj.bias.zero_()
            for source, sink in ((block.ffn.dense1, target.linear1),
                                 (block.ffn.dense2, target.linear2),
                                 (block.addnorm1.ln, target.norm1),
                                 (block.addnorm2.ln, target.norm2)):
                sink.load_state_dict(source.state_dict())
    return lambda ids: stack(embedded(encoder, ids))


def onnx_encoder(encoder, ids, keep, threads):
    """The encoder in ONNX Runtime, with all of its graph optimizations."""
    import onnxruntime

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = encoder

        def forward(self, ids):
            return self.encoder(ids, keep)
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the sizes are those of this input
        path = str(pathlib.Path(name) / "encoder.onnx")
        torch.onnx.export(Encoder().eval(), (ids,), path, input_names=["ids"],
                          output_names=["y"], dynamo=False, opset_version=17)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.add_session_config_entry("session.intra_op.allow_spinning", "1")
        session = onnxruntime.InferenceSession(path, options, ["CPUExecutionProvider"])
    feed = {"ids": ids.numpy()}
    return lambda: torch.from_numpy(session.run(["y"], feed)[0])


class GreedyDecoder:
    """Decodes one sentence with caches of static size, so that one compiled graph does all steps.

    sliced: attends to the rows of the caches that are filled, instead of masking the others."""

    def __init__(self, model, source, steps, sliced=False, options=None):
        self.model, self.source, self.steps, self.sliced = model, source, steps, sliced
        self.blocks = list(model.decoder.blks)
        heads = self.blocks[0].attention1.heads
        hidden = model.decoder.embedding.embedding_dim
        shape = (len(self.blocks), 2, 1, heads, steps, hidden // heads)
        self.cache, self.memory = torch.zeros(shape), None
        self.seen = torch.ones(1, 1, 1, source.shape[1], dtype=torch.bool)
        self.step = self.plain_step if options is None else torch.compile(
            self.plain_step, dynamic=False, options=options)

    def attend(self, attention, x, keys, values, keep=None):
        mixed = F.scaled_dot_product_attention(attention.split(attention.W_q(x)), keys, values,
                                               attn_mask=keep)
        return attention.W_o(mixed.transpose(1, 2).reshape(x.shape))

    def plain_step(self, token, position, cache, memory, filled):
        """The token after `token`, both [1]; position [1]; cache is written in place."""
        decoder = self.model.decoder
        x = decoder.embedding(token) * math.sqrt(decoder.embedding.embedding_dim)
        x = (x + decoder.positions[position])[:, None]
        keep = None if filled else (torch.arange(self.steps) <= position)[None, None, None]
        for i, block in enumerate(self.blocks):
            own = block.attention1
            for part, weights in ((0, own.W_k), (1, own.W_v)):
                cache[i, part].index_copy_(2, position, own.split(weights(x)))
            keys, values = cache[i]
            if filled:
                keys, values = keys[:, :, :filled], values[:, :, :filled]
            y = block.addnorm1(x, self.attend(own, x, keys, values, keep))
            z = block.addnorm2(y, self.attend(block.attention2, y, *memory[i]))
            x = block.addnorm3(z, block.ffn(z))
        return decoder.dense(x[:, 0]).argmax(-1)

    @torch.no_grad()
    def __call__(self):
        encoded = self.model.encoder(self.source, self.seen)
        memory = [[b.attention2.split(w(encoded)).contiguous()
                   for w in (b.attention2.W_k, b.attention2.W_v)] for b in self.blocks]
        token, tokens = torch.tensor([BOS]), []
        for position in range(self.steps):
            filled = position + 1 if self.sliced else 0
            token = self.step(token, torch.tensor([position]), self.cache, memory, filled)
            tokens.append(token)
        return torch.cat(tokens).tolist()


def random_batch(batch, src_len, tgt_len, src_vocab, tgt_vocab):
    """Words alone, all lengths the full ones: (src, src_lens, tgt, labels), int64."""
    src = torch.randint(FIRST_WORD, src_vocab, (batch, src_len))
    labels = torch.randint(FIRST_WORD, tgt_vocab, (batch, tgt_len))
    tgt = torch.cat((torch.full((batch, 1), BOS), labels[:, :-1]), 1)
    return src, torch.full((batch,), src_len), tgt, labels


def make_model(sizes, weights, sdpa=False):
    """The Transformer with fovea's weights; an encoder's alone leave the rest as it is."""
    longest = max(sizes["src_len"], sizes["tgt_len"], sizes["encoder_len"], sizes["steps"])
    names = ("src_vocab", "tgt_vocab", "hidden", "ffn", "heads", "layers")
    model = Transformer(*(sizes[name] for name in names), longest, sdpa=sdpa)
    missing, unexpected = model.load_state_dict(weights, strict=False)
    whole = any(name.startswith("decoder.") for name in weights)
    if unexpected or (whole and missing):
        raise ValueError(f"weights do not fit: {unexpected[:3]}, without {missing[:3]}")
    return model
