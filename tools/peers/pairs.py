"""What a comparison consists of: equal results first, then the peer's fastest way, then runs of
both sides in turn, and the ratio of each pair."""
import argparse
import ctypes
import importlib.metadata
import json
import math
import os
import platform
import re
import statistics
import time

import torch

from ratios import quantiles

TURN_MS, TUNING_MS = 60, 120  # how long one side runs at a time
DISTURBED = 0.1  # processors that others may take before a row is called disturbed
REST_S = 0.03  # between turns: threads that still wait for work go to sleep


def parse_arguments(description, add_own):
    """The options of every comparison, behind those that `add_own` gives a parser."""
    parser = argparse.ArgumentParser(description=description.split("\n", 1)[0])
    parser.add_argument("--fovea", default="build/fovea", help="the fovea command")
    add_own(parser)
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="of both sides")
    parser.add_argument("--pairs", type=int, default=15, help="turns of each side")
    parser.add_argument("--work", default="/tmp/fovea-peers", help="folder for builds, kept")
    parser.add_argument("--json", help="file for the report")
    parser.add_argument("--quick", action="store_true",
                        help="tiny sizes: shows that all works, measures nothing")
    args = parser.parse_args()
    if args.quick:
        args.pairs = min(args.pairs, 3)
    return args


def timed(function):
    """function as a side: given a number of runs, their milliseconds."""
    def side(runs):
        times = []
        for _ in range(runs):
            start = time.perf_counter()
            function()
            times.append(1000 * (time.perf_counter() - start))
        return times
    return side


def runs_for(side, milliseconds, most=200):
    """How many runs take about so long, at least two."""
    side(1)
    once = min(side(2))
    return max(2, min(most, math.ceil(milliseconds / max(once, 1e-3))))


def fastest(side, quick):
    """Milliseconds of the fastest run, which others disturb least."""
    return min(side(2 if quick else runs_for(side, TUNING_MS)))


def busy_seconds(path):
    """Processor time that /proc/stat, or a process's stat, has counted."""
    with open(path, encoding="ascii") as file:
        line = file.readline()
    if path == "/proc/stat":
        ticks = [int(word) for word in line.split()[1:9]]
        used = sum(ticks) - ticks[3] - ticks[4]  # without idle and waiting for input
    else:
        used = sum(int(word) for word in line.rsplit(")", 1)[1].split()[11:13])
    return used / os.sysconf("SC_CLK_TCK")


class Others:
    """The processors' time that goes to anything but this process and one other."""

    def __init__(self, pid):
        self.pid, self.start = pid, time.perf_counter()
        self.begin = self.seconds()

    def seconds(self):
        mine = (busy_seconds(f"/proc/{pid}/stat") for pid in (os.getpid(), self.pid))
        return busy_seconds("/proc/stat") - sum(mine)

    def share(self):
        """0: the machine was ours; 1: one processor was always busy with others."""
        return max(0.0, (self.seconds() - self.begin) / (time.perf_counter() - self.start))


def alternate(ours, peer, pairs, quick, pid):
    """Turns of both sides, who begins alternates; a turn counts as its median run.

    pid is that of fovea's process.
    The ratio is peer / ours: above 1, fovea is faster."""
    sides = {"ours": ours, "peer": peer}
    runs = {name: 2 if quick else runs_for(side, TURN_MS) for name, side in sides.items()}
    turns, others = {"ours": [], "peer": []}, Others(pid)
    for pair in range(pairs):
        for name in ("ours", "peer") if pair % 2 == 0 else ("peer", "ours"):
            time.sleep(REST_S)
            sides[name](1)
            turns[name].append(statistics.median(sides[name](runs[name])))
    ratios = [peer / ours for ours, peer in zip(turns["ours"], turns["peer"])]
    return {"pairs": pairs, "others": others.share(), "runs_a_turn": runs,
            "ours_ms": quantiles(turns["ours"]), "peer_ms": quantiles(turns["peer"]),
            "ratio": quantiles(ratios)}


