"""The d2l Transformer in PyTorch, written to be fast on a CPU, and d2l's text handling.

Parameter names, preprocessing, vocabulary, batches and loss are those of fovea's `transformer`.
"""
import collections
import json
import math

import torch
from torch import nn
import torch.nn.functional as F

UNK, PAD, BOS, EOS = range(4)
RESERVED = ["<unk>", "<pad>", "<bos>", "<eos>"]


def tokenize(sentence):
    """No-break spaces to spaces, lower case, a space before punctuation, split at spaces."""
    text = sentence.replace("\u202f", " ").replace("\xa0", " ").lower()
    spaced = (f" {c}" if c in ",.!?" else c for c in text)
    return [word for word in "".join(spaced).split(" ") if word]


def read_pairs(path):
    """[(source tokens, target tokens)] of a file with one tab-separated pair a line."""
    with open(path, encoding="utf-8") as file:
        pairs = (line.rstrip("\r\n").split("\t")[:2] for line in file if "\t" in line)
        return [(tokenize(source), tokenize(target)) for source, target in pairs]


def build_vocab(sentences, min_freq):
    """{word: id}: the reserved words, then by falling frequency, ties by bytes."""
    counts = collections.Counter(word for sentence in sentences for word in sentence)
    words = sorted(counts, key=lambda word: (-counts[word], word.encode()))
    kept = [word for word in words if counts[word] >= min_freq and word not in RESERVED]
    return {word: i for i, word in enumerate(RESERVED + kept)}


def encode(sentences, vocab, steps):
    """ids [sentences, longest] and lens: <eos> appended, truncated to the steps, padded."""
    rows = [([vocab.get(word, UNK) for word in s] + [EOS])[:steps] for s in sentences]
    lens = torch.tensor([len(row) for row in rows])
    longest = int(lens.max())  # columns that are padding in every sentence would only cost time
    return torch.tensor([row + [PAD] * (longest - len(row)) for row in rows]), lens


class Corpus:
    """src, tgt (decoder input) and labels [pairs, steps], src_lens and tgt_lens [pairs]."""

    def __init__(self, path, steps, min_freq):
        sources, targets = zip(*read_pairs(path))
        self.src_vocab = build_vocab(sources, min_freq)
        self.tgt_vocab = build_vocab(targets, min_freq)
        self.src, self.src_lens = encode(sources, self.src_vocab, steps)
        self.labels, self.tgt_lens = encode(targets, self.tgt_vocab, steps)
        first = torch.full((len(self.labels), 1), BOS)
        self.tgt = torch.cat((first, self.labels[:, :-1]), 1)
        self.tokens = int(self.tgt_lens.sum())

    def batches(self, size, generator=None):
        """An epoch as [(src, src_lens, tgt, labels)], shuffled if a generator is given.

        The last batch holds what is left.
        """
        tensors = (self.src, self.src_lens, self.tgt, self.labels)
        if generator is not None:
            order = torch.randperm(len(self.src), generator=generator)
            tensors = tuple(t[order] for t in tensors)
        return list(zip(*(t.split(size) for t in tensors)))


class Linear(nn.Linear):
    """nn.Linear through a 2-D view: one matrix product for all steps, not one a sequence."""

    def forward(self, x):
        return F.linear(x.reshape(-1, x.shape[-1]), self.weight, self.bias).view(*x.shape[:-1], -1)


class MultiHeadAttention(nn.Module):
    def __init__(self, hidden, heads, sdpa):
        super().__init__()
        self.heads, self.sdpa = heads, sdpa
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(self, name, Linear(hidden, hidden, bias=False))

    def split(self, x):
        batch, steps, hidden = x.shape
        return x.view(batch, steps, self.heads, hidden // self.heads).transpose(1, 2)

    def forward(self, queries, memory, keep):
        """keep: True where a query may see a key, broadcast to [batch, heads, queries, keys]."""
        q, k, v = (self.split(w(x)) for w, x in
                   ((self.W_q, queries), (self.W_k, memory), (self.W_v, memory)))
        if self.sdpa:
            mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=keep)
        else:
            scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[-1])
            mixed = F.softmax(scores.masked_fill(~keep, -1e6), -1) @ v
        return self.W_o(mixed.transpose(1, 2).reshape(queries.shape))


