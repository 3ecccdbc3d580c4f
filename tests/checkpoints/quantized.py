"""Programs with weights of 8 and 4 bits, built for checkpoints that `transformers` writes: their
logits, scores and tokens are those of the package on the values that the numbers are. argv: the
fovea command."""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import torch
import transformers as hf
from safetensors import safe_open
from safetensors.numpy import load_file, save_file
from safetensors.torch import save_file as save_torch
from transformers.utils import logging

FOVEA = sys.argv[1]
logging.set_verbosity_error()
logging.disable_progress_bar()
# Depths that are no groups: 40 and 72.
SMALL = {"vocab_size": 61, "hidden_size": 40, "num_hidden_layers": 2, "num_attention_heads": 4,
         "num_key_value_heads": 2, "intermediate_size": 72, "max_position_embeddings": 64}
MODELS = {"llama, tied": (hf.LlamaForCausalLM, hf.LlamaConfig(**SMALL, tie_word_embeddings=True)),
          "qwen3": (hf.Qwen3ForCausalLM, hf.Qwen3Config(**SMALL, head_dim=10))}


def dequantized(path):
    """The tensors of a file in float64: numbers times the scales of their groups."""
    tensors = {}
    with safe_open(path, "pt") as file:
        kind, group = file.metadata()["fovea_weights"].split(":")
        names = set(file.keys())
        for name in names:
            if name.endswith(".scales"):
                continue
            numbers = file.get_tensor(name)
            if name + ".scales" not in names:
                tensors[name] = numbers.double()
                continue
            if kind == "int4":
                numbers = torch.stack([numbers & 15, numbers >> 4], -1).flatten(1).int()
                numbers = torch.where(numbers > 7, numbers - 16, numbers)
            scales = file.get_tensor(name + ".scales").double().repeat_interleave(int(group), 1)
            width = min(numbers.shape[1], scales.shape[1])
            tensors[name] = numbers.double()[:, :width] * scales[:, :width]
    return tensors


def call(program, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=False)


def refused(program, arguments, *said):
    result = call(program, *arguments)
    assert result.returncode == 2, (arguments, result.stdout, result.stderr)
    for text in said:
        assert text in result.stderr, (text, result.stderr)


def build(model, checkpoint, program, weights):
    subprocess.run([FOVEA, "build", model, "--checkpoint", checkpoint, "--set", "weights=" + weights,
                    "--isa", "native", "-o", program], check=True, env={**os.environ, "FOVEA_CXXFLAGS": "-O0"})


def check(folder, title, weights):
    kind, config = MODELS[title]
    checkpoint, program = os.path.join(folder, title), os.path.join(folder, "llm " + weights)
    path = os.path.join(folder, weights + ".safetensors")
    module = kind._from_config(config, attn_implementation="eager")
    with torch.no_grad():
        for parameter in module.parameters():
            if parameter.ndim == 2:
                parameter.normal_(0, parameter.shape[1] ** -0.5)
    module.save_pretrained(checkpoint, max_shard_size="20KB")
    build(title.split(",")[0], checkpoint, program, weights)
    result = call(program, "quantize", "--weights", checkpoint, "-o", path)
    assert result.returncode == 0, result.stderr
    assert "model.norm.weight" in result.stdout and "largest error" in result.stdout
    tensors = dequantized(path)
    module = module.double().eval()
    missing = module.load_state_dict(
        {name: value[:, :module.state_dict()[name].shape[1]] if value.ndim == 2 else value
         for name, value in tensors.items()}, strict=False).missing_keys
    assert missing in ([], ["lm_head.weight"]), missing
    ids = torch.randint(2, 61, (2, 37))
    with torch.no_grad():
        expected = module(input_ids=ids, use_cache=False).logits.numpy()
    inputs = os.path.join(folder, "in")
    save_file({"ids": ids.numpy().astype("i4"), "labels": ids.numpy().astype("i4"),
               "lens": np.full(2, 37, "i4")}, inputs)
    for threads in ["1", "2"]:
        result = call(program, "run", "--weights", path, "--inputs", inputs, "--outputs",
                      os.path.join(folder, "out"), "--threads", threads)
        assert result.returncode == 0, result.stderr
        logits = load_file(os.path.join(folder, "out"))["logits"]
        off = np.abs(logits - expected).max() / np.abs(expected).max()
        assert off < 1e-5, (title, weights, off)
    # Token by token, and as a score.
    made = call(program, "generate", "--weights", path, "--ids", "3,17,5", "--max-tokens", "30",
                "--ignore-eos").stdout
    tokens = [3, 17, 5] + [int(token) for token in made.split(",")]
    with torch.no_grad():
        logits = module(torch.tensor([tokens]), use_cache=False).logits[0]
    for i in range(2, len(tokens) - 1):
        apart = float(logits[i].max() - logits[i, tokens[i + 1]])
        assert apart <= 1e-5 * float(logits[i].abs().max()), (title, weights, i, apart)
    score = json.loads(call(program, "score", "--weights", path, "--ids",
                            ",".join(map(str, tokens)), "--json").stdout)
    nats = torch.nn.functional.cross_entropy(logits[:-1], torch.tensor(tokens[1:]))
    assert abs(score["nats"] - float(nats)) < 1e-5 * float(nats), (score, nats)
    return checkpoint, program, path


