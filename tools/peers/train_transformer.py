"""Trains a model of d2l in PyTorch at its fastest, alone or in turn with fovea's translator.

Prints JSON; see README.md for what is measured and the rules of the comparison.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, replace

import torch
from torch import nn

from d2l_seq2seq import Seq2SeqAttention
from d2l_transformer import Corpus, Transformer, load_safetensors

WARM_UP_EPOCHS = 2  # not timed, on either side
VARIANT_CHOICES = {"mode": ("eager", "compile", "cpp_wrapper"), "attention": ("plain", "sdpa"),
                   "adam": ("foreach", "fused")}
LSTM_CHOICES = VARIANT_CHOICES | {"attention": ("lstm", "cells")}  # how the recurrence is computed


@dataclass(frozen=True)
class Variant:
    """One way of running the same training in PyTorch."""
    mode: str = "eager"
    attention: str = "plain"
    adam: str = "foreach"
    threads: int = 1


def choices_of(args):
    return VARIANT_CHOICES if args.model == "transformer" else LSTM_CHOICES


def build_model(args, corpus, attention="plain"):
    vocabs = len(corpus.src_vocab), len(corpus.tgt_vocab)
    if args.model == "seq2seq_attention":
        sizes = args.embed, args.hidden, args.layers, args.steps
        return Seq2SeqAttention(*vocabs, *sizes, cells=attention == "cells")
    sizes = args.hidden, args.ffn, args.heads, args.layers, args.steps
    return Transformer(*vocabs, *sizes, sdpa=attention == "sdpa")


class Training:
    """The model, its optimizer, and the loss function, plain or compiled for each batch size.

    One at a time: the compiler forgets the training before, or it would give up at its limit.
    """

    def __init__(self, args, corpus, variant):
        torch._dynamo.reset()
        torch.set_num_threads(variant.threads)
        torch.manual_seed(args.seed)
        self.args, self.corpus, self.threads = args, corpus, variant.threads
        self.shuffle = torch.Generator().manual_seed(args.seed)
        self.model = build_model(args, corpus, variant.attention)
        self.parameters = list(self.model.parameters())
        fused = variant.adam == "fused"
        self.adam = torch.optim.Adam(self.parameters, lr=args.lr, fused=fused, foreach=not fused)
        self.loss_sum = self.model.loss_sum
        if variant.mode != "eager":
            options = {"cpp_wrapper": variant.mode == "cpp_wrapper"}
            self.loss_sum = torch.compile(self.loss_sum, dynamic=False, options=options)
        self.compile()

    def compile(self):
        """Runs a first and a last batch, which differ in size, without changing the parameters."""
        batches = self.corpus.batches(self.args.batch)
        for batch in (batches[0], batches[-1]):
            self.loss_sum(*batch).backward()

    def epoch(self):
        """(mean loss per target token, seconds) of one epoch."""
        begin, total = time.perf_counter(), torch.zeros(())
        torch.set_num_threads(self.threads)
        for batch in self.corpus.batches(self.args.batch, self.shuffle):
            self.adam.zero_grad(set_to_none=True)
            loss = self.loss_sum(*batch)
            (loss / self.args.steps).backward()
            nn.utils.clip_grad_norm_(self.parameters, self.args.clip, foreach=True)
            self.adam.step()
            total += loss.detach()
        return float(total) / self.corpus.tokens, time.perf_counter() - begin

    def speeds(self, epochs):
        """Target tokens per second of each epoch."""
        return [self.corpus.tokens / self.epoch()[1] for _ in range(epochs)]


def measure(args, corpus, variant):
    """Tokens per second of a variant's fastest epoch, or None where it does not run.

    The fastest, for it is the one least disturbed by other programs.
    """
    try:
        training = Training(args, corpus, variant)
        training.speeds(WARM_UP_EPOCHS)
        return max(training.speeds(args.tune_epochs))
    except Exception as error:  # the compiler's failures have no common type
        print(f"{variant} does not run here: {type(error).__name__}", file=sys.stderr)
        return None


def fastest_variant(args, corpus):
    """(the fastest variant, what each one tried reached): choice by choice, the best kept.

    Choices given on the command line are kept. One thread is tried too: it may be the faster.
    """
    given = {name: getattr(args, name) for name in choices_of(args)}
    choices = {name: options if given[name] == "auto" else (given[name],)
               for name, options in choices_of(args).items()}
    one_thread = () if args.fixed_threads or args.threads == 1 else (1,)
    choices["threads"] = (args.threads, *one_thread)
    best = Variant(**{name: options[0] for name, options in choices.items()})
    tried = [(best, measure(args, corpus, best))]
    for name, options in choices.items():
        for option in options[1:]:
            variant = replace(best, **{name: option})
            tried.append((variant, measure(args, corpus, variant)))
        best = max(tried, key=lambda entry: entry[1] or 0)[0]
    return best, [{**asdict(variant), "fastest_epoch": speed} for variant, speed in tried]


def run_translator(args, folder):
    """(tokens per second, last loss) that the translator logs for a training from its start."""
    log = folder / "log.jsonl"
    log.unlink(missing_ok=True)
    settings = ("data", "epochs", "threads", "steps", "batch", "lr", "min-freq", "clip", "seed")
    options = {name: getattr(args, name.replace("-", "_")) for name in settings}
    options |= {"weights": folder / "weights.safetensors", "log": log}
    words = [str(word) for name, value in options.items() for word in (f"--{name}", value)]
    subprocess.run([args.translator, "train", *words], check=True, stdout=subprocess.DEVNULL)
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    speeds = [row["tokens_per_second"] for row in rows]
    return statistics.median(speeds[WARM_UP_EPOCHS:] or speeds), rows[-1]["loss"]


def check_same_model(args, corpus, folder):
    """The loss of the translator's weights: as it evaluates them itself, and as PyTorch does."""
    weights = folder / "weights.safetensors"
    command = [args.translator, "evaluate", "--weights", weights, "--data", args.data, "--json"]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    translator = json.loads(output)["loss"]
    model = build_model(args, corpus)
    model.load_state_dict(load_safetensors(weights))
    with torch.no_grad():
        total = sum(float(model.loss_sum(*batch)) for batch in corpus.batches(args.batch))
    pytorch = total / corpus.tokens
    same = abs(pytorch - translator) <= 1e-3 * max(1.0, pytorch)
    return {"translator": translator, "pytorch": pytorch, "same": same}


