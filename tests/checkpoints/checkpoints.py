"""Checkpoints that `transformers` writes, run as they lie: every model, in several types and shards,
also of the model's base alone and of a larger one. argv: the fovea command. Compared with the package
on the weights that were written, in float64."""
import copy
import json
import os
import random
import subprocess
import sys
import tempfile

import numpy as np
import torch
import transformers as hf
from transformers.utils import logging
from safetensors.numpy import load_file, save_file

from adapters import LORA, add_pairs, random_pairs
from beams import check_beams
from checkpoint_models import (EAGER, MODELS, SMALL, VOCAB, arrays, decoder, inputs_and_outputs,
                               random_weights)

FOVEA = sys.argv[1]
logging.set_verbosity_error()
logging.disable_progress_bar()
SHARDS = {"float32": "20KB", "bfloat16": "5GB", "float16": "10KB"}


def run(name, folder, checkpoint, outputs, weights=None):
    command = [FOVEA, "run", name, "--target", "reference", "--checkpoint", checkpoint, "--inputs",
               os.path.join(folder, "in"), "--outputs", os.path.join(folder, "out"), "--only",
               ",".join(outputs)] + (["--weights", weights] if weights else [])
    return subprocess.run(command, capture_output=True, text=True, check=False)


def check(title, checkpoint, module):
    """The checkpoint's results beside those of a module that read it."""
    name = title.split(",")[0]
    with tempfile.TemporaryDirectory() as folder:
        inputs, outputs = inputs_and_outputs(name, module.double().eval())
        save_file(arrays(inputs), os.path.join(folder, "in"))
        result = run(name, folder, checkpoint, outputs)
        assert result.returncode == 0, (title, result.stderr)
        made = load_file(os.path.join(folder, "out"))
        for output, expected in outputs.items():
            expected = expected.detach().numpy()
            off = np.abs(made[output] - expected).max() / np.abs(expected).max()
            assert off < 2e-5, (title, output, off)
        return result.stderr


def change_config(checkpoint, change):
    """Of config.json; returns the fields that were there."""
    path = os.path.join(checkpoint, "config.json")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    fields = json.loads(text)
    change(fields)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(fields, file)
    return json.loads(text)


def build(model, checkpoint, program, *options):
    subprocess.run([FOVEA, "build", model, "--checkpoint", checkpoint, "--isa", "native",
                    "-o", program, *options], check=True, env={**os.environ, "FOVEA_CXXFLAGS": "-O0"})


def check_tokens(title, logits_after, made, expected):
    """Equal, up to a token that is as likely as the package's, or likelier: its float32 does not tell
    them apart, float64 does."""
    same = next((i for i in range(len(made)) if made[i] != expected[i]), len(made))
    if same == len(made):
        return
    logits = logits_after(expected[:same])
    apart = float(logits[expected[same]] - logits[made[same]]) / float(logits.abs().max())
    assert apart < 1e-5, (title, same, apart)


def generated(folder, title):
    """A program's tokens, the likeliest each, are those of the package: 200 behind a prompt, and
    behind one of a single token."""
    model = title.split(",")[0]
    kind, config = MODELS[title]
    config.max_position_embeddings = config.n_positions = 256
    checkpoint, program = os.path.join(folder, title + " generates"), os.path.join(folder, "program")
    module = random_weights(kind._from_config(config, dtype=torch.float32, **EAGER)).eval()
    module.save_pretrained(checkpoint, max_shard_size="20KB")
    build(model, checkpoint, program)
    for prompt in ([3, 17, 5, 44, 2, 9, 30], [7]):
        expected = module.generate(torch.tensor([prompt]), max_new_tokens=200, do_sample=False,
                                   eos_token_id=None, pad_token_id=0)[0, len(prompt):].tolist()
        made = subprocess.run(
            [program, "generate", "--weights", checkpoint, "--ids", ",".join(map(str, prompt)),
             "--max-tokens", "200", "--ignore-eos"], capture_output=True, text=True, check=True).stdout
        made = [int(token) for token in made.split(",")]
        assert len(made) == 200

        def logits_after(text, prompt=prompt):
            whole = torch.tensor([prompt + text])
            return copy.deepcopy(module).double()(whole, use_cache=False).logits[0, -1]

        check_tokens(title, logits_after, made, expected)
        expected = made
        stop = expected[20]
        made = subprocess.run(
            [program, "generate", "--weights", checkpoint, "--ids", ",".join(map(str, prompt)),
             "--stop", str(stop), "--ignore-eos", "--threads", "1"], capture_output=True, text=True,
            check=True).stdout
        assert [int(token) for token in made.split(",")] == expected[:expected.index(stop) + 1]
    check_beams(title, program, checkpoint, module, [[3, 17, 5, 44, 2, 9, 30], [7], [8, 8, 50]])


