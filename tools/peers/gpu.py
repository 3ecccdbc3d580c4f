"""fovea's kernels and PyTorch's on one GPU, in turns: matrix products beside cuBLAS, attention
beside each backend of scaled_dot_product_attention by itself, a training step of the paper's base
model beside torch.compile.

    python3 tools/peers/gpu.py --fovea build/fovea [--suite attention] [--json F]

`check.sh --peers` of a bundle runs it where PyTorch finds a GPU. Both sides measure by the GPU's clock, in
bfloat16, products of float32 as tf32, too, on inputs of their own: that fovea's results are right
is what `fovea verify` says. A round is a turn of each side; a turn counts as the median of its
runs. A ratio is peer / fovea."""
import argparse
import functools
import json
import math
import os
import statistics
import subprocess
import sys
import time

try:
    import torch
except ImportError:
    print("gpu.py: PyTorch is not installed here (pip install torch): nothing to compare with")
    sys.exit(0)
from torch.nn.attention import SDPBackend, sdpa_kernel
import torch.nn.functional as F

import gpu_model
import ratios

BACKENDS = {"flash": SDPBackend.FLASH_ATTENTION, "cuDNN": SDPBackend.CUDNN_ATTENTION,
            "memory-efficient": SDPBackend.EFFICIENT_ATTENTION}
TURN_MS = 40      # how long one side runs at a time
AHEAD = 1 << 20   # cycles that the GPU sleeps while work is asked for: launching does not count


