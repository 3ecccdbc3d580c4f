#!/usr/bin/env python3
"""Writes tests/golden/byte_pairs: pieces that SentencePiece learnt, and what it makes of sentences.

For each case NAME.json, a file of pieces, and NAME.source.tsv and NAME.target.tsv, lines of a
sentence, a tab, and SentencePiece's pieces with a space between them. Needs sentencepiece.
"""
import argparse
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))
import learn_bpe  # noqa: E402

ODD = ["", "  two   spaces\u00a0and\u202fothers ", "Zürich, 日本 and ☃☃!",
       "<unk> <pad> <0x41>", "\u2581a\u2581", "ΟΔΟΣ İ", "aaaaaaaaaaaaaaaa", "don't...", "don’t", "q", "e\u0301", "\U0001f600 ok?"]


def write_case(name, sides, pieces, cased=False, byte_fallback=False, joint=False):
    folder = ROOT / "tests/golden/byte_pairs"
    learnt = {}
    for side, sentences in sides.items():
        prepared = [learn_bpe.prepare(text, cased)
                    for text in (sum(sides.values(), []) if joint else sentences)]
        processor = learn_bpe.learn(prepared, pieces, byte_fallback=byte_fallback)
        learnt[side] = [processor.id_to_piece(i) for i in range(processor.get_piece_size())]
        lines = []
        for text in ODD + sentences[::5]:
            cut = processor.encode(learn_bpe.prepare(text, cased), out_type=str)
            lines.append(text + "\t" + " ".join(cut) + "\n")
        (folder / f"{name}.{side}.tsv").write_text("".join(lines), encoding="utf-8")
    tokens = "cased_byte_pairs" if cased else "byte_pairs"
    text = json.dumps({"tokens": tokens, **learnt}, ensure_ascii=False)
    (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def main():
    argparse.ArgumentParser(description=__doc__.split("\n\n")[0]).parse_args()
    source, target = learn_bpe.read_pairs(ROOT / "models/transformer/corpus.tsv", None)
    sides = {"source": source, "target": target}
    write_case("words", sides, 300)
    write_case("cased", sides, 800, cased=True, byte_fallback=True, joint=True)


if __name__ == "__main__":
    main()
