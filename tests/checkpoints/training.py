"""Trainings of built programs beside PyTorch's: a checkpoint of `transformers` goes on with a text,
window by window, by AdamW and by SGD, with the losses of the package on the same batches and the weights
that it ends with; also by pairs of small matrices beside weights that stay (LoRA). argv: the fovea
command."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

import torch
import transformers as hf
from transformers.utils import logging
from safetensors.torch import load_file

from adapters import ALPHA, LORA, RANK, add_pairs

FOVEA = sys.argv[1]
logging.set_verbosity_error()
logging.disable_progress_bar()
SEED = int(os.environ.get("FOVEA_SEED", "1"))
torch.manual_seed(SEED)  # of the models' weights
LENGTH, STEPS, DECAY, CLIP = 16, 6, 0.1, 0.5
MODELS = {
    "llama": hf.LlamaForCausalLM._from_config(hf.LlamaConfig(
        vocab_size=256, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, intermediate_size=48), attn_implementation="eager"),
    "gpt2": hf.GPT2LMHeadModel._from_config(hf.GPT2Config(
        vocab_size=256, n_positions=64, n_embd=32, n_layer=2, n_head=4, resid_pdrop=0.0,
        embd_pdrop=0.0, attn_pdrop=0.0), attn_implementation="eager"),
}
# Above the rounding of gradients in float32: a step of Adam with less has the sign of an error where
# the gradient is next to none.
EPSILON = 1e-6
OPTIMIZERS = {
    "adamw": (["--optimizer", "adamw", "--lr", "0.003", "--epsilon", str(EPSILON)],
              lambda p: torch.optim.AdamW(p, lr=0.003, eps=EPSILON, weight_decay=DECAY)),
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
    module = module.train()
    optimizer = make([p for p in module.parameters() if p.requires_grad])
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


def build(name, checkpoint, program, *options):
    subprocess.run([FOVEA, "build", name, "--checkpoint", checkpoint, "--isa", "native",
                    "-o", program, *options], check=True, env={**os.environ, "FOVEA_CXXFLAGS": "-O0"})


def train(folder, program, checkpoint, options):
    """The losses of the steps; the weights are in the file of that name."""
    log = os.path.join(folder, "log")
    subprocess.run(
        [program, "train", "--data", os.path.join(folder, "text"), "--init", checkpoint, "--len",
         str(LENGTH), "--clip", str(CLIP), "--weight-decay", str(DECAY), "--weights",
         os.path.join(folder, "weights"), "--log", log] + options, check=True, capture_output=True)
    with open(log, encoding="utf-8") as file:
        return [json.loads(line)["loss"] for line in file]


def check_losses(what, mine, losses):
    assert len(mine) == STEPS and losses[-1] < losses[0] - 0.01, (what, mine, losses)
    for a, b in zip(mine, losses):
        assert abs(a - b) < 1e-5 * b, (what, mine, losses)


def pairs(folder, name, checkpoint):
    """By pairs that a first training has moved from where they start."""
    program, first = os.path.join(folder, name + "_pairs"), os.path.join(folder, "first")
    build(name, checkpoint, program, *LORA)
    train(folder, program, checkpoint, ["--epochs", "3", "--lr", "0.01"])
    os.rename(os.path.join(folder, "weights"), first)
    fresh = type(MODELS[name]).from_pretrained(checkpoint, attn_implementation="eager")
    module = add_pairs(fresh.double(), load_file(first))
    rate = 0.003
    losses, state = peer(module, lambda p: torch.optim.AdamW(p, lr=rate, eps=EPSILON, weight_decay=DECAY))
    mine = train(folder, program, checkpoint,
                 ["--adapter", first, "--epochs", str(STEPS), "--batch", "6", "--lr", str(rate),
                  "--epsilon", str(EPSILON)])
    check_losses((name, "pairs"), mine, losses)
    for key, value in load_file(os.path.join(folder, "weights")).items():
        expected = state[key.removeprefix("base_model.model.").replace(".lora_A.weight", ".a").replace(
            ".lora_B.weight", ".b")]
        assert (value.double() - expected).norm() < 1e-4 * expected.norm(), (name, key)
    # Merged, they are a checkpoint of the package.
    merged = os.path.join(folder, "merged")
    foreign = tempfile.mkdtemp(dir=folder)
    shutil.copy(os.path.join(folder, "weights"), os.path.join(foreign, "adapter_model.safetensors"))
    for field, value in (("alpha_pattern", {"q_proj": 2}), ("rank_pattern", {"q_proj": 1}),
                         ("modules_to_save", ["lm_head"]), ("bias", "all"), ("lora_bias", True),
                         ("use_dora", True), ("use_rslora", True), ("init_lora_weights", "pissa"),
                         ("layer_replication", [[0, 1], [0, 1]])):
        with open(os.path.join(foreign, "adapter_config.json"), "w", encoding="utf-8") as file:
            json.dump({"peft_type": "LORA", "r": RANK, "lora_alpha": ALPHA, field: value}, file)
        refused = subprocess.run([program, "merge", "--weights", checkpoint, "--adapter", foreign,
                                  "--output", merged], capture_output=True, text=True)
        assert refused.returncode == 2 and f"has {field} = " in refused.stderr, refused.stderr
    subprocess.run([program, "merge", "--weights", checkpoint, "--adapter",
                    os.path.join(folder, "weights"), "--output", merged], check=True)
    refused = subprocess.run([program, "merge", "--weights", checkpoint, "--adapter", "none",
                              "--output", os.path.join(folder, "none", "merged")],
                             capture_output=True, text=True)
    assert refused.returncode == 2 and "cannot write" in refused.stderr, refused.stderr
    whole = type(MODELS[name]).from_pretrained(checkpoint, attn_implementation="eager").double()
    whole.load_state_dict(load_file(merged), strict=False)
    ids, _ = windows()
    made, expected = whole.eval()(ids).logits, module.eval()(ids).logits
    assert (made - expected).abs().max() < 1e-5 * expected.abs().max(), name


def main():
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "text"), "wb") as file:
            file.write(TEXT)
        for name, module in MODELS.items():
            checkpoint, program = os.path.join(folder, name), os.path.join(folder, name + "_program")
            module.save_pretrained(checkpoint)
            module.config.save_pretrained(checkpoint + "_trained")
            build(name, checkpoint, program)
            for title, (options, make) in OPTIMIZERS.items():
                fresh = type(module).from_pretrained(checkpoint, attn_implementation="eager")
                losses, state = peer(fresh.double(), make)
                # All windows at once, and as batches whose gradients are added.
                for batch in (["--batch", "6"], ["--batch", "2", "--accumulate", "3"]):
                    mine = train(folder, program, checkpoint,
                                 ["--epochs", str(STEPS)] + options + batch)
                    check_losses((name, title, batch), mine, losses)
                    # The weights are a checkpoint of the package.
                    os.replace(os.path.join(folder, "weights"),
                               os.path.join(checkpoint + "_trained", "model.safetensors"))
                    made = type(module).from_pretrained(checkpoint + "_trained").state_dict()
                    for key, value in made.items():
                        off = (value.double() - state[key]).norm() / state[key].norm()
                        # Adam's steps are as long where gradients are mostly rounding.
                        assert off < 3e-4, (SEED, name, title, batch, key, off)
            pairs(folder, name, checkpoint)
        print(f"{len(MODELS)} models")


main()