def compare(args, corpus, training):
    """Both trainings, alternating; speeds, and the median of the pairs' ratios."""
    rounds = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for _ in range(args.rounds):
            pytorch = statistics.median(training.speeds(args.epochs))
            translator, loss = run_translator(args, folder)
            rounds.append({"pytorch": pytorch, "translator": translator,
                           "ratio": translator / pytorch, "translator_loss": loss})
        weights_loss = check_same_model(args, corpus, folder)
    ratio = statistics.median(entry["ratio"] for entry in rounds)
    return {"rounds": rounds, "ratio": ratio, "weights_loss": weights_loss}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--data", required=True, help="tab-separated pairs, one a line")
    parser.add_argument("--model", choices=("transformer", "seq2seq_attention"),
                        default="transformer", help=" ")
    integers = {"epochs": 20, "threads": 2, "embed": 32, "hidden": 32, "ffn": 64, "heads": 4,
                "layers": 2, "batch": 64, "steps": 10, "min-freq": 2, "seed": 1}
    for name, value in integers.items():
        parser.add_argument(f"--{name}", type=int, default=value, help=" ")
    parser.add_argument("--lr", type=float, default=0.005, help=" ")
    parser.add_argument("--clip", type=float, default=1.0, help="largest norm of the gradient")
    parser.add_argument("--translator", help="program built by fovea to compare with")
    parser.add_argument("--rounds", type=int, default=3, help="alternations with the translator")
    for name, options in VARIANT_CHOICES.items():
        both = dict.fromkeys((*options, *LSTM_CHOICES[name]))
        parser.add_argument(f"--{name}", choices=("auto", *both), default="auto",
                            help="of PyTorch; auto: the fastest")
    parser.add_argument("--fixed-threads", action="store_true",
                        help="do not try one thread for PyTorch")
    parser.add_argument("--tune-epochs", type=int, default=10, help="epochs that time one variant")
    return parser.parse_args()


def main():
    args = parse_arguments()
    torch.set_flush_denormal(True)
    corpus = Corpus(args.data, args.steps, args.min_freq)
    variant, tried = fastest_variant(args, corpus)
    training = Training(args, corpus, variant)
    epochs = [training.epoch() for _ in range(args.epochs)]
    seconds = [duration for _, duration in epochs]
    report = {"torch": torch.__version__, "variant": asdict(variant), "tried": tried,
              "loss": epochs[-1][0], "seconds": sum(seconds),
              "tokens_per_second": statistics.median(corpus.tokens / s for s in seconds)}
    agree = True
    if args.translator:
        report["comparison"] = compare(args, corpus, training)
        agree = report["comparison"]["weights_loss"]["same"]
    print(json.dumps(report, indent=2))
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
