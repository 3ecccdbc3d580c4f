#!/usr/bin/env python3
"""Mistakes on purpose: mutations of the compiler, and who finds them.

    git clone -q . /tmp/mutated
    cmake -G Ninja -S /tmp/mutated -B /tmp/mutated/build -DFOVEA_PRECOMPILE=ON -DFOVEA_UNITY=ON
    python3 tests/mutation/run.py --tree /tmp/mutated [--count 100] [--seed 1]

The sources of --tree are overwritten: one build holds all mutations, and FOVEA_MUTATION=N chooses
one at run time. For each: the tests of its folder; for what survives, `fovea fuzz` on the
reference, then on the CPU (or on the PTX interpreter, for what writes PTX), --seconds together.
Without a mutation nothing may be found. A line of JSON a mutation goes to --output; a second run
goes on behind the last. --summary only counts. --no-tests leaves the tests out: a survey in
--seconds 40 each, say. --jobs is how many run at a time.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import resource
import signal
import subprocess
import tempfile
import time

from mutated_tree import build, draw

# Test programs that cover a folder of codegen, without the slow ones.
COVER = {
    "autodiff": ["autodiff", "ops"], "decode": ["decode"],
    "emit": ["lower", "emit -sfe=*functions_test*"],
    "nvptx": ["nvptx -sfe=*models_test*,*mutations_test*"], "fuse": ["fuse"],
    "graph": ["graph", "ops"], "group": ["group", "fuse"], "kernel": ["kernel", "lower"],
    "lower": ["lower", "kernel"], "ops": ["ops", "errors", "decode"], "optimize": ["optimize", "ops"],
    "plan": ["plan"], "codegen": ["pipeline", "plan", "models -sf=*quantized*,*shards_test*,*loss_*"],
}
MEMORY = 12 << 30  # bytes that a process may have
TEST_SECONDS = 300  # of a test program; one that is not done then has found nothing
GRACE = 150  # seconds that a run may take beyond its time: batches end, compilers run


def folder_of(file):
    parts = file.split("/")
    return "nvptx" if "nvptx" in parts else parts[1] if len(parts) > 2 else "codegen"


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def ends(command, cwd, number, seconds):
    """How the command ends: 0, its status, or `hang`; its whole group is ended with it."""
    environment = dict(os.environ, FOVEA_MUTATION=str(number), OMP_WAIT_POLICY="passive")
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, cwd=cwd, env=environment, stdout=output,
                                   stderr=subprocess.STDOUT, start_new_session=True,
                                   preexec_fn=limit_memory)
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            status = "hang"
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        process.wait()
        output.seek(0)
        return status, output.read()[-2000:]


def fuzz(given, mutation, target, seconds, scratch):
    command = [f"{given.build}/fovea", "fuzz", "--first", "--target", target, "--output", scratch,
               "--seed", str(given.fuzz_seed), "--count", "1000000", "--time", str(seconds)]
    return ends(command, given.tree, mutation["number"], seconds + GRACE)


def judge(mutation, given):
    """Who finds it, after how many seconds, and what it says."""
    start = time.time()

    def found(by, said):
        lines = [line for line in said.splitlines() if line.strip()]
        seconds = round(time.time() - start, 1)
        return {"found": by, "seconds": seconds, "said": lines[-6:] if by else []}

    for test in COVER[folder_of(mutation["file"])] if given.tests else []:
        name, *filters = test.split()
        command = [f"{given.build}/test_{name}", "-aa=1", *filters]
        status, said = ends(command, given.tree, mutation["number"], TEST_SECONDS)
        if status not in (0, "hang"):
            return found(f"test_{name}", said)
    written = "ptx-interpreter" if folder_of(mutation["file"]) == "nvptx" else "cpu"
    with tempfile.TemporaryDirectory() as scratch:
        for target, share in (("reference", 0.3), (written, 0.7)):
            status, said = fuzz(given, mutation, target, int(given.seconds * share), scratch)
            if status != 0:
                return found(f"fuzz {target}" + (" (hang)" if status == "hang" else ""), said)
    return found(None, "")


def read_table(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def append(path, row):
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def print_summary(table):
    table = [row for row in table if row["number"] and row.get("compiles", True)]
    by = collections.Counter(row["found"] or "survives" for row in table)
    for name, count in by.most_common():
        print(f"{count:4}  {name}")
    for row in table:
        if not row["found"]:
            print(f"survives: {row['number']} {row['file']}:{row['line']} ({row['operator']})")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tree")
    parser.add_argument("--build", default="build")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fuzz-seed", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=180)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--output", default="mutations.jsonl")
    parser.add_argument("--no-tests", dest="tests", action="store_false")
    parser.add_argument("--summary", action="store_true")
    given = parser.parse_args()
    if not given.tree and not given.summary:
        parser.error("--tree is missing")
    return given


def main():
    given = arguments()
    table = read_table(given.output)
    if given.summary:
        return print_summary(table)
    tests = sorted({f"test_{name.split()[0]}" for names in COVER.values() for name in names})
    unfit = {row["number"] for row in table if row.get("compiles") is False}

    def leave_out(numbers):
        print("do not compile:", *numbers, flush=True)
        for number in numbers:
            append(given.output, {"number": number, "compiles": False})

    drawn = draw(given.tree, given.count * 13 // 10, given.seed)
    drawn = build(given.tree, given.build, [m for m in drawn if m["number"] not in unfit],
                  ["fovea", *tests], given.jobs, leave_out)[: given.count]
    nothing = {"number": 0, "file": "codegen/lower/none.cpp"}
    done = {row["number"] for row in table}

    def settle(mutation):
        row = {**mutation, **judge(mutation, given)}
        append(given.output, row)
        print(*(row.get(key) for key in ("number", "file", "operator", "found", "seconds")),
              flush=True)
        return row

    if nothing["number"] not in done and settle(nothing)["found"]:
        raise SystemExit("without a mutation something is found, too")
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        list(pool.map(settle, [m for m in drawn if m["number"] not in done]))
    print_summary(read_table(given.output))


if __name__ == "__main__":
    main()
