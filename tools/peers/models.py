"""The Transformer of fovea beside its peers, in pairs: training steps, encoder, greedy decoding.

    python tools/peers/models.py --fovea build/fovea [--only decoding] [--json F]

Prints a table of ratios, peer / fovea; README.md says what is measured and how.
"""
import functools
import math
import sys

try:
    import torch
except ImportError:
    print("models.py: PyTorch is not installed here (pip install torch==2.13.0): nothing to "
          "compare with")
    sys.exit(0)

import pairs
import transformer_peers as peers
from ours import FOLDER, Builder, Source

TOLERANCE = 2e-3  # of the largest value of each tensor, after all layers
# Of the norm of each gradient, against float64. Activations that rounding moves over relu's kink
# switch a term on or off: some of a million, and either side has its own.
GRADIENT_TOLERANCE = 2e-2
SMALL = {"name": "d2l sizes", "hidden": 32, "ffn": 64, "heads": 4, "layers": 2, "batch": 64,
         "src_len": 10, "tgt_len": 10, "src_vocab": 200, "tgt_vocab": 200,
         "encoder_batch": 8, "encoder_len": 10, "steps": 10}
BASE = {"name": "base", "hidden": 512, "ffn": 2048, "heads": 8, "layers": 6, "batch": 16,
        "src_len": 64, "tgt_len": 64, "src_vocab": 8000, "tgt_vocab": 8000,
        "encoder_batch": 8, "encoder_len": 128, "steps": 64}
TINY = SMALL | {"name": "tiny", "layers": 1, "batch": 2, "src_len": 5, "tgt_len": 5,
                "encoder_batch": 2, "encoder_len": 5, "steps": 4}
PACKAGES = "torch", "onnxruntime", "onnx", "ctranslate2", "numpy"
COMPILED = {"compiled": {}, "compiled cpp_wrapper": {"cpp_wrapper": True}}
FROZEN = {"compiled frozen": {"freezing": True}}


def i32(tensor):
    return tensor.to(torch.int32)


class Comparison:
    """One thing that a model does: tunes the peers, then measures pairs with the fastest."""

    def __init__(self, args, server, sizes, name, threads_too=False, tolerance=TOLERANCE):
        self.args, self.pid, self.threads_too = args, server.pid, threads_too
        self.tolerance = tolerance
        self.row = {"suite": "models", "name": f"{name}, {sizes['name']}", "pass": "",
                    "sizes": sizes, "tried": {}, "failed": {}, "unequal": {}}

    def try_variant(self, make, error_of, threads):
        torch._dynamo.reset()
        torch.set_num_threads(threads)
        run = make(threads)
        error = error_of(run)
        return run, pairs.fastest(pairs.timed(run), self.args.quick), error

    def consider(self, label, make, error_of, threads):
        """Milliseconds, or none where the variant does not run or is not equal."""
        try:
            _, ms, error = self.try_variant(make, error_of, threads)
        except Exception as problem:  # the peers' failures have no common type
            self.row["failed"][label] = pairs.describe_error(problem)
            return math.inf
        if error > self.tolerance:
            self.row["unequal"][label] = error
            return math.inf
        self.row["tried"][label] = {"ms": ms, "error": error}
        return ms

    def measure(self, ours, makers, error_of, unit=1):
        """ours: a side. makers: {label: given threads, a function that runs once}, whose times
        count per `unit`, as those of ours do already."""
        threads = self.args.threads
        speed = {(label, threads): self.consider(label, make, error_of, threads)
                 for label, make in makers.items()}
        (label, _), ms = min(speed.items(), key=lambda entry: entry[1])
        if ms < math.inf and self.threads_too and threads > 1:
            speed[label, 1] = self.consider(f"{label}, 1 thread", makers[label], error_of, 1)
        (label, threads), ms = min(speed.items(), key=lambda entry: entry[1])
        if ms == math.inf:
            self.row["skipped"] = "no variant runs here with equal results"
            return self.row
        run, _, error = self.try_variant(makers[label], error_of, threads)
        said = label if threads == self.args.threads else f"{label}, 1 thread"
        self.row.update({"variant": said, "max_error": error})

        def peer(runs):
            return [ms / unit for ms in pairs.timed(run)(runs)]
        self.row.update(pairs.alternate(ours, peer, self.args.pairs, self.args.quick, self.pid))
        return self.row


