"""Writes tokenizers like those of known models, and what the package `tokenizers` makes of texts.

    python3 make_cases.py FOLDER [--seed N] [--count N] [--every-character] [FAMILY...]

FAMILY.json is the tokenizer; FAMILY.jsonl has a line a text: [text, its ids with special tokens, its
ids without, the text of those with and without special tokens]; of drawn steps without the texts.
"""
import argparse
import json
import os

import drawn_steps
import families
import single_steps
import texts

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")


def case(tokenizer, text):
    ids, plain = tokenizer.encode(text).ids, tokenizer.encode(text, add_special_tokens=False).ids
    return [text, ids, plain, tokenizer.decode(ids, skip_special_tokens=False),
            tokenizer.decode(ids, skip_special_tokens=True)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("families", nargs="*")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--every-character", action="store_true",
                        help="texts of all characters of Unicode in the place of ordinary ones")
    given = parser.parse_intermixed_args()
    lines = texts.ordinary(ROOT)
    of_steps = drawn_steps.families(given.seed)
    for family in families.FAMILIES + single_steps.FAMILIES + of_steps:
        name = family.__name__
        if given.families and name not in given.families:
            continue
        tokenizer = family(lines)
        path = os.path.join(given.folder, name)
        tokenizer.save(path + ".json")
        added = [token.content for token in tokenizer.get_added_tokens_decoder().values()]
        if given.every_character:
            drawn = texts.every_character()
        elif family in of_steps:
            drawn = drawn_steps.texts(f"{name} {given.seed}", given.count)
        else:
            drawn = texts.texts(f"{name} {given.seed}", given.count, ROOT, added)
        with open(path + ".jsonl", "w", encoding="utf-8") as file:
            for text in drawn:
                # What steps make of a text is in its ids alone: added tokens come back changed.
                row = case(tokenizer, text)[:3 if family in of_steps else None]
                file.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
