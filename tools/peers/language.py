"""Language models of fovea beside their peers, in pairs: a token of decoding, prompts.

    python tools/peers/language.py --fovea build/fovea [--weights int8] [--only decode] [--json F]

Prints a table of ratios, peer / fovea; README.md says what is measured and how.
"""
import functools
import pathlib
import statistics
import sys

try:
    import torch
    from safetensors.torch import load_file
    import transformers
except ImportError as error:
    print(f"language.py: {error}; pip install torch transformers: nothing to compare with")
    sys.exit(0)

import language_files as files
import language_peers as peers
import pairs
from models import Comparison

# How far logits may be from those of float32, by the root of their mean square over that of the
# logits: the weights of a type are other weights.
TOLERANCE = {"float32": 1e-4, "bf16": 2e-2, "int8": 3e-2, "int4": 0.3}
SETTINGS = {"float32": {}, "bf16": {"dtype": "bf16"},
            "int8": {"weights": "int8", "dtype": "bf16"},
            "int4": {"weights": "int4", "dtype": "bf16"}}
BITS = {"float32": 32, "bf16": 16, "int8": 8.5, "int4": 4.5}  # of a weight, with its scale
GGUF = {"float32": ["F32"], "bf16": ["BF16", "F16"], "int8": ["Q8_0"], "int4": ["Q4_0", "IQ4_NL"]}
PACKAGES = "torch", "transformers", "llama-cpp-python", "ctranslate2"
BEHIND, TOKENS = 3, 16  # tokens whose logits are compared; tokens of a turn of decoding


transformers.utils.logging.disable_progress_bar()


class Text:
    """A prompt, what follows it, and the logits that are right."""

    def __init__(self, folder, length, words):
        ids = torch.randint(3, words, (length + BEHIND,),
                            generator=torch.Generator().manual_seed(length))
        self.ids, self.next = ids[:length].tolist(), ids[length:].tolist()
        self.room = length + TOKENS + BEHIND
        module = transformers.LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
        with torch.no_grad():
            self.logits = module(ids[None], logits_to_keep=BEHIND + 1).logits[0].double()

    def error(self, logits):
        return float((logits.double() - self.logits).norm() / self.logits.norm())


def makers_of(args, folder, weights, text):
    """{label: given threads, a peer}"""
    makers = {}

    def llama_cpp(kind, flash, at_once, threads):
        return peers.LlamaCpp(folder, kind, text.ids, text.room, threads, flash, at_once)

    def hugging_face(dtype, compiled, threads):
        return peers.Transformers(folder, dtype, text.ids, text.room, compiled)

    def ctranslate2(kind, threads):
        return peers.CTranslate2(folder, kind, text.ids, threads)
    for kind in GGUF[weights]:
        for flash in (False, True):
            for at_once in (512,) if len(text.ids) <= 512 else (512, 2048):
                name = f"llama.cpp {kind}{', flash' if flash else ''}, {at_once} at once"
                makers[name] = functools.partial(llama_cpp, kind, flash, at_once)
    dtype = {"float32": torch.float32, "bf16": torch.bfloat16}.get(weights)
    if dtype:
        makers["transformers, eager"] = functools.partial(hugging_face, dtype, False)
        makers["transformers, compiled"] = functools.partial(hugging_face, dtype, True)
    if weights in ("float32", "int8"):
        makers[f"CTranslate2 {weights}"] = functools.partial(ctranslate2, weights)
    return {name: make for name, make in makers.items() if args.peer in name}


def decodes(step):
    return step.startswith("decode")


def run_of(make, step, threads):
    """What runs a maker's peer once."""
    peer = make(threads)
    peer.prefill()
    run = functools.partial(*((peer.decode, TOKENS) if decodes(step) else (peer.prefill,)))
    run.peer = peer
    return run


def rows_of(args, folder, weights, texts, count):
    """Rows of one kind of `count` weights, a peer beside fovea in each."""
    program, path = files.fovea_program(args.fovea, folder, weights, SETTINGS[weights])
    for step, text in texts.items():
        is_decode = decodes(step)
        own = None
        if len(text.ids) <= 512:  # `run` gives the logits of all tokens
            logits = files.fovea_logits(program, path, text.ids + text.next, folder)
            own = text.error(logits[-BEHIND - 1:])
        if own is not None and own > TOLERANCE[weights]:
            raise SystemExit(f"language.py: fovea's logits with {weights} are {own:.1e} off")
        ours = peers.Ours(program, path, text.ids, TOKENS + 1 if is_decode else 1, args.threads)

        def side(runs):
            return ours.turn(runs, is_decode)
        if is_decode:
            print(floor_text(args, side, weights, count), flush=True)
        makers, groups = makers_of(args, folder, weights, text), {}
        for label in makers:
            groups.setdefault(label.split()[0].rstrip(","), {})[label] = functools.partial(
                run_of, makers[label], step)
        for group, chosen in groups.items():
            comparison = Comparison(args, ours, {"name": f"{weights} weights"},
                                    f"{step}, beside {group}", tolerance=TOLERANCE[weights])
            comparison.row["own_error"] = own
            yield comparison.measure(side, chosen,
                                     lambda run: text.error(run.peer.logits(text.next)),
                                     unit=TOKENS if is_decode else 1)
        ours.close()


def floor_text(args, side, weights, count):
    """A token's time beside that of reading the weights, in turn."""
    memory = torch.ones(int(count * BITS[weights] / 32))
    read = pairs.timed(memory.sum)
    ratios, reads, tokens = [], [], []
    for _ in range(args.pairs):
        reads.append(min(read(4)))
        tokens.append(statistics.median(side(2)))
        ratios.append(tokens[-1] / reads[-1])
    ratio, read, token = map(statistics.median, (ratios, reads, tokens))
    return (f"{weights}: {memory.nbytes / 1e6:.0f} MB of weights are read in {read:.2f} ms "
            f"({memory.nbytes / read / 1e6:.1f} GB/s), a token takes {token:.2f} ms: {ratio:.2f} x")


def add_options(parser):
    parser.add_argument("--weights", nargs="+", choices=SETTINGS, default=list(SETTINGS),
                        help="kinds of weights")
    parser.add_argument("--only", nargs="+", help="decode, decode 4096, prefill 512, prefill 4096")
    parser.add_argument("--peer", default="", help="those whose label has this")


def main():
    args = pairs.parse_arguments(__doc__, add_options)
    pairs.set_up_torch(args.threads)
    sizes = files.TINY if args.quick else files.LLAMA
    lengths = {"decode": 16, "decode 4096": 4096, "prefill 512": 512, "prefill 4096": 4096}
    if args.quick:
        lengths = {"decode": 16, "decode 40": 40, "prefill 40": 40}
    folder = pathlib.Path(args.work).resolve() / ("tiny_llama" if args.quick else "llama")
    folder.mkdir(parents=True, exist_ok=True)
    files.write_checkpoint(folder, sizes)
    report = {"machine": pairs.machine(args.threads) | {"versions": pairs.versions(*PACKAGES)}, "results": []}
    texts = {step: Text(folder, length, sizes["vocab_size"]) for step, length in lengths.items()
             if not args.only or step in args.only}
    count = sum(tensor.numel() for tensor in load_file(folder / "model.safetensors").values())
    for weights in args.weights:
        for row in rows_of(args, folder, weights, texts, count):
            report["results"].append(row)
            print(pairs.table([row]).splitlines()[1], file=sys.stderr, flush=True)
    pairs.finish(report, args.json)


if __name__ == "__main__":
    main()