def answered(folder, title, dtype, **more):
    """Tokens of a model with a source, the likeliest each: those of the package, which begins with
    the same one and reads sources of its own."""
    config = copy.deepcopy(MODELS["t5"][1])
    config.update({"decoder_start_token_id": 0, "pad_token_id": 0, "eos_token_id": 1, **more})
    checkpoint, program = os.path.join(folder, title), os.path.join(folder, "program")
    module = random_weights(hf.T5ForConditionalGeneration._from_config(config, **EAGER))
    module = module.to(getattr(torch, dtype)).eval()
    module.save_pretrained(checkpoint, max_shard_size="20KB")
    build("t5", checkpoint, program)
    module = module.float()

    def made(*options):
        return subprocess.run([program, "generate", "--weights", checkpoint, *options],
                              text=True, check=True, stdout=subprocess.PIPE).stdout.splitlines()

    sources, answers = [[3, 17, 5, 44, 2, 9, 30, 1], [7]], []
    for source in sources:
        ids = torch.tensor([source])
        expected = module.generate(ids, max_new_tokens=200, do_sample=False, eos_token_id=None,
                                   pad_token_id=0)[0, 1:].tolist()
        line, = made("--ids", ",".join(map(str, source)), "--max-tokens", "200", "--ignore-eos")
        answers.append([int(token) for token in line.split(",")])
        assert len(answers[-1]) == len(expected) == 200

        def logits_after(text, ids=ids):
            return copy.deepcopy(module).double()(
                input_ids=ids, decoder_input_ids=torch.tensor([[0] + text]),
                use_cache=False).logits[0, -1]

        check_tokens(title, logits_after, answers[-1], expected)
    # Several sources, each until its end: that of the configuration and one more.
    stop = answers[0][20]
    lines = made("--ids", ",".join(map(str, sources[0])), "--ids", "7", "--stop", str(stop))
    assert len(lines) == 2
    for line, answer in zip(lines, answers, strict=True):
        end = next((i for i, token in enumerate(answer) if token in (1, stop)), 49)
        assert [int(token) for token in line.split(",")] == answer[:min(end + 1, 50)], title
    check_beams(title, program, checkpoint, module, sources, start=0)


def adapted(folder):
    """Tokens of t5 with pairs of a file of PEFT's, beside its weights and merged into them."""
    checkpoint, program = os.path.join(folder, "t5 adapted"), os.path.join(folder, "program")
    pairs, merged = os.path.join(folder, "pairs"), os.path.join(folder, "merged")
    module = random_weights(hf.T5ForConditionalGeneration._from_config(MODELS["t5"][1], **EAGER))
    module.eval().save_pretrained(checkpoint)
    build("t5", checkpoint, program, *LORA)
    save_file({name: value.numpy() for name, value in random_pairs(module).items()}, pairs)
    module = add_pairs(module.double(), {k: torch.tensor(v) for k, v in load_file(pairs).items()})
    source = [3, 17, 5, 44, 2, 9, 30, 1]

    def logits_after(text):
        return module(input_ids=torch.tensor([source]),
                      decoder_input_ids=torch.tensor([[0] + text])).logits[0, -1]

    expected = []
    for _ in range(30):
        expected.append(int(logits_after(expected).argmax()))
    subprocess.run([program, "merge", "--weights", checkpoint, "--adapter", pairs, "--output", merged],
                   check=True)
    for weights in (["--weights", checkpoint, "--adapter", pairs], ["--weights", merged]):
        line = subprocess.run(
            [program, "generate", *weights, "--ids", ",".join(map(str, source)), "--start", "0",
             "--max-tokens", "30", "--ignore-eos"], text=True, check=True, capture_output=True).stdout
        check_tokens("t5 adapted", logits_after, [int(token) for token in line.split(",")], expected)