def open_transformer(builder, programs, name, sizes):
    """A server of a model with parameters drawn, and those as tensors."""
    server = builder.serve(programs[name])
    server.ask("initialize", *(f"{name}={sizes[name]}" for name in ("src_vocab", "tgt_vocab")))
    return server, server.file("save")


def training_rows(args, builder, programs, sizes):
    server, weights = open_transformer(builder, programs, "transformer", sizes)
    names = ("batch", "src_len", "tgt_len", "src_vocab", "tgt_vocab")
    batch = peers.random_batch(*(sizes[name] for name in names))
    src, lens, tgt, labels = batch
    with server:
        about = server.open("training_step", {
            "src": i32(src), "src_lens": i32(lens), "tgt": i32(tgt), "labels": i32(labels),
            "tgt_lens": torch.full((sizes["batch"],), sizes["tgt_len"]).int()})
        ours = server.file("output")
        ours["loss"] = ours["loss"].sum()
        exact = peers.TrainingStep(peers.make_model(sizes, weights).double(), batch, None, True)
        expected = exact.gradients()

        def maker(sdpa, options, fused):
            return lambda threads: peers.TrainingStep(
                peers.make_model(sizes, weights, sdpa), batch, options, fused)
        makers = {}
        for sdpa in (False, True):
            attention = "sdpa" if sdpa else "plain"
            makers[f"eager, {attention}, fused Adam"] = maker(sdpa, None, True)
            for how, options in COMPILED.items():
                makers[f"{how}, {attention}, fused Adam"] = maker(sdpa, options, True)
        makers["compiled, plain, foreach Adam"] = maker(False, {}, False)
        comparison = Comparison(args, server, sizes, "training step", threads_too=True,
                                tolerance=GRADIENT_TOLERANCE)
        own_error = pairs.largest_distance(ours, expected)
        comparison.row["ours"] = about | {"error": own_error}
        if own_error > GRADIENT_TOLERANCE:
            raise SystemExit(f"models.py: fovea's gradients are {own_error:.1e} off float64")
        yield comparison.measure(
            server.side("train"), makers,
            lambda step: pairs.largest_distance(step.gradients(), expected))


def without_gradients(function):
    def run():
        with torch.no_grad():
            return function()
    return run


def encoder_makers(sizes, weights, ids):
    keep = torch.ones(ids.shape[0], 1, 1, ids.shape[1], dtype=torch.bool)

    def torch_encoder(sdpa, options, threads):
        encoder = peers.make_model(sizes, weights, sdpa).encoder.eval()
        run = encoder if options is None else torch.compile(encoder, dynamic=False, options=options)
        return without_gradients(lambda: run(ids, keep))

    def fast_path(threads):
        encoder = peers.make_model(sizes, weights).encoder
        run = peers.fast_path_encoder(encoder, sizes["hidden"], sizes["ffn"], sizes["heads"])
        return without_gradients(lambda: run(ids))

    def onnx(threads):
        return peers.onnx_encoder(peers.make_model(sizes, weights).encoder, ids, keep, threads)

    def ctranslate2(threads):
        from ctranslate2_peer import encoder_peer
        return encoder_peer(peers.make_model(sizes, weights), sizes["heads"], ids, threads)
    makers = {}
    for sdpa in (False, True):
        attention = "sdpa" if sdpa else "plain"
        for how, options in {"eager": None, **COMPILED, **FROZEN}.items():
            makers[f"{how}, {attention}"] = functools.partial(torch_encoder, sdpa, options)
    return makers | {"BetterTransformer": fast_path, "ONNX Runtime": onnx,
                     "CTranslate2": ctranslate2}


