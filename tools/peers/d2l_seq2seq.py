"""d2l's Seq2SeqAttentionDecoder with its encoder, nn.LSTM both, written to be fast on a CPU.

Parameter names, initial values' laws and loss are those of fovea's `seq2seq_attention`.
"""
import torch
from torch import nn
import torch.nn.functional as F

from d2l_transformer import PAD


class Attention(nn.Module):
    """Additive attention over keys that were projected before."""

    def __init__(self, hidden):
        super().__init__()
        self.W_k, self.W_q = (nn.Linear(hidden, hidden, bias=False) for _ in range(2))
        self.w_v = nn.Linear(hidden, 1, bias=False)

    def forward(self, query, keys, values, keep):
        """query [batch, hidden], keys and values [batch, steps, hidden] -> [batch, hidden]"""
        scores = self.w_v(torch.tanh(self.W_q(query)[:, None] + keys)).squeeze(2)
        weights = F.softmax(scores.masked_fill(~keep, -1e6), 1)
        return (weights[:, None] @ values).squeeze(1)


def lstm_cells(rnn, x, state):
    """nn.LSTM over all steps of x [steps, batch, input], spelled out for the compiler."""
    hidden, cell = list(state[0]), list(state[1])
    for layer in range(rnn.num_layers):
        weight_ih, weight_hh, bias_ih, bias_hh = rnn.all_weights[layer]
        gates, outputs = F.linear(x, weight_ih, bias_ih + bias_hh), []
        for step in gates.unbind(0):
            i, f, g, o = (step + F.linear(hidden[layer], weight_hh)).chunk(4, 1)
            cell[layer] = f.sigmoid() * cell[layer] + i.sigmoid() * g.tanh()
            hidden[layer] = o.sigmoid() * cell[layer].tanh()
            outputs.append(hidden[layer])
        x = torch.stack(outputs)
    return x, (hidden, cell)


class Encoder(nn.Module):
    def __init__(self, vocab, embed, hidden, layers):
        super().__init__()
        self.embedding, self.rnn = nn.Embedding(vocab, embed), nn.LSTM(embed, hidden, layers)


class Decoder(nn.Module):
    def __init__(self, vocab, embed, hidden, layers):
        super().__init__()
        self.attention = Attention(hidden)
        self.embedding = nn.Embedding(vocab, embed)
        self.rnn = nn.LSTM(embed + hidden, hidden, layers)
        self.dense = nn.Linear(hidden, vocab)


class Seq2SeqAttention(nn.Module):
    """cells: the LSTMs as plain ops, not by nn.LSTM."""

    def __init__(self, src_vocab, tgt_vocab, embed, hidden, layers, steps, cells=False):
        super().__init__()
        self.steps, self.cells = steps, cells
        self.encoder = Encoder(src_vocab, embed, hidden, layers)
        self.decoder = Decoder(tgt_vocab, embed, hidden, layers)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)

    def lstm(self, rnn, x, state):
        if self.cells:
            return lstm_cells(rnn, x, state)
        y, state = rnn(x, tuple(torch.stack(tuple(part)) for part in state))
        return y, (state[0].unbind(0), state[1].unbind(0))

    def forward(self, src, src_lens, tgt):
        """logits [batch, tgt_steps, tgt_vocab]; the encoder runs over padding, to all steps."""
        src = F.pad(src, (0, self.steps - src.shape[1]), value=PAD)
        keep = torch.arange(self.steps) < src_lens[:, None]
        rnn, decoder = self.encoder.rnn, self.decoder
        zeros = [torch.zeros(src.shape[0], rnn.hidden_size)] * rnn.num_layers
        states, state = self.lstm(rnn, self.encoder.embedding(src.T), (zeros, zeros))
        values = states.transpose(0, 1)
        keys, outputs = decoder.attention.W_k(values), []
        for x in decoder.embedding(tgt.T).unbind(0):
            context = decoder.attention(state[0][-1], keys, values, keep)
            y, state = self.lstm(decoder.rnn, torch.cat((context, x), 1)[None], state)
            outputs.append(y[0])
        return decoder.dense(torch.stack(outputs, 1))

    def loss_sum(self, src, src_lens, tgt, labels):
        """The cross entropy, summed over the batch's target tokens."""
        logits = self(src, src_lens, tgt)
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=PAD,
                               reduction="sum")
