#!/usr/bin/env python3
"""What checking a model takes a compiler: seconds, MiB, and steps of its limit.

    tests/depth/measure.py [--layers 24,48] [--compilers g++,clang++-19] [MODEL.cpp]

MODEL.cpp takes its number of layers from the macro LAYERS; by default cases/decoder.cpp. Steps are found
by bisection over the option that sets the limit; the last column is how many layers the default
limit has room for, by the steps of the last layer.
"""
import argparse
import os
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
LIMITS = {"g++": ("-fconstexpr-ops-limit", 33554432), "clang++": ("-fconstexpr-steps", 1048576)}


def command(compiler, model, layers, *options):
    return [compiler, "-std=c++20", "-fsyntax-only", "-I" + ROOT, "-I" + ROOT + "/dsl",
            f"-DLAYERS={layers}", model, *options]


def limit_of(compiler):
    return LIMITS["clang++" if "clang" in compiler else "g++"]


def passes(compiler, model, layers, limit):
    option = f"{limit_of(compiler)[0]}={limit}"
    result = subprocess.run(command(compiler, model, layers, option, "-w"),
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return result.returncode == 0


def steps(compiler, model, layers):
    """To 1 %. A limit is also one of the size of arrays, hence the least of 20,000."""
    low, high = 20000, 100_000_000
    while high - low > high // 100:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(compiler, model, layers, middle) else (middle, high)
    return high


def measure(compiler, model, layers):
    start = time.monotonic()
    process = subprocess.Popen(command(compiler, model, layers))
    _, status, usage = os.wait4(process.pid, 0)
    return (status == 0, time.monotonic() - start, usage.ru_utime + usage.ru_stime,
            usage.ru_maxrss / 1024)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", nargs="?", default=os.path.join(HERE, "cases", "decoder.cpp"))
    parser.add_argument("--layers", default="24,48")
    parser.add_argument("--compilers", default="g++,clang++-19")
    given = parser.parse_args()
    print(f"{'compiler':<12}{'layers':>7}{'passes':>8}{'seconds':>9}{'CPU':>7}{'MiB':>6}"
          f"{'steps':>12}{'room for':>10}")
    for compiler in given.compilers.split(","):
        four, eight = (steps(compiler, given.model, n) for n in (4, 8))
        layer = (eight - four) / 4
        room = int((limit_of(compiler)[1] - four) / layer + 4)
        for layers in map(int, given.layers.split(",")):
            ok, wall, cpu, mib = measure(compiler, given.model, layers)
            total = four + layer * (layers - 4)
            print(f"{compiler:<12}{layers:>7}{'yes' if ok else 'no':>8}{wall:>9.2f}{cpu:>7.2f}"
                  f"{mib:>6.0f}{total:>12,.0f}{room:>10}")


if __name__ == "__main__":
    main()