def encoder_rows(args, builder, programs, sizes):
    server, weights = open_transformer(builder, programs, "encoder", sizes)
    ids = torch.randint(peers.FIRST_WORD, sizes["src_vocab"],
                        (sizes["encoder_batch"], sizes["encoder_len"]))
    with server:
        about = server.open("forward", {
            "src": i32(ids), "src_lens": torch.full((len(ids),), ids.shape[1]).int()})
        expected = server.file("output")
        # One row for every engine, as each is someone's choice: PyTorch's fastest, and the others.
        makers = encoder_makers(sizes, weights, ids)
        others = {name: {name: makers.pop(name)} for name in ("ONNX Runtime", "CTranslate2")}
        for name, chosen in {"PyTorch": makers, **others}.items():
            comparison = Comparison(args, server, sizes, f"encoder beside {name}")
            comparison.row["ours"] = about
            yield comparison.measure(
                server.milliseconds, chosen,
                lambda run: pairs.largest_error({"output": run()}, expected))


def decoding_rows(args, builder, programs, sizes):
    server, weights = open_transformer(builder, programs, "transformer", sizes)
    steps = sizes["steps"]
    source = torch.arange(peers.FIRST_WORD, peers.FIRST_WORD + steps)[None]
    with server:
        tokens = server.ask("greedy", steps)["tokens"]
        never = next(i for i in range(3, sizes["tgt_vocab"]) if i not in tokens)

        def torch_decoder(sliced, options, threads):
            return peers.GreedyDecoder(peers.make_model(sizes, weights).eval(), source, steps,
                                       sliced, options)

        def ctranslate2(threads):
            from ctranslate2_peer import greedy_peer
            return greedy_peer(peers.make_model(sizes, weights), sizes["heads"],
                               source[0].tolist(), steps, never, threads)
        makers = {"eager": functools.partial(torch_decoder, False, None),
                  "eager, sliced": functools.partial(torch_decoder, True, None)}
        for how, options in {**COMPILED, **FROZEN}.items():
            makers[how] = functools.partial(torch_decoder, False, options)
        groups = {"PyTorch": makers, "CTranslate2": {"CTranslate2": ctranslate2}}
        for name, chosen in groups.items():
            comparison = Comparison(args, server, sizes, f"greedy decoding beside {name}, a token",
                                    threads_too=True)
            yield comparison.measure(
                server.side("decode", steps), chosen,
                lambda run: 0.0 if run() == tokens else math.inf, unit=steps)


def add_options(parser):
    parser.add_argument("--only", choices=("training", "encoder", "decoding"), help="this alone")
    parser.add_argument("--sizes", choices=("d2l", "base"), help="of these alone")


def plan(args):
    """[(sizes, functions that give their rows)]"""
    every = {"training": training_rows, "encoder": encoder_rows, "decoding": decoding_rows}
    if args.quick:
        chosen = [(TINY, every)]
    else:
        chosen = [(SMALL, {"training": training_rows}), (BASE, every)]
        if args.sizes:
            chosen = [chosen[0 if args.sizes == "d2l" else 1]]
    return [(sizes, [rows for name, rows in parts.items() if args.only in (None, name)])
            for sizes, parts in chosen]


def build(builder, sizes):
    settings = {name: sizes[name] for name in ("hidden", "ffn", "heads", "layers")}
    sources = [Source("transformer", settings, training=True),
               Source(f"{FOLDER / 'models' / 'encoder.cpp'}:encoder", settings)]
    return builder.build(sizes["name"].replace(" ", "_"), sources)


def main():
    args = pairs.parse_arguments(__doc__, add_options)
    pairs.set_up_torch(args.threads)
    report = {"machine": pairs.machine(args.threads) | {"versions": pairs.versions(*PACKAGES)}, "results": []}
    builder = Builder(args.fovea, args.work, args.threads)
    for sizes, parts in plan(args):
        if not parts:
            continue
        programs = build(builder, sizes)
        for rows in parts:
            for row in rows(args, builder, programs, sizes):
                report["results"].append(row)
                print(pairs.table([row]).splitlines()[1], file=sys.stderr, flush=True)
    pairs.finish(report, args.json)


if __name__ == "__main__":
    main()
