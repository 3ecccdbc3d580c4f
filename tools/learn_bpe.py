#!/usr/bin/env python3
"""Learns byte pairs from sentence pairs with SentencePiece, for `train --bpe`.

    python3 tools/learn_bpe.py --data pairs.tsv --pieces 4000 -o pieces.json
    ./translator train --data pairs.tsv --bpe pieces.json --weights w.safetensors

Needs the package sentencepiece (`pip install sentencepiece`, or Debian's python3-sentencepiece).
What it writes is all that a translator needs: {"tokens", "source": [pieces], "target": [pieces]},
pieces in SentencePiece's order, which is that of the merges; pieces 0 to 3 are <unk> <pad> <bos>
<eos>. `--cased` keeps capitals and punctuation as they are; without it sentences are prepared as
those of a translator of words: no-break spaces to spaces, lower case, a space before , . ! ?
"""
import argparse
import io
import json
import sys

RESERVED = ["<unk>", "<pad>", "<bos>", "<eos>"]
WHITE_SPACE = " \t\n\v\f\r"  # what a translator splits words at


class Mistake(Exception):
    """One sentence for the user."""


def split_words(text):
    for character in WHITE_SPACE[1:]:
        text = text.replace(character, " ")
    return [word for word in text.split(" ") if word]


def prepare(sentence, cased):
    """The text that is cut into pieces: words with one space between them."""
    if not cased:
        text = sentence.replace("\u202f", " ").replace("\xa0", " ").lower()
        sentence = "".join(" " + c if c in ",.!?" and i > 0 and text[i - 1] != " " else c
                           for i, c in enumerate(text))
    return " ".join(split_words(sentence))


def read_pairs(path, limit):
    """([source sentences], [target sentences]) of a file with a tab-separated pair a line."""
    try:
        with open(path, encoding="utf-8-sig", newline="\n") as file:
            lines = [line.rstrip("\n").removesuffix("\r") for line in file]
    except OSError as error:
        raise Mistake(f"cannot read '{path}': {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise Mistake(f"'{path}' is not UTF-8: {error.reason} at byte {error.start + 1}") from error
    pairs = []
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        columns = line.split("\t")
        if len(columns) < 2:
            raise Mistake(f"{path}:{number}: one column, but a pair is a sentence, a tab and its "
                          "translation")
        pairs.append(columns[:2])
        if len(pairs) == limit:
            break
    if not pairs:
        raise Mistake(f"'{path}' holds no pair; a line is a sentence, a tab and its translation")
    return [list(side) for side in zip(*pairs)]


def load_sentencepiece():
    try:
        import sentencepiece
    except ImportError as error:
        raise Mistake("the Python package sentencepiece is missing: pip install sentencepiece, or "
                      "apt-get install python3-sentencepiece") from error
    return sentencepiece


def learn(sentences, pieces, coverage=1.0, byte_fallback=False):
    """A SentencePieceProcessor of at most `pieces` pieces, learnt from prepared sentences."""
    sentencepiece = load_sentencepiece()
    model = io.BytesIO()
    names = dict(zip(("unk_piece", "pad_piece", "bos_piece", "eos_piece"), RESERVED))
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences), model_writer=model, model_type="bpe",
        vocab_size=pieces, hard_vocab_limit=False, character_coverage=coverage,
        byte_fallback=byte_fallback, normalization_rule_name="identity",
        max_sentence_length=1 << 20, unk_id=0, pad_id=1, bos_id=2, eos_id=3, minloglevel=2, **names)
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


def learn_side(name, sentences, options):
    sentences = [text for text in (prepare(s, options.cased) for s in sentences) if text]
    if not sentences:
        raise Mistake(f"'{options.data}' has no {name} sentence with words")
    characters = len(set("".join(sentences))) + 1
    least = len(RESERVED) + characters + (256 if options.bytes else 0)
    try:
        processor = learn(sentences, options.pieces, options.coverage, options.bytes)
    except RuntimeError as error:
        if "Vocabulary size" not in str(error) and "vocab_size" not in str(error):
            raise Mistake(f"SentencePiece cannot learn the {name} pieces: {error}") from error
        raise Mistake(f"--pieces {options.pieces} does not suit the {name} sentences, which have "
                      f"{characters} characters: at least {least} are needed") from error
    pieces = [processor.id_to_piece(i) for i in range(processor.get_piece_size())]
    longest = max(len(processor.encode(text)) for text in sentences)
    print(f"{name}: {len(pieces)} pieces; the longest of {len(sentences)} sentences has {longest}")
    return pieces


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--data", required=True, metavar="F.tsv",
                        help="UTF-8, a pair a line: source, tab, target")
    parser.add_argument("--pieces", type=int, default=4000, metavar="N",
                        help="of each language, at most; all characters and the four reserved "
                        "pieces are among them (default 4000)")
    parser.add_argument("-o", "--output", required=True, metavar="F.json")
    parser.add_argument("--joint", action="store_true",
                        help="one list for both languages, as shared embeddings need it")
    parser.add_argument("--cased", action="store_true",
                        help="keep capitals and punctuation as they are")
    parser.add_argument("--bytes", action="store_true",
                        help="256 pieces more: what has no piece becomes its bytes, not <unk>")
    parser.add_argument("--coverage", type=float, default=1.0, metavar="X",
                        help="the share of characters that get a piece (default 1)")
    parser.add_argument("--pairs", type=int, metavar="N", help="the first N pairs (default all)")
    options = parser.parse_args()
    if options.pieces < 1 or (options.pairs is not None and options.pairs < 1):
        raise Mistake("--pieces and --pairs expect whole numbers from 1")
    if not 0.9 <= options.coverage <= 1:
        raise Mistake("--coverage expects a number from 0.9 to 1")
    return options


def main():
    options = parse_options()
    sources, targets = read_pairs(options.data, options.pairs)
    if options.joint:
        source = target = learn_side("source and target", sources + targets, options)
    else:
        source = learn_side("source", sources, options)
        target = learn_side("target", targets, options)
    tokens = "cased_byte_pairs" if options.cased else "byte_pairs"
    text = json.dumps({"tokens": tokens, "source": source, "target": target}, ensure_ascii=False)
    try:
        with open(options.output, "w", encoding="utf-8") as file:
            file.write(text + "\n")
    except OSError as error:
        raise Mistake(f"cannot write '{options.output}': {error.strerror}") from error


if __name__ == "__main__":
    try:
        main()
    except Mistake as mistake:
        print(f"learn_bpe: {mistake}", file=sys.stderr)
        sys.exit(2)