class Fovea:
    """`fovea bench --turns`, or the measurements of a bundle, a process each: says what is next, and
    runs when told to."""

    def __init__(self, args):
        quick = ["--quick"] if args.quick else []
        self.commands = [[args.fovea, "bench", "--target", "cuda", "--turns", *quick] +
                         (["--suite", args.suite] if args.suite else [])]
        if args.bundle:
            self.commands = [[*args.runner.split(), args.bundle, number, "--turns", *quick]
                             for number in measurements(args.bundle)]
        self.suite, self.process = args.suite, None

    def works(self):
        """Each piece of work, ready to run until the next is asked for. Meanwhile the next process
        starts, makes its inputs and compiles its kernels."""
        start = functools.partial(subprocess.Popen, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  text=True)
        coming = start(self.commands[0]) if self.commands else None
        for number, command in enumerate(self.commands):
            following = self.commands[number + 1:number + 2]
            self.process, coming = coming, start(following[0]) if following else None
            with self.process:
                for line in self.process.stdout:
                    work = json.loads(line)
                    if self.suite in (None, work["suite"]):
                        yield work
                    self.tell("")
            if self.process.returncode:
                print(f"gpu.py: {' '.join(command)} ended with {self.process.returncode}",
                      file=sys.stderr)
                if len(self.commands) == 1:
                    sys.exit(self.process.returncode)

    def tell(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def run(self, runs):
        """Milliseconds of each."""
        self.tell(str(runs))
        return json.loads(self.process.stdout.readline())


def measurements(bundle):
    """The numbers of a bundle's cases that measure."""
    with open(os.path.join(bundle, "index.txt"), encoding="utf-8") as index:
        rows = [line.split() for line in index]
    return [row[0] for row in rows if row[1] == "bench"]


class Peer:
    """A function of PyTorch as a side: given a number of runs, their milliseconds."""

    def __init__(self, function, device, ahead=True):
        self.function, self.on_gpu, self.ahead = function, device == "cuda", ahead

    def run(self, runs):
        return [self.once_on_gpu() if self.on_gpu else self.once() for _ in range(runs)]

    def once(self):
        start = time.perf_counter()
        self.function()
        return 1000 * (time.perf_counter() - start)

    def once_on_gpu(self):
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        if self.ahead:
            torch.cuda._sleep(AHEAD)  # pylint: disable=protected-access
        start.record()
        self.function()
        stop.record()
        stop.synchronize()
        return start.elapsed_time(stop)


def products(work, device):
    """{way: side} of the product of [rows, k] and [k, columns] that the name says; of tf32 b lies
    by columns, as fovea's does."""
    rows, k, columns = (int(size) for size in work["name"].split("x"))
    tf32 = work["dtype"] == "tf32"
    torch.backends.cuda.matmul.allow_tf32 = tf32
    dtype = torch.float32 if tf32 else torch.bfloat16
    a = torch.randn(rows, k, device=device).to(dtype)
    b = torch.randn(columns, k, device=device).t() if tf32 else torch.randn(
        k, columns, device=device).to(dtype)
    out = torch.empty(rows, columns, device=device, dtype=dtype)
    return {"matmul": lambda: Peer(lambda: torch.matmul(a, b, out=out), device)}


def attention(work, device):
    """{way: what makes its side}: the backends, forward or backward alone. A causal name ends so;
    the heads follow from the flops."""
    dims, backward = work["dims"], work["pass"] == "backward"
    causal = work["name"].endswith("causal")
    width = int(work["name"].split(",")[0].split()[1])
    pairs = dims["queries"] * ((dims["keys"] + 1) / 2 if causal else dims["keys"])
    heads = round(work["flops"] / ((10 if backward else 4) * dims["batch"] * width * pairs))

    def make(backend):
        def tensor():
            return torch.randn(dims["batch"], heads, dims["queries"], width,
                               device=device).bfloat16().requires_grad_(backward)

        def forward():
            with sdpa_kernel(backend):
                return F.scaled_dot_product_attention(q, k, v, is_causal=causal)
        q, k, v = tensor(), tensor(), tensor()
        if not backward:
            return Peer(forward, device)
        y = forward()
        dy = torch.randn_like(y)
        return Peer(lambda: torch.autograd.grad(y, (q, k, v), dy, retain_graph=True), device)
    return {name: (lambda chosen=backend: make(chosen)) for name, backend in BACKENDS.items()}


def training(work, device, quick):
    """{way: what makes its side}: the step, compiled and not."""
    dims = work["dims"]
    base = {"width": 512, "inner": 2048, "heads": 8, "layers": 6, "dropout": 0.1}
    if quick:
        base = {"width": 16, "inner": 16, "heads": 2, "layers": 1, "dropout": 0.1}
    sizes = {**base, "batch": dims["batch"], "length": dims["tgt_len"],
             "src_vocab": dims["src_vocab"], "tgt_vocab": dims["tgt_vocab"]}

    def make(compiled):
        return Peer(gpu_model.TrainingStep(sizes, device, compiled), device, ahead=False)
    return {"torch.compile": lambda: make(True), "eager": lambda: make(False)}


def ways_of(work, args):
    if work["suite"] == "contraction":
        return products(work, args.device)
    if work["suite"] == "attention":
        return attention(work, args.device)
    return training(work, args.device, args.quick)


def runs_for(side, quick):
    """How many runs are a turn; some that do not count come first."""
    side(3)
    return 2 if quick else max(2, min(100, math.ceil(TURN_MS / max(min(side(3)), 1e-3))))


def describe(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: " + " ".join(lines[:2])[:300]


def compare(ours, work, args):
    """A row of the report: all sides round by round, another one first each time."""
    sides, failed = {"ours": ours.run}, {}
    for name, make in ways_of(work, args).items():
        try:
            side = make().run
            side(2)
            sides[name] = side
        except Exception as problem:  # the peer's failures have no common type
            failed[name] = describe(problem)
    runs = {name: runs_for(side, args.quick) for name, side in sides.items()}
    turns, order = {name: [] for name in sides}, list(sides)
    for _ in range(args.rounds):
        for name in order:
            turns[name].append(statistics.median(sides[name](runs[name])))
        order = order[1:] + order[:1]
    return ratios.summed_up({**work, "turns": turns, "failed": failed})


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", 1)[0])
    parser.add_argument("--fovea", default="build/fovea", help="the fovea command")
    parser.add_argument("--bundle", help="a folder that `fovea bundle` wrote: its measurements")
    parser.add_argument("--runner", default="build/fovea bundle --case",
                        help="what runs a case of the bundle")
    parser.add_argument("--suite", choices=["contraction", "attention", "models"],
                        help="this one only")
    parser.add_argument("--rounds", type=int, default=11, help="turns of each side")
    parser.add_argument("--json", help="file for the report")
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"],
                        help="where PyTorch runs; cpu shows that all works, and compares nothing")
    parser.add_argument("--quick", action="store_true",
                        help="tiny sizes: shows that all works, measures nothing")
    args = parser.parse_args()
    if args.quick:
        args.rounds = min(args.rounds, 3)
    return args


def machine(device):
    about = {"torch": torch.__version__, "gpu": None}
    if device == "cuda":
        about.update(gpu=torch.cuda.get_device_name(), cuda=torch.version.cuda,
                     cudnn=torch.backends.cudnn.version())
    return about


def main():
    args = parse_arguments()
    if args.device == "cuda" and not torch.cuda.is_available():
        print("gpu.py: PyTorch finds no GPU here: nothing to compare with")
        return
    torch.manual_seed(1)
    report, ours = {"machine": machine(args.device), "results": []}, Fovea(args)
    for work in ours.works():
        report["results"].append(compare(ours, work, args))
        torch.cuda.empty_cache()
        print(ratios.table(report["results"][-1:]).splitlines()[1], file=sys.stderr, flush=True)
    print("\n".join([ratios.table(report["results"]), *ratios.failures(report["results"])]))
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=1)


if __name__ == "__main__":
    main()
