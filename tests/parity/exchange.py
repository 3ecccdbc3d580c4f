#!/usr/bin/env python3
"""Weights go from PyTorch to fovea and back, by safetensors, and give the same logits.

    python3 tests/parity/exchange.py --fovea build/fovea [MODEL...]

For each model: the PyTorch model of models.py is saved and run by `fovea run`; a translator that
`fovea build` made is trained, its weights are loaded into the PyTorch model, whose logits are
compared again; saved from there, they translate as before. Needs torch and safetensors.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import torch
from safetensors import safe_open
from safetensors.torch import load_file, load_model, save_file, save_model

import models

TOLERANCE = 2e-5  # of logits, which are about 1
PAIRS = "go .\tva !\nhi .\tsalut !\nrun !\tcours !\ni see .\tje vois .\ni won .\tje gagne .\n"
SIZES = {
    "transformer": {"hidden": 16, "ffn": 28, "heads": 2, "layers": 2},
    "seq2seq_attention": {"embed": 12, "hidden": 16, "layers": 2},
    "attention_is_all_you_need": {"d_model": 16, "d_inner": 28, "heads": 2, "layers": 2, "d_k": 7,
                                  "d_v": 9, "dropout": 0.0},
}


def make_net(name, src_vocab, tgt_vocab):
    s = SIZES[name]
    if name == "attention_is_all_you_need":
        widths = {key: s[key] for key in ("d_model", "d_inner", "d_k", "d_v", "dropout")}
        config = models.Config(src_vocab=src_vocab, tgt_vocab=tgt_vocab, n_layers=s["layers"],
                               n_head=s["heads"], pad=1, scale="emb", share_prj=True,
                               share_emb=False, **widths)
        net = models.AttentionIsAllYouNeed(config)
        for stack in (net.encoder, net.decoder):  # as its usual form keeps the positions
            stack.position_enc = torch.nn.Module()
            stack.position_enc.register_buffer("pos_table", stack.P.clone())
        return net.eval()
    config = models.Config(src_vocab=src_vocab, tgt_vocab=tgt_vocab, num_hiddens=s["hidden"],
                           num_layers=s["layers"], ffn_num_hiddens=s.get("ffn"),
                           num_heads=s.get("heads"), embed_size=s.get("embed"))
    kind = {"transformer": models.Transformer, "seq2seq_attention": models.Seq2SeqAttention}[name]
    return kind(config).train()  # d2l's decoder is causal in training alone; there is no dropout


def make_inputs(name, src_vocab, tgt_vocab):
    src, tgt = torch.randint(4, src_vocab, (3, 6)), torch.randint(4, tgt_vocab, (3, 5))
    inputs = {"src": src, "tgt": tgt, "labels": torch.randint(4, tgt_vocab, (3, 5))}
    if name == "attention_is_all_you_need":
        src[0, 4:] = 1  # padding
    else:
        inputs |= {"src_lens": torch.tensor([4, 6, 2]), "tgt_lens": torch.tensor([5, 3, 4])}
    return {key: value.to(torch.int32) for key, value in inputs.items()}


def torch_logits(name, net, inputs):
    src, tgt = inputs["src"].long(), inputs["tgt"].long()
    with torch.no_grad():
        if name == "attention_is_all_you_need":
            return net(src, tgt)
        return net(src, tgt, inputs["src_lens"])


class Exchange:
    def __init__(self, fovea, name, folder):
        self.fovea, self.name, self.folder = str(pathlib.Path(fovea).resolve()), name, folder

    def run(self, *command, **options):
        return subprocess.run([str(word) for word in command], cwd=self.folder, check=True,
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)

    def settings(self, **more):
        return [f"--set={k}={v}" for k, v in {**SIZES[self.name], **more}.items()]

    def check_logits(self, what, net, weights, inputs, vocabularies):
        save_file(inputs, self.folder / "in.safetensors")
        done = self.run(self.fovea, "run", self.name, "--weights", weights, "--inputs",
                        "in.safetensors", "--outputs", "out.safetensors",
                        *self.settings(src_vocab=vocabularies[0], tgt_vocab=vocabularies[1]))
        assert "warning" not in done.stderr, done.stderr
        ours = load_file(self.folder / "out.safetensors")["logits"]
        error = (ours - torch_logits(self.name, net, inputs)).abs().max().item()
        print(f"{self.name}: {what}: logits differ by {error:.1e}", flush=True)
        assert error < TOLERANCE, error

    def check_from_torch(self):
        net, inputs = make_net(self.name, 20, 30), make_inputs(self.name, 20, 30)
        save_model(net, self.folder / "net.safetensors")
        self.check_logits("saved by PyTorch", net, "net.safetensors", inputs, (20, 30))
        if self.name != "attention_is_all_you_need":
            return
        tensors = load_file(self.folder / "net.safetensors")
        tied = ["trg_word_prj.weight", "decoder.trg_word_emb.weight"]
        table = next(tensors.pop(key) for key in tied if key in tensors)
        for key in tied:
            save_file({**tensors, key: table}, self.folder / "one.safetensors")
            self.check_logits(f"tied as {key}", net, "one.safetensors", inputs, (20, 30))

    def translate(self, weights):
        return self.run("./translator", "translate", "--weights", weights, "--scores",
                        input="go .\nhi .\ni see .\n").stdout

    def check_to_torch(self):
        (self.folder / "pairs.tsv").write_text(PAIRS, encoding="utf-8")
        self.run(self.fovea, "build", self.name, "-o", "translator", "--isa", "native",
                 *self.settings())
        self.run("./translator", "train", "--data", "pairs.tsv", "--weights", "w.safetensors",
                 "--epochs", "20", "--min-freq", "1")
        with safe_open(self.folder / "w.safetensors", "pt") as file:
            metadata = file.metadata()
        sizes = [len(json.loads(metadata[key])) for key in ("src_vocab", "tgt_vocab")]
        net = make_net(self.name, *sizes)
        missing, unexpected = load_model(net, self.folder / "w.safetensors", strict=False)
        assert all(key.endswith(".pos_table") for key in missing) and not unexpected, missing
        self.check_logits("trained by fovea", net, "w.safetensors",
                          make_inputs(self.name, *sizes), sizes)
        save_model(net, self.folder / "again.safetensors", metadata=metadata)
        assert self.translate("again.safetensors") == self.translate("w.safetensors")
        print(f"{self.name}: saved again by PyTorch: the same translations and scores", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--fovea", required=True, help="the command")
    parser.add_argument("models", nargs="*", help="default: " + ", ".join(SIZES))
    options = parser.parse_args()
    torch.manual_seed(1)
    for name in options.models or SIZES:
        if name not in SIZES:
            sys.exit(f"exchange: '{name}' is none of {', '.join(SIZES)}")
        with tempfile.TemporaryDirectory() as folder:
            exchange = Exchange(options.fovea, name, pathlib.Path(folder))
            exchange.check_from_torch()
            exchange.check_to_torch()


if __name__ == "__main__":
    main()