def worst_tensor(got, expected, size):
    """The largest difference over all tensors, each measured by `size`, relative to that of what
    was expected."""
    if not set(expected) <= set(got):
        return math.inf
    worst = 0.0
    for name, tensor in expected.items():
        if got[name].shape != tensor.shape:
            return math.inf
        difference = float(size(got[name].detach() - tensor.detach()))
        error = difference / max(float(size(tensor.detach())), 1e-30)
        worst = max(worst, math.inf if math.isnan(error) else error)
    return worst


def largest_error(got, expected):
    """By the largest element of each tensor."""
    return worst_tensor(got, expected, lambda tensor: tensor.abs().max())


def largest_distance(got, expected):
    """By the norm of each tensor, in float64."""
    return worst_tensor(got, expected, lambda tensor: tensor.double().norm())


def memory_of(pid, field):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return 1024 * int(re.search(rf"{field}:\s+(\d+)", file.read()).group(1))


def forget_peak(pid):
    """From here on the peak of resident memory is counted anew."""
    ctypes.CDLL(None).malloc_trim(0)
    with open(f"/proc/{pid}/clear_refs", "w", encoding="ascii") as file:
        file.write("5")


def peak_bytes(pid, run):
    """By how much a run raises the process's resident memory: intermediates and outputs."""
    forget_peak(pid)
    before = memory_of(pid, "VmRSS")
    run()
    return memory_of(pid, "VmHWM") - before


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        found = re.search(r"model name\s*:\s*(.*)", file.read())
    return found.group(1) if found else platform.machine()


def describe_error(error):
    """The first lines of what an exception says, as it says it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: " + " ".join(lines[:3])[:400]


def set_up_torch(threads):
    torch.set_num_threads(threads)
    torch.set_flush_denormal(True)
    torch.manual_seed(1)


def versions(*packages):
    """{package: version}; a line for each that is not installed."""
    found = {}
    for package in packages:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            print(f"{package} is not installed here; its rows are skipped")
    return found


def machine(threads):
    return {"cpu": processor(), "threads": threads, "torch": torch.__version__,
            "cpu_capability": torch.backends.cpu.get_cpu_capability(),
            "mkl": torch.backends.mkl.is_available(),
            "onednn": torch.backends.mkldnn.is_available(), "flush_denormals": True,
            "load_before": open("/proc/loadavg", encoding="ascii").read().split()[0]}


def table(rows):
    """Rows of a report as text."""
    head = ("", "pass", "ours ms", "peer ms", "ratio", "p10", "p90", "error", "peer's best")
    lines = [head]
    for row in rows:
        name = f"{row['suite']}: {row['name']}"
        if "ratio" not in row:
            lines.append((name, row["pass"], "", "", "", "", "", "", row["skipped"]))
            continue
        ms = [f"{row[side]['median']:.3f}" for side in ("ours_ms", "peer_ms")]
        ratio = [f"{row['ratio'][key]:.2f}" for key in ("median", "p10", "p90")]
        lines.append((name, row["pass"], *ms, *ratio, f"{row['max_error']:.1e}", row["variant"]))
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    justify = [str.ljust, str.ljust, *[str.rjust] * 6, str.ljust]
    return "\n".join("  ".join(put(cell, width) for put, cell, width in
                               zip(justify, line, widths)).rstrip() for line in lines)


def print_failures(rows):
    """What the table can't be trusted in, and what did not run, each reason once."""
    said = {}
    for row in rows:
        if row.get("others", 0) > DISTURBED:
            print(f"disturbed: {row['name']}, {row['pass'] or 'a run'}: other programs took "
                  f"{row['others']:.2f} processors; a peer's threads wait for each other")
        for label, text in row.get("failed", {}).items():
            said.setdefault(f"{label}, {row['pass']}: {text}", row["name"])
        for label, error in row.get("unequal", {}).items():
            print(f"not equal: {label}, {row['name']}, {row['pass']}: error {error:.1e}")
    for text, name in said.items():
        print(f"does not run here ({name}): {text}")


def finish(report, path):
    """Prints the table and what it can't be trusted in; writes the report where a path is given."""
    print(table(report["results"]))
    print_failures(report["results"])
    if path:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=1)