def what_is_wrong(folder, checkpoint, program, path):
    """Files of another kind, and broken ones."""
    ids = ["--ids", "3,17,5"]
    refused(program, ["generate", "--weights", checkpoint, *ids],
            "has weights of floats", "takes int8 in groups of 32", "`quantize`")
    refused(program, ["quantize", "--weights", path, "-o", os.path.join(folder, "again")],
            "has weights of int8 in groups of 32 already")
    refused(program, ["quantize", "--weights", path, "-o", os.path.join(folder, "none", "again")],
            "cannot write", "none/again")
    refused(program, ["quantize", "--weights", path, "-o", path], "are one file")
    floats = os.path.join(folder, "floats")
    build("llama", checkpoint, floats, "float32")
    refused(floats, ["generate", "--weights", path, *ids], "has weights of int8 in groups of 32",
            "takes float32", "give it the weights that these were made of")
    refused(floats, ["quantize", "--weights", checkpoint, "-o", os.path.join(folder, "again")],
            "takes weights as floats", "--set weights=int8")
    broken = os.path.join(folder, "broken.safetensors")
    with safe_open(path, "pt") as file:
        tensors, metadata = {name: file.get_tensor(name) for name in file.keys()}, file.metadata()
    name = "model.layers.0.mlp.up_proj.weight"

    def write(changed, weights="int8:32"):
        kept = {**tensors, **changed}
        save_torch({key: value.contiguous() for key, value in kept.items() if value is not None},
                   broken, {**metadata, "fovea_weights": weights})
        return ["generate", "--weights", broken, *ids]
    refused(program, write({name + ".scales": None}), f"lacks '{name}.scales'")
    refused(program, write({name: None}), f"lacks parameter '{name}'")
    refused(program, write({name + ".scales": tensors[name + ".scales"][:, :1]}),
            "BF16 [72, 1]", "int8 in groups of 32 has BF16 [72, 2]")
    refused(program, write({name: tensors[name].float()}), "F32 [72, 40]", "has I8 [72, 40]")
    refused(program, write({}, "int8:64"), "int8 in groups of 64", "takes int8 in groups of 32")
    refused(program, write({}, "int9"), "should be int8 or int4", "not 'int9'")


def main():
    torch.manual_seed(1)
    with tempfile.TemporaryDirectory() as folder:
        made = check(folder, "llama, tied", "int8:32")
        what_is_wrong(folder, *made)
        check(folder, "llama, tied", "int4:16")
        check(folder, "qwen3", "int4:64")


main()
