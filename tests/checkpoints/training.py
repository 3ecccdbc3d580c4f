"""Trainings of built programs beside PyTorch's: a checkpoint of `transformers` goes on with a text,
window by window, by AdamW and by SGD, with the losses of the package on the same batches and the weights
that it ends with. argv: the fovea command."""
import json
import os
import subprocess
import sys
import tempfile

import torch
import transformers as hf
from transformers.utils import logging
from safetensors.torch import load_file

FOVEA = sys.argv[1]
logging.set_verbosity_error()
logging.disable_progress_bar()
LENGTH, STEPS, DECAY, CLIP = 16, 6, 0.1, 0.5
# Single windows a batch: an epoch of the one window that a text has is a step.
MODELS = {
    "llama": hf.LlamaForCausalLM._from_config(hf.LlamaConfig(
        vocab_size=256, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, intermediate_size=48), attn_implementation="eager"),
    "gpt2": hf.GPT2LMHeadModel._from_config(hf.GPT2Config(
        vocab_size=256, n_positions=64, n_embd=32, n_layer=2, n_head=4, resid_pdrop=0.0,
        embd_pdrop=0.0, attn_pdrop=0.0), attn_implementation="eager"),
}
OPTIMIZERS = {
    "adamw": (["--optimizer", "adamw", "--lr", "0.003"],
              lambda p: torch.optim.AdamW(p, lr=0.003, weight_decay=DECAY)),
    "sgd": (["--optimizer", "sgd", "--lr", "0.2", "--momentum", "0.9"],
            lambda p: torch.optim.SGD(p, lr=0.2, momentum=0.9, weight_decay=DECAY)),
}
TEXT = b"One text of which all windows are a batch: the order of an epoch changes no sum of it."


def windows():
    """ids and labels of each window, -100 behind the text's end, as transformers ignores it."""
    ids = torch.full((len(range(0, len(TEXT) - 1, LENGTH)), LENGTH), 0)
    labels = torch.full_like(ids, -100)
    for row, start in enumerate(range(0, len(TEXT) - 1, LENGTH)):
        piece = torch.tensor(list(TEXT[start:start + LENGTH + 1]))
        ids[row, :len(piece) - 1] = piece[:-1]
        labels[row, :len(piece) - 1] = piece[1:]
    return ids, labels


def peer(module, make):
    """The losses of steps on the whole text, and the weights behind them, in float64."""
    module = module.double().train()
    optimizer = make(module.parameters())
    ids, labels = windows()
    losses = []
    for _ in range(STEPS):
        logits = module(input_ids=ids, use_cache=False).logits
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
        losses.append(float(loss.detach()))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(module.parameters(), CLIP)
        optimizer.step()
    return losses, module.state_dict()


def main():
    torch.manual_seed(1)
    with tempfile.TemporaryDirectory() as folder:
        text = os.path.join(folder, "text")
        with open(text, "wb") as file:
            file.write(TEXT)
        for name, module in MODELS.items():
            checkpoint, program = os.path.join(folder, name), os.path.join(folder, name + "_program")
            module.save_pretrained(checkpoint)
            subprocess.run([FOVEA, "build", name, "--checkpoint", checkpoint, "-o", program],
                           check=True, env={**os.environ, "FOVEA_CXXFLAGS": "-Og"})
            for title, (options, make) in OPTIMIZERS.items():
                fresh = type(module).from_pretrained(checkpoint, attn_implementation="eager")
                losses, state = peer(fresh, make)
                # All windows at once, and as batches whose gradients are added.
                for batch in (["--batch", "6"], ["--batch", "2", "--accumulate", "3"]):
                    weights, log = os.path.join(folder, "weights"), os.path.join(folder, "log")
                    subprocess.run(
                        [program, "train", "--data", text, "--init", checkpoint, "--len", str(LENGTH),
                         "--epochs", str(STEPS), "--clip", str(CLIP), "--weight-decay", str(DECAY),
                         "--weights", weights, "--log", log] + options + batch,
                        check=True, capture_output=True)
                    with open(log, encoding="utf-8") as file:
                        mine = [json.loads(line)["loss"] for line in file]
                    assert len(mine) == STEPS and losses[-1] < losses[0] - 0.01, (mine, losses)
                    for a, b in zip(mine, losses):
                        assert abs(a - b) < 1e-5 * b, (name, title, batch, mine, losses)
                    for key, value in load_file(weights).items():
                        off = (value.double() - state[key]).norm() / state[key].norm()
                        assert off < 1e-4, (name, title, batch, key, off)
                print(name, title, losses)


main()
