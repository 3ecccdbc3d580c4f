"""Kernels of fovea beside PyTorch's fastest, in pairs: contraction, attention, row-wise ops.

    python tools/peers/kernels.py --fovea build/fovea [--suite attention] [--json F]

Prints a table of ratios, peer / fovea; README.md says what is measured and how.
"""
import functools
import gc
import os
import sys

os.environ.setdefault("OPENBLAS_CORETYPE", "SKYLAKEX")  # before NumPy loads its OpenBLAS

try:
    import torch
except ImportError:
    print("kernels.py: PyTorch is not installed here (pip install torch==2.13.0): nothing to "
          "compare with")
    sys.exit(0)

import kernel_cases
import pairs
from ours import Builder

TOLERANCE = 1e-4  # of the largest value: float32, other orders of addition
PASSES = {False: "forward", True: "forward + backward"}


class Peer:
    """One way of running a case in PyTorch, forward or with its gradients."""

    def __init__(self, case, function, cotangent):
        self.case, self.function, self.cotangent = case, function, cotangent
        self.inputs = {name: tensor.clone() for name, tensor in case.inputs.items()}
        self.leaves = {}
        if cotangent is not None:
            self.leaves = {name: tensor.requires_grad_() for name, tensor in self.inputs.items()
                           if tensor.is_floating_point()}

    def run(self):
        """(output, gradients of the leaves)"""
        if self.cotangent is None:
            with torch.no_grad():
                return self.function(**self.inputs), ()
        y = self.function(**self.inputs)
        return y, torch.autograd.grad(y, list(self.leaves.values()), self.cotangent)

    def results(self):
        y, gradients = self.run()
        named = {f"{name}.grad": g for name, g in zip(self.leaves, gradients)}
        return {self.case.output: y, **named}


def by_name(function, names):
    """Some of torch's functions take their tensors by position alone."""
    return lambda **inputs: function(*(inputs[name] for name in names))


def compiled(function, options):
    chosen = {name: True for name in options}
    if "max_autotune" in chosen:
        chosen["max_autotune_gemm_backends"] = "CPP,ATEN"
    return torch.compile(function, dynamic=False, options=chosen or None)


def variants(case):
    """{label: how to make the function}"""
    made = {}
    for label, way in case.ways.items():
        function = by_name(way, list(case.inputs))
        made[label] = functools.partial(lambda f: f, function)
        if label in case.as_is:
            continue
        for options in case.options:
            name = " ".join(("compiled", *options, label))
            made[name] = functools.partial(compiled, function, options)
    return made


class Comparison:
    """A case in one pass: tunes the peer, then measures pairs."""

    def __init__(self, args, server, case, backward):
        self.args, self.server, self.case, self.backward = args, server, case, backward
        self.inputs, self.cotangent = dict(case.inputs), None
        self.row = {"suite": case.suite, "name": case.name, "pass": PASSES[backward],
                    "sizes": {name: list(t.shape) for name, t in case.inputs.items()}}

    def open_ours(self):
        """Runs fovea's side once and keeps its results."""
        if self.backward:
            with torch.no_grad():
                y = by_name(next(iter(self.case.ways.values())), list(self.inputs))(**self.inputs)
            self.cotangent = torch.ones_like(y) if self.case.output == "loss" else \
                torch.randn_like(y)
            if self.case.output != "loss":
                self.inputs[f"{self.case.output}.grad"] = self.cotangent
        about = self.server.open("gradient" if self.backward else "forward", self.inputs)
        peak = pairs.peak_bytes(self.server.pid, lambda: self.server.milliseconds(1))
        self.row["ours"] = {**about, "peak_bytes": peak}
        self.expected = self.server.file("output")

    def try_variant(self, make, threads):
        """(peer, its fastest run in ms, its error); raises when it does not run here."""
        torch._dynamo.reset()
        torch.set_num_threads(threads)
        peer = Peer(self.case, make(), self.cotangent)
        error = pairs.largest_error(peer.results(), self.expected)
        return peer, pairs.fastest(pairs.timed(peer.run), self.args.quick), error

    def tune(self):
        """The fastest of the variants with equal results, its label, making and threads."""
        best, tried, failed, unequal = None, {}, {}, {}

        def consider(label, make, threads):
            nonlocal best
            try:
                _, ms, error = self.try_variant(make, threads)
            except Exception as problem:  # the peers' failures have no common type
                failed[label] = pairs.describe_error(problem)
                return
            if error > TOLERANCE:
                unequal[label] = error
                return
            tried[label] = {"ms": ms, "error": error}
            if best is None or ms < best[0]:
                best = ms, label, make, threads
        for label, make in variants(self.case).items():
            consider(label, make, self.args.threads)
        if best and self.args.threads > 1 and best[1] != "numpy":  # it has threads of its own
            consider(f"{best[1]}, 1 thread", best[2], 1)
        self.row.update({"tried": tried, "failed": failed, "unequal": unequal})
        return best

    def measure(self):
        self.open_ours()
        best = self.tune()
        if best is None:
            self.row["skipped"] = "no variant runs here with equal results"
            return self.row
        _, label, make, threads = best
        peer, _, error = self.try_variant(make, threads)
        self.row.update({"variant": label, "max_error": error})
        gc.collect()
        self.row["peer_peak_bytes"] = pairs.peak_bytes(os.getpid(), peer.run)
        self.row.update(pairs.alternate(self.server.milliseconds, pairs.timed(peer.run),
                                        self.args.pairs, self.args.quick, self.server.pid))
        return self.row


def add_options(parser):
    parser.add_argument("--suite", choices=list(kernel_cases.SUITES), help="this one only")
    parser.add_argument("--only", default="", help="cases whose name contains this")


def main():
    args = pairs.parse_arguments(__doc__, add_options)
    os.environ["OPENBLAS_NUM_THREADS"] = str(args.threads)
    pairs.set_up_torch(args.threads)
    suites = [args.suite] if args.suite else list(kernel_cases.SUITES)
    cases = [case for suite in suites for case in kernel_cases.SUITES[suite](args.quick)
             if args.only in case.name]
    builder = Builder(args.fovea, args.work, args.threads)
    programs = builder.build("kernels", list({c.source.name: c.source for c in cases}.values()))
    report = {"machine": pairs.machine(args.threads), "results": []}
    for case in cases:
        with builder.serve(programs[case.source.name]) as server:
            for backward in (False, True) if case.backward else (False,):
                row = Comparison(args, server, case, backward).measure()
                report["results"].append(row)
                print(pairs.table([row]).splitlines()[1], file=sys.stderr, flush=True)
    pairs.finish(report, args.json)


if __name__ == "__main__":
    main()
