"""A training step of GPT-2 beside PyTorch's, in pairs, and the memory that training takes.

    python tools/peers/language_training.py --fovea build/fovea [--json F]

Prints a table of ratios, peer / fovea; README.md says what is measured and how.
"""
import functools
import pathlib
import subprocess
import sys

try:
    import torch
    import torch.nn.functional as F
    from safetensors.torch import load_file, save_file
    import transformers
except ImportError as error:
    print(f"language_training.py: {error}; pip install torch transformers: nothing to compare with")
    sys.exit(0)

import pairs
from models import COMPILED, Comparison
from ours import Builder, Source
from transformer_peers import TrainingStep

# Of the norm of each gradient, against float64.
GRADIENT_TOLERANCE = 1e-3
GPT2 = {"name": "GPT-2", "vocab_size": 50257, "n_positions": 1024, "n_embd": 768, "n_head": 12,
        "n_layer": 12, "batch": 4, "len": 256}
TINY = {"name": "tiny", "vocab_size": 300, "n_positions": 32, "n_embd": 32, "n_head": 4,
        "n_layer": 2, "batch": 2, "len": 16}
SETTINGS = ("vocab_size", "n_positions", "n_embd", "n_head", "n_layer")
STEPS = 3  # of which the peak of memory is taken


class Language(torch.nn.Module):
    """GPT-2 of transformers with the weights of a file, and its loss."""

    def __init__(self, sizes, weights, sdpa=True):
        super().__init__()
        config = transformers.GPT2Config(
            **{name: sizes[name] for name in SETTINGS}, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0,
            attn_implementation="sdpa" if sdpa else "eager")
        self.module = transformers.GPT2LMHeadModel(config)
        missing, unexpected = self.module.load_state_dict(load_file(weights), strict=False)
        if unexpected or set(missing) - {"lm_head.weight"}:
            raise ValueError(f"weights do not fit: {unexpected[:3]}, without {missing[:3]}")

    def named_parameters(self, *args, **rest):
        return self.module.named_parameters(*args, **rest)

    def loss_sum(self, ids, labels):
        logits = self.module(input_ids=ids, use_cache=False).logits
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="sum")


def texts_of(sizes):
    """ids and what follows each: [batch, len]."""
    ids = torch.randint(sizes["vocab_size"], (sizes["batch"], sizes["len"] + 1))
    return ids[:, :-1].contiguous(), ids[:, 1:].contiguous()


def makers_of(sizes, weights, texts):
    """{label: given threads, a step}"""
    def step(sdpa, options, fused, threads):
        return TrainingStep(Language(sizes, weights, sdpa), texts, options, fused)
    makers = {}
    for sdpa in (True, False):
        attention = "sdpa" if sdpa else "eager attention"
        for how, options in {"eager": None, **COMPILED}.items():
            makers[f"{how}, {attention}, fused Adam"] = functools.partial(
                step, sdpa, options, True)
    return makers | {"compiled, sdpa, foreach Adam": functools.partial(step, True, {}, False)}


def peak_of_peer(args, label):
    """Bytes that training adds to a fresh process, once PyTorch is loaded."""
    command = [sys.executable, __file__, "--work", args.work, "--threads", str(args.threads),
               "--peak-of", label, *(["--quick"] if args.quick else [])]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return int(done.stdout.split()[-1])


def print_peak_of_peer(args, sizes, folder):
    def train():
        texts = load_file(folder / "texts.safetensors")
        makers = makers_of(sizes, folder / "weights.safetensors", (texts["ids"], texts["labels"]))
        step = makers[args.peak_of](args.threads)
        step()  # compiles
        pairs.forget_peak("self")
        for _ in range(STEPS):
            step()
    print(pairs.peak_bytes("self", train))


def row_of(args, server, sizes, folder):
    """The row of a step: of time, and of the memory of processes that train alone."""
    ids, labels = texts = texts_of(sizes)
    weights = folder / "weights.safetensors"
    inputs = {"ids": ids.int(), "labels": labels.int(),
              "lens": torch.full((len(ids),), sizes["len"]).int()}

    def train():
        server.ask("initialize")
        server.open("training_step", inputs)
        server.ask("train", STEPS)
    our_peak = pairs.peak_bytes(server.pid, train)
    server.ask("initialize")
    save_file(server.file("save"), weights)
    save_file({"ids": ids, "labels": labels}, folder / "texts.safetensors")
    about = server.open("training_step", inputs)
    ours = server.file("output")
    ours["loss"] = ours["loss"].sum()
    exact = TrainingStep(Language(sizes, weights).double(), texts, None, True)
    expected = exact.gradients()
    own_error = pairs.largest_distance(ours, expected)
    if own_error > GRADIENT_TOLERANCE:
        raise SystemExit(f"language_training.py: gradients are {own_error:.1e} off float64")
    comparison = Comparison(args, server, sizes, "training step", tolerance=GRADIENT_TOLERANCE)
    comparison.row["ours"] = about | {"error": own_error, "peak_bytes": our_peak}
    row = comparison.measure(
        server.side("train"), makers_of(sizes, weights, texts),
        lambda step: pairs.largest_distance(step.gradients(), expected))
    row["peer_peak_bytes"] = peak_of_peer(args, row["variant"])
    print(f"memory of training: fovea {our_peak / 1e6:.0f} MB, the peer "
          f"{row['peer_peak_bytes'] / 1e6:.0f} MB ({our_peak / row['peer_peak_bytes']:.2f})")
    return row


def add_options(parser):
    parser.add_argument("--peak-of", help="print the bytes that a way of PyTorch takes, alone")


def main():
    args = pairs.parse_arguments(__doc__, add_options)
    pairs.set_up_torch(args.threads)
    sizes = TINY if args.quick else GPT2
    folder = pathlib.Path(args.work).resolve() / sizes["name"].replace(" ", "_")
    folder.mkdir(parents=True, exist_ok=True)
    if args.peak_of:
        print_peak_of_peer(args, sizes, folder)
        return
    report = {"machine": pairs.machine(args.threads) | {"versions": pairs.versions("torch", "transformers")}}
    builder = Builder(args.fovea, args.work, args.threads)
    source = Source("gpt2", {name: sizes[name] for name in SETTINGS}, training=True)
    program = builder.build(f"{folder.name}_step", [source])["gpt2"]
    with builder.serve(program) as server:
        report["results"] = [row_of(args, server, sizes, folder)]
    pairs.finish(report, args.json)


if __name__ == "__main__":
    main()