def built(folder):
    """A program built for a checkpoint reads it by itself."""
    checkpoint, program = os.path.join(folder, "llama float16"), os.path.join(folder, "llm")
    build("llama", checkpoint, program)
    module = hf.LlamaForCausalLM.from_pretrained(checkpoint, dtype=torch.float64, **EAGER)
    inputs, outputs = inputs_and_outputs("llama", module.eval())
    save_file(arrays(inputs), os.path.join(folder, "in"))
    subprocess.run([program, "run", "--weights", checkpoint, "--inputs", os.path.join(folder, "in"),
                    "--outputs", os.path.join(folder, "out")], check=True)
    logits = load_file(os.path.join(folder, "out"))["logits"]
    expected = outputs["logits"].detach().numpy()
    assert np.abs(logits - expected).max() < 2e-5 * np.abs(expected).max()
    # A setting that no shape shows, and that is another's, is refused; so is what build refuses.
    for field, value, sentence in [
            ("rms_norm_eps", 0.5, "has rms_norm_eps = 0.5"),
            ("rope_parameters", {"rope_theta": 5e5}, "lacks rope_type, which then has its"),
            ("num_key_value_heads", None, "has num_key_value_heads = 4"),
            ("hidden_act", "gelu", "llama is right for silu alone"),
            ("model_type", "mistral", "llama is right for llama alone")]:
        config = change_config(checkpoint, lambda fields: fields.update({field: value}))
        said = subprocess.run([program, "score", "--weights", checkpoint, "--ids", "3,4"],
                              capture_output=True, text=True, check=False)
        assert said.returncode == 2 and sentence in said.stderr, (field, said.stderr)
        change_config(checkpoint, lambda fields: fields.update(config))


def edited(folder, title, kind, config, change, **tensors):
    """A checkpoint whose config.json is of other hands, beside what the package makes of it."""
    checkpoint = os.path.join(folder, title + " edited")
    random_weights(kind._from_config(config, **EAGER)).save_pretrained(checkpoint)
    path = os.path.join(checkpoint, "model.safetensors")
    save_file({**load_file(path), **tensors}, path, metadata={"format": "pt"})
    change_config(checkpoint, change)
    check(title, checkpoint, kind.from_pretrained(checkpoint, dtype=torch.float64, **EAGER))


