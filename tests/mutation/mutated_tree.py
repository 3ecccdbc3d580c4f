"""A copy of the sources with many mutations in it, of which FOVEA_MUTATION=N chooses one at run
time: one build serves all. Mutations that do not compile are left out."""

import glob
import os
import random
import re
import subprocess

from operators import enumerators, mutations
from sites import find_sites, masked

FOLDERS = ("autodiff", "decode", "emit", "fuse", "graph", "group", "kernel", "lower", "ops",
           "optimize", "plan", ".")
# What prints, what checks, and what everything is compared with.
EXCLUDED = re.compile(r"/(print|evaluate|verify|describe|what_it|without_llvm)[^/]*$")
HEADER = "codegen/base/mutant.h"
CHOICE = """// Which mutation runs.
#pragma once

#include <cstdlib>

inline bool mutant(int number) {
    static const char* const text = std::getenv("FOVEA_MUTATION");
    static const int chosen = text ? std::atoi(text) : 0;
    return chosen == number;
}
"""


def sources(tree):
    found = []
    for folder in FOLDERS:
        deep = folder == "emit"
        pattern = f"{tree}/codegen/{folder}/{'**/' if deep else ''}*.cpp"
        found += [os.path.relpath(f, tree) for f in glob.glob(pattern, recursive=deep)]
    return sorted(f for f in set(found) if not EXCLUDED.search(f))


def committed(tree, file):
    command = ["git", "show", f"HEAD:{file}"]
    return subprocess.run(command, cwd=tree, capture_output=True, check=True).stdout.decode()


def draw(tree, count, seed):
    """That many mutations, no two of which overlap; the same for the same sources and seed."""
    rng = random.Random(seed)
    every, texts = [], {}
    for file in sources(tree):
        texts[file] = committed(tree, file)
        every += [(file, site) for site in find_sites(texts[file])]
    rng.shuffle(every)
    drawn = []
    for file, site in every:
        if len(drawn) == count:
            break
        overlaps = any(d["file"] == file and site.first < d["last"] and d["first"] < site.last
                       for d in drawn)
        text, code = texts[file], masked(texts[file])
        before = text[site.begin : site.end]
        made = mutations(site.kind, before, code[site.begin : site.end], enumerators(code))
        if overlaps or not made:
            continue
        operator = rng.choice(sorted(made))
        drawn.append({
            "number": len(drawn) + 1, "file": file, "line": text.count("\n", 0, site.begin) + 1,
            "kind": site.kind, "operator": operator, "before": before,
            "after": rng.choice(made[operator]), "first": site.first, "last": site.last,
        })
    return drawn


def with_choice(mutation, whole):
    """The text of the site with both forms."""
    chosen, before, after = f"::mutant({mutation['number']})", mutation["before"], mutation["after"]
    if mutation["kind"] == "condition":
        return f"({chosen} ? bool({after}) : bool({before}))"
    if mutation["kind"] == "value":
        return f"({chosen} ? ({after}) : ({before}))"
    if mutation["kind"] == "return":
        return f"{{ if ({chosen}) return {after}; {whole} }}"
    return f"{{ if ({chosen}) {{ {after}; }} else {{ {whole} }} }}"


def write(tree, drawn, originals):
    """Writes all files that have mutations; the places of each in them are by file."""
    places = {}
    by_file = {}
    for mutation in drawn:
        by_file.setdefault(mutation["file"], []).append(mutation)
    for file, text in originals.items():
        made, at = f'#include "{HEADER}"\n' if file in by_file else "", 0
        for mutation in sorted(by_file.get(file, []), key=lambda m: m["first"]):
            made += text[at : mutation["first"]]
            first_line = made.count("\n") + 1
            made += with_choice(mutation, text[mutation["first"] : mutation["last"]])
            at = mutation["last"]
            place = (first_line, made.count("\n") + 1, mutation["number"])
            places.setdefault(file, []).append(place)
        write_if_changed(f"{tree}/{file}", made + text[at:])
    write_if_changed(f"{tree}/{HEADER}", CHOICE)
    return places


def write_if_changed(path, text):
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def culprits(output, places):
    """The mutations that an error of the compiler stands in, or all of the file it stands in."""
    found = set()
    for file, line in re.findall(r"(codegen/[\w/.]+\.cpp):(\d+):\d+: error", output):
        inside = {n for first, last, n in places.get(file, []) if first <= int(line) <= last}
        found |= inside
    if not found:
        for file in re.findall(r"(codegen/[\w/.]+\.cpp):\d+:\d+: error", output):
            found |= {n for _, _, n in places.get(file, [])}
    return found


def build(tree, folder, drawn, targets, jobs, leave_out):
    """Builds with what of `drawn` compiles, and returns that; `leave_out` is told of the others."""
    originals = {file: committed(tree, file) for file in sources(tree)}
    while True:
        places = write(tree, drawn, originals)
        run = subprocess.run(["ninja", "-C", folder, f"-j{jobs}", "-k0", *targets], cwd=tree,
                             capture_output=True, text=True)
        if run.returncode == 0:
            return drawn
        bad = culprits(run.stdout, places)
        if not bad:
            raise SystemExit("the build fails, and by no mutation:\n" + run.stdout[-5000:] +
                             run.stderr)
        leave_out(sorted(bad))
        drawn = [m for m in drawn if m["number"] not in bad]
