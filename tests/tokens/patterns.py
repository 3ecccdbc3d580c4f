"""Regular expressions made at random, and where the package `tokenizers` cuts texts at them.

    python3 patterns.py FILE [--seed N] [--count N]

A line a pattern: [pattern, [[text, its pieces], ...]].
"""
import argparse
import json
import random

from tokenizers import Regex, pre_tokenizers

import texts

ATOMS = ["a", "b", "c", " ", "é", "1", ".", r"\s", r"\S", r"\w", r"\W", r"\d", r"\p{L}", r"\P{L}", r"\p{N}",
         r"\p{Lu}", r"\p{M}", r"\p{P}", r"\p{^S}", r"[ab]", r"[^ab]", r"[a-c1-3]", r"[^\s\p{L}\p{N}]",
         r"[\r\n]", r"[^\r\n\p{L}]", r"[\p{L}&&[^a]]", r"[b[cé]]", r"\x{61}", r"\n", "漢", r"\.", "[-a]", "[a-]",
         r"[\w&&\D]", "[[:space:]b]", r"\u0062", "'"]
REPEATS = ["", "", "", "", "*", "+", "?", "*?", "+?", "??", "*+", "++", "?+", "{2}", "{1,2}", "{1,3}?", "{,2}",
           "{2,}", "{1,2}+"]
ALPHABET = "aaabbcABé 1239 '.,\n\r\t漢\u0301ſsS\u00a0"


def atom(draw, depth):
    kind = draw.random()
    if depth > 0 and kind < 0.12:
        return draw.choice(("(%s)", "(?:%s)", "(?>%s)", "(?i:%s)")) % either(draw, depth - 1)
    if depth > 0 and kind < 0.16:
        return draw.choice(("(?=%s)", "(?!%s)")) % either(draw, depth - 1)
    if kind < 0.19:
        return draw.choice(("(?<=%s)", "(?<!%s)")) % draw.choice(ATOMS)
    if kind < 0.21:
        return draw.choice(("^", "$", r"\A", r"\z"))
    return draw.choice(ATOMS)


def sequence(draw, depth):
    parts = []
    for _ in range(draw.randrange(1, 4)):
        part = atom(draw, depth)
        fixed = part.startswith(("(?=", "(?!", "(?<")) or part in ("^", "$", r"\A", r"\z")
        parts.append(part if fixed else part + draw.choice(REPEATS))
    return "".join(parts)


def either(draw, depth):
    return "|".join(sequence(draw, depth) for _ in range(draw.choice((1, 1, 2, 3))))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    given = parser.parse_args()
    draw = random.Random(given.seed)
    with open(given.file, "w", encoding="utf-8") as file:
        for _ in range(given.count):
            pattern = either(draw, 2)
            try:
                split = pre_tokenizers.Split(Regex(pattern), "isolated")
            except Exception:  # one that Oniguruma refuses
                continue
            cases = []
            for _ in range(12):
                text = "".join(draw.choices(ALPHABET, k=draw.randrange(14)))
                if draw.random() < 0.3:
                    text = "".join(texts.any_character(draw) for _ in range(6))
                try:
                    cases.append([text, [piece for piece, _ in split.pre_tokenize_str(text)]])
                except BaseException as error:  # of Rust: Oniguruma gives up
                    if isinstance(error, KeyboardInterrupt):
                        raise
            file.write(json.dumps([pattern, cases], ensure_ascii=False) + "\n")


main()
