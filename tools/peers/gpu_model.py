"""The paper's base model in PyTorch as a training step wants it: attention by SDPA without masks
for padding, which fovea's side has, matrices in bfloat16 by autocast over float32 weights, fused
Adam. `attention_is_all_you_need` of fovea has the same sizes."""
import math

import torch
from torch import nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (
            nn.Linear(width, width, bias=False) for _ in range(4))
        self.norm, self.dropout = nn.LayerNorm(width, eps=1e-6), dropout

    def forward(self, x, memory, causal):
        def split(tensor):
            return tensor.unflatten(-1, (self.heads, -1)).transpose(1, 2)
        seen = F.scaled_dot_product_attention(
            split(self.query(x)), split(self.key(memory)), split(self.value(memory)),
            dropout_p=self.dropout, is_causal=causal)
        y = self.out(seen.transpose(1, 2).flatten(2))
        return self.norm(x + F.dropout(y, self.dropout))


class FeedForward(nn.Module):
    def __init__(self, width, inner, dropout):
        super().__init__()
        self.first, self.second = nn.Linear(width, inner), nn.Linear(inner, width)
        self.norm, self.dropout = nn.LayerNorm(width, eps=1e-6), dropout

    def forward(self, x):
        y = self.second(F.relu(self.first(x)))
        return self.norm(x + F.dropout(y, self.dropout))


class Layer(nn.Module):
    def __init__(self, width, inner, heads, dropout, is_decoder):
        super().__init__()
        self.own = Attention(width, heads, dropout)
        self.across = Attention(width, heads, dropout) if is_decoder else None
        self.feed = FeedForward(width, inner, dropout)

    def forward(self, x, memory):
        x = self.own(x, x, self.across is not None)
        if self.across is not None:
            x = self.across(x, memory, False)
        return self.feed(x)


class Stack(nn.Module):
    """Embedding and positions, then the layers."""

    def __init__(self, sizes, vocabulary, is_decoder):
        super().__init__()
        width, self.dropout = sizes["width"], sizes["dropout"]
        self.embedding = nn.Embedding(vocabulary, width)
        place = torch.arange(sizes["length"])[:, None] * torch.exp(
            torch.arange(0, width, 2) * (-math.log(10000) / width))
        self.register_buffer("positions", torch.stack([place.sin(), place.cos()], -1).flatten(1))
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.layers = nn.ModuleList(Layer(width, sizes["inner"], sizes["heads"], self.dropout,
                                          is_decoder) for _ in range(sizes["layers"]))

    def forward(self, ids, memory=None):
        x = self.embedding(ids) + self.positions[:ids.shape[1]]
        x = self.norm(F.dropout(x, self.dropout))
        for layer in self.layers:
            x = layer(x, memory)
        return x


class Transformer(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.encoder = Stack(sizes, sizes["src_vocab"], False)
        self.decoder = Stack(sizes, sizes["tgt_vocab"], True)
        self.projection = nn.Linear(sizes["width"], sizes["tgt_vocab"], bias=False)

    def forward(self, src, tgt, labels):
        logits = self.projection(self.decoder(tgt, self.encoder(src)))
        return F.cross_entropy(logits.flatten(0, 1).float(), labels.flatten(), reduction="sum")


class TrainingStep:
    """Forward, backward, clipping and Adam on one batch of random words; called, it runs once."""

    def __init__(self, sizes, device, compiled):
        torch.manual_seed(1)
        self.device = device
        self.model = Transformer(sizes).to(device)
        self.loss = torch.compile(self.model, dynamic=False) if compiled else self.model
        self.adam = torch.optim.Adam(self.model.parameters(), lr=0.0001, fused=True)

        def words(vocabulary):
            return torch.randint(vocabulary, (sizes["batch"], sizes["length"]), device=device)
        self.batch = words(sizes["src_vocab"]), words(sizes["tgt_vocab"]), words(sizes["tgt_vocab"])

    def __call__(self):
        self.adam.zero_grad(set_to_none=True)
        with torch.autocast(self.device, dtype=torch.bfloat16):
            loss = self.loss(*self.batch)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0, foreach=True)
        self.adam.step()
        return loss
