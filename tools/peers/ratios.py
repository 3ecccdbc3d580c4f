"""What turns of fovea and of its peers on a GPU say: quantiles, ratios, a table. No peer is needed
for it: `python3 ratios.py REPORT.json` prints the table of a report.

A row of the report has, beside what is measured (suite, name, pass, dtype, dims, flops), `turns`:
for `ours` and each way of the peer the milliseconds of each round, and `failed`: what a way said
that does not run here."""
import json
import statistics
import sys


def quantiles(values):
    """{median, p10, p90}"""
    ordered = sorted(values)
    last = len(ordered) - 1
    return {"median": statistics.median(ordered), "p10": ordered[last // 10],
            "p90": ordered[last - last // 10]}


def summed_up(row):
    """The row with milliseconds and TFLOP/s of each side, the ratio of each way of the peer, peer /
    fovea round by round, and `best`, the peer's fastest way; without ratios where it has none."""
    ours = row["turns"]["ours"]
    sides = {name: {"ms": quantiles(turns),
                    "tflops": row["flops"] / statistics.median(turns) / 1e9}
             for name, turns in row["turns"].items()}
    ways = [name for name in sides if name != "ours"]
    for name in ways:
        sides[name]["ratio"] = quantiles(
            [peer / mine for mine, peer in zip(ours, row["turns"][name])])
    best = min(ways, key=lambda name: sides[name]["ms"]["median"], default=None)
    return {**row, "sides": sides, "best": best}


def line_of(row):
    """The cells of a row of the table."""
    dims = " ".join(f"{name}={size}" for name, size in row["dims"].items())
    ours = row["sides"]["ours"]
    cells = [f"{row['suite']}: {row['name']}", row["dtype"], row["pass"], dims,
             f"{ours['ms']['median']:.3f}", f"{ours['tflops']:.1f}"]
    if row["best"] is None:
        return cells + ["", "", "", "none runs here"]
    best = row["sides"][row["best"]]
    others = ", ".join(f"{name} {row['sides'][name]['ratio']['median']:.2f}"
                       for name in row["sides"] if name not in ("ours", row["best"]))
    return cells + [f"{best['tflops']:.1f}", f"{best['ratio']['median']:.2f}",
                    f"{best['ratio']['p10']:.2f} to {best['ratio']['p90']:.2f}",
                    row["best"] + (f" ({others})" if others else "")]


def table(rows):
    """Rows that are summed up as text; a ratio above 1: fovea is faster."""
    head = ["", "dtype", "pass", "dims", "ours ms", "TFLOP/s", "peer's", "ratio", "p10 to p90",
            "peer's best (ratios of the others)"]
    lines = [head, *(line_of(row) for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    justify = [str.ljust] * 4 + [str.rjust] * 4 + [str.ljust] * 2
    return "\n".join("  ".join(put(cell, width) for put, cell, width in
                               zip(justify, line, widths)).rstrip() for line in lines)


def failures(rows):
    """What did not run, each reason once, as lines."""
    said = {}
    for row in rows:
        for way, text in row.get("failed", {}).items():
            said.setdefault(f"{way}, {row['suite']} {row['pass']}: {text}", row["name"])
    return [f"does not run here ({name}): {text}" for text, name in said.items()]


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: ratios.py REPORT.json")
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = [summed_up(row) for row in json.load(file)["results"]]
    print("\n".join([table(rows), *failures(rows)]))


if __name__ == "__main__":
    main()