def other_hands(folder):
    """Files that lack fields, have null in them, or have older ones beside newer ones."""
    def positions(name, **fields):
        return lambda config: config.update({"rope_parameters": None, name: fields})

    llama, qwen3 = MODELS["llama, tied"], MODELS["qwen3"]
    edited(folder, "llama, yarn without its length", *llama,
           positions("rope_scaling", type="yarn", factor=4.0))
    edited(folder, "llama, yarn without a factor", *llama, positions(
        "rope_parameters", rope_type="yarn", rope_theta=10000.0, factor=None,
        original_max_position_embeddings=16))
    edited(folder, "qwen3, both fields of positions", *qwen3, lambda config: config.update(
        rope_scaling={"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}))
    whole = hf.LlamaConfig(**SMALL, max_position_embeddings=64)
    edited(folder, "llama, heads not said", hf.LlamaForCausalLM, whole,
           lambda config: config.pop("num_key_value_heads"))
    edited(folder, "llama, heads null", hf.LlamaForCausalLM, whole,
           lambda config: config.update(num_key_value_heads=None))
    edited(folder, "qwen3, width of heads not said", hf.Qwen3ForCausalLM,
           decoder(hf.Qwen3Config, head_dim=128), lambda config: config.pop("head_dim"))

    # Gemma 3 as older versions wrote it.
    edited(folder, "gemma3, positions of 4", hf.Gemma3ForCausalLM, decoder(
        hf.Gemma3TextConfig, head_dim=8, sliding_window=5), lambda config: (
            config.pop("layer_types"), config.pop("rope_parameters"), config.update(
                rope_theta=5e5, rope_local_base_freq=2e4, sliding_window_pattern=2,
                rope_scaling={"rope_type": "linear", "factor": 4.0})))

    def as_of_1_1(config):
        config.pop("scale_decoder_outputs")
        config["tie_word_embeddings"] = False

    edited(folder, "t5, 1.1", *MODELS["t5"], as_of_1_1,
           **{"lm_head.weight": torch.randn(VOCAB, 24).numpy()})


def embedded(folder):
    """Vectors of texts: means of what the package has for their tokens."""
    checkpoint, program = os.path.join(folder, "bert float32"), os.path.join(folder, "encoder")
    build("bert", checkpoint, program)
    module = hf.BertModel.from_pretrained(checkpoint, dtype=torch.float64, **EAGER).eval()
    texts = [[3, 17, 5, 44, 2], [9], [30, 31, 32]]
    made = subprocess.run(
        [program, "embed", "--weights", checkpoint,
         *(word for text in texts for word in ("--ids", ",".join(map(str, text))))],
        capture_output=True, text=True, check=True).stdout
    for text, line in zip(texts, made.splitlines(), strict=True):
        expected = module(torch.tensor([text])).last_hidden_state[0].mean(0).detach().numpy()
        vector = np.array(line.split(), float)
        assert np.abs(vector - expected).max() < 2e-5 * np.abs(expected).max()
    # A larger model may lack a part of a smaller one: that is named.
    save_file({"bert." + k: v.float().numpy() for k, v in module.state_dict().items()
               if "pooler" not in k}, os.path.join(folder, "larger"))
    said = subprocess.run([program, "embed", "--weights", os.path.join(folder, "larger"), "--ids", "3"],
                          capture_output=True, text=True, check=False)
    assert "lacks parameter 'pooler.dense.weight' of bert and 1 more" in said.stderr, said.stderr


def resized(image, size):
    """Of bytes [height, width, 3], as Pillow, whose rounding to bytes may be off by one."""
    image = torch.from_numpy(image).permute(2, 0, 1)[None].float()
    image = torch.nn.functional.interpolate(image, size, mode="bilinear", antialias=True)
    return image[0].round().clamp(0, 255).numpy()


def classified(folder):
    """Classes of images, with the names and the normalisation of the checkpoint; those of pixels to
    all digits, those of a resized image as near as its bytes are."""
    checkpoint, program = os.path.join(folder, "vit named"), os.path.join(folder, "vit")
    kind, config = MODELS["vit"]
    config = copy.deepcopy(config)
    config.id2label = {0: "tabby, tabby cat", 1: "husky", 2: "paper towel"}
    config.label2id = {name: number for number, name in config.id2label.items()}
    random_weights(kind._from_config(config, **EAGER)).save_pretrained(checkpoint)
    module = kind.from_pretrained(checkpoint, dtype=torch.float64, **EAGER).eval()
    mean, deviation = np.array([0.4, 0.5, 0.6]), np.array([0.2, 0.3, 0.25])
    with open(os.path.join(checkpoint, "preprocessor_config.json"), "w", encoding="utf-8") as file:
        json.dump({"image_processor_type": "ViTImageProcessor", "size": {"height": 20, "width": 20},
                   "do_resize": True, "resample": 2, "do_rescale": True, "rescale_factor": 1 / 255,
                   "do_normalize": True, "image_mean": mean.tolist(),
                   "image_std": deviation.tolist()}, file)
    build("vit", checkpoint, program)
    files, pixels = [], []
    for number, (height, width) in enumerate([(20, 20), (31, 50), (9, 20)]):
        image = np.random.default_rng(number).integers(0, 256, (height, width, 3), np.uint8)
        files.append(os.path.join(folder, f"{number}.ppm"))
        with open(files[-1], "wb") as file:
            file.write(f"P6\n{width} {height}\n255\n".encode() + image.tobytes())
        values = resized(image, (20, 20)) / 255
        pixels.append((values - mean[:, None, None]) / deviation[:, None, None])
    pixels = np.stack(pixels)
    files.append(os.path.join(folder, "pixels.safetensors"))
    save_file({"pixels": pixels.astype("f")}, files[-1])
    made = subprocess.run([program, "classify", "--weights", checkpoint, *files],
                          text=True, check=True, stdout=subprocess.PIPE).stdout.splitlines()
    expected = module(torch.from_numpy(pixels)).logits.softmax(-1).detach().numpy()
    titles = files[:3] + [f"{files[3]}[{i}]" for i in range(3)]
    assert made[::4] == titles, made
    for i, row in enumerate(np.concatenate([expected, expected])):
        lines = [line.split(maxsplit=1) for line in made[4 * i + 1:4 * i + 4]]
        named = {name: float(probability) for probability, name in lines}
        assert [p for p, _ in lines] == sorted((p for p, _ in lines), reverse=True), lines
        off = max(abs(named[config.id2label[k]] - row[k]) for k in range(3))
        assert off < (2e-2 if i in (1, 2) else 2e-6), (titles[i], off)


def turns_of(titles):
    """Every other one, by FOVEA_SEED or drawn; all where FOVEA_WHOLE is set."""
    turn = int(os.environ.get("FOVEA_SEED", random.randrange(2))) % 2
    titles = titles if "FOVEA_WHOLE" in os.environ else titles[turn::2]
    print("it is the turn of", *titles)
    return titles


def main():
    seed = int(os.environ.get("FOVEA_SEED", "1"))
    print(f"FOVEA_SEED={seed}")
    torch.manual_seed(seed)
    checked = 0
    with tempfile.TemporaryDirectory() as folder:
        for title, (kind, config) in MODELS.items():
            for dtype, shard in SHARDS.items():
                module = random_weights(kind._from_config(config, **EAGER)).to(getattr(torch, dtype))
                checkpoint = os.path.join(folder, f"{title} {dtype}")
                module.save_pretrained(checkpoint, max_shard_size=shard)
                shards = os.path.exists(os.path.join(checkpoint, "model.safetensors.index.json"))
                assert shards == (dtype != "bfloat16"), (title, dtype)
                said = check(title, checkpoint, kind.from_pretrained(checkpoint, dtype=torch.float64,
                                                                     **EAGER))
                assert not said, (title, said)
                checked += 1
        # Names without the first part, and with one more.
        config = MODELS["gpt2"][1]
        whole = random_weights(hf.GPT2LMHeadModel._from_config(config, **EAGER))
        path = os.path.join(folder, "gpt2 base")
        whole.transformer.save_pretrained(path)
        check("gpt2", path, whole)
        whole = random_weights(hf.BertForMaskedLM._from_config(MODELS["bert"][1], **EAGER))
        pooled = random_weights(hf.BertModel._from_config(MODELS["bert"][1], **EAGER))
        path = os.path.join(folder, "bert in a larger one")
        state = {**{"bert." + k: v for k, v in pooled.state_dict().items()},
                 **{k: v for k, v in whole.state_dict().items() if k.startswith("cls.")}}
        os.makedirs(path)
        save_file({k: v.contiguous().numpy() for k, v in state.items()},
                  os.path.join(path, "model.safetensors"))
        pooled.config.save_pretrained(path)
        check("bert", path, pooled)
        # Norms by the names of TensorFlow.
        path = os.path.join(path, "model.safetensors")
        state = {k.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"): v for k, v in load_file(path).items()}
        save_file(state, path)
        check("bert", os.path.dirname(path), pooled)
        other_hands(folder)
        built(folder)
        embedded(folder)
        classified(folder)
        for title in ["llama", "mistral", "gpt2", *turns_of(["qwen2", "qwen3", "gemma2", "gemma3",
                                                        "phi3", "olmo2"])]:
            generated(folder, title)
        answered(folder, "t5 answers", "float32")
        answered(folder, "t5 answers, tied", "bfloat16", tie_word_embeddings=True,
                 feed_forward_proj="relu", dense_act_fn="relu", is_gated_act=False)
        adapted(folder)
        # What is wrong is said.
        broken = os.path.join(folder, "llama float32")
        for field, value, said in [
                ("hidden_act", "relu", "llama is right for silu alone"),
                ("model_type", "mistral", "llama is right for llama alone"),
                ("hidden_size", 20, "expected [vocab=61, hidden=20], got [61, 24]"),
                ("rope_parameters", {"rope_type": "dynamic", "factor": 2.0}, "not 'dynamic'")]:
            kept = change_config(broken, lambda fields: fields.update({field: value}))
            inputs = {"ids": np.zeros((1, 3), "i4"), "labels": np.zeros((1, 3), "i4"),
                      "lens": np.full(1, 3, "i4")}
            save_file(inputs, os.path.join(folder, "in"))
            result = run("llama", folder, broken, ["logits"])
            assert result.returncode == 2 and said in result.stderr, (field, result.stderr)
            change_config(broken, lambda fields: fields.update(kept))
    print(f"{checked} checkpoints")


main()