class AddNorm(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.ln = nn.LayerNorm(hidden)

    def forward(self, x, y):
        return self.ln(x + y)


class PositionWiseFFN(nn.Module):
    def __init__(self, hidden, ffn):
        super().__init__()
        self.dense1, self.dense2 = Linear(hidden, ffn), Linear(ffn, hidden)

    def forward(self, x):
        return self.dense2(F.relu(self.dense1(x)))


class EncoderBlock(nn.Module):
    def __init__(self, hidden, ffn, heads, sdpa):
        super().__init__()
        self.attention = MultiHeadAttention(hidden, heads, sdpa)
        self.addnorm1, self.addnorm2 = AddNorm(hidden), AddNorm(hidden)
        self.ffn = PositionWiseFFN(hidden, ffn)

    def forward(self, x, keep):
        y = self.addnorm1(x, self.attention(x, x, keep))
        return self.addnorm2(y, self.ffn(y))


class DecoderBlock(nn.Module):
    def __init__(self, hidden, ffn, heads, sdpa):
        super().__init__()
        self.attention1 = MultiHeadAttention(hidden, heads, sdpa)
        self.attention2 = MultiHeadAttention(hidden, heads, sdpa)
        self.addnorm1, self.addnorm2, self.addnorm3 = (AddNorm(hidden) for _ in range(3))
        self.ffn = PositionWiseFFN(hidden, ffn)

    def forward(self, x, memory, keep, causal):
        y = self.addnorm1(x, self.attention1(x, x, causal))
        z = self.addnorm2(y, self.attention2(y, memory, keep))
        return self.addnorm3(z, self.ffn(z))


class Stack(nn.Module):
    """Embedding times sqrt(hidden) plus sinusoidal positions, then the blocks."""

    def __init__(self, vocab, hidden, steps, blocks):
        super().__init__()
        self.embedding = nn.Embedding(vocab, hidden)
        named = ((f"block{i}", block) for i, block in enumerate(blocks))
        self.blks = nn.Sequential(collections.OrderedDict(named))
        angles = torch.arange(steps)[:, None] / 10000 ** (torch.arange(0, hidden, 2) / hidden)
        positions = torch.stack((angles.sin(), angles.cos()), 2).reshape(steps, hidden)
        self.register_buffer("positions", positions, persistent=False)

    def forward(self, ids, *rest):
        scale = math.sqrt(self.embedding.embedding_dim)
        x = self.embedding(ids) * scale + self.positions[:ids.shape[1]]
        for block in self.blks:
            x = block(x, *rest)
        return x


class Decoder(Stack):
    def __init__(self, vocab, hidden, steps, blocks):
        super().__init__(vocab, hidden, steps, blocks)
        self.dense = Linear(hidden, vocab)
        causal = torch.ones(steps, steps, dtype=torch.bool).tril()
        self.register_buffer("causal", causal, persistent=False)

    def forward(self, ids, memory, keep):
        steps = ids.shape[1]
        return self.dense(super().forward(ids, memory, keep, self.causal[:steps, :steps]))


class Transformer(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, hidden, ffn, heads, layers, steps, sdpa=False):
        super().__init__()
        sizes = (hidden, ffn, heads, sdpa)
        encoder_blocks = [EncoderBlock(*sizes) for _ in range(layers)]
        decoder_blocks = [DecoderBlock(*sizes) for _ in range(layers)]
        self.encoder = Stack(src_vocab, hidden, steps, encoder_blocks)
        self.decoder = Decoder(tgt_vocab, hidden, steps, decoder_blocks)
        for module in self.modules():
            if isinstance(module, Linear):
                nn.init.xavier_uniform_(module.weight)

    def forward(self, src, src_lens, tgt):
        """logits [batch, tgt_steps, tgt_vocab]"""
        keep = (torch.arange(src.shape[1]) < src_lens[:, None])[:, None, None, :]
        return self.decoder(tgt, self.encoder(src, keep), keep)

    def loss_sum(self, src, src_lens, tgt, labels):
        """The cross entropy, summed over the batch's target tokens."""
        logits = self(src, src_lens, tgt)
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=PAD,
                               reduction="sum")


def load_safetensors(path):
    """{name: tensor} of a float32 safetensors file."""
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = bytearray(file.read())
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        assert entry["dtype"] == "F32", f"{name} is {entry['dtype']}, not F32"
        tensors[name] = torch.frombuffer(data[begin:end], dtype=torch.float32).view(entry["shape"])
    return tensors
