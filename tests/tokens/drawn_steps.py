"""Tokenizers of normalizers and pre-tokenizers drawn at random around Metaspace, and texts for them:
which pieces start where the text starts."""
import random

from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

COUNT = 60
LETTERS = "abcABC é.▁-1<>\u0301XYsē½²2/fiÀ_"
PARTS = ["a", "b", "ab", "A ", "é", "e\u0301", " ", "  ", "<s>", "▁", "X", "½", "ﬁ", "1.", "À", "\u0301",
         "_", " a", "\t", "B<", "\u200b"]
BEHAVIORS = ["isolated", "removed", "merged_with_previous", "merged_with_next", "contiguous"]


def normalizer(draw):
    flag = lambda: draw.random() < 0.5
    make = draw.choice([
        lambda: normalizers.Prepend(draw.choice(["▁", "▁", "X", "XY", "▁X", " ", "<", "ab", "é"])),
        lambda: normalizers.Prepend("▁"),
        lambda: normalizers.Replace(" ", "▁"),
        lambda: normalizers.Replace(Regex(" +"), "▁"),
        lambda: normalizers.Replace("a", draw.choice(["", "bb", "▁"])),
        lambda: normalizers.Replace(Regex("^a"), "bX"),
        lambda: normalizers.Strip(flag(), flag()),
        normalizers.Lowercase, normalizers.NFC, normalizers.NFD, normalizers.NFKC, normalizers.NFKD,
        normalizers.StripAccents, normalizers.Nmt,
        lambda: normalizers.BertNormalizer(lowercase=flag(), strip_accents=flag())])
    return make()


def cutter(draw):
    make = draw.choice([
        lambda: pre_tokenizers.Split(draw.choice([" ", "a", "▁", "X", Regex("[ab]+"), Regex("X|▁")]),
                                     draw.choice(BEHAVIORS)),
        pre_tokenizers.Punctuation, pre_tokenizers.WhitespaceSplit,
        lambda: pre_tokenizers.Digits(draw.random() < 0.5),
        lambda: pre_tokenizers.FixedLength(draw.choice([1, 2, 3]))])
    return make()


def metaspace(draw):
    return pre_tokenizers.Metaspace(replacement=draw.choice("▁▁▁_X"), split=draw.random() < 0.6,
                                    prepend_scheme=draw.choice(["first", "first", "always", "never"]))


def tokenizer_of(draw):
    vocabulary = {letter: i for i, letter in enumerate(LETTERS)}
    tokenizer = Tokenizer(models.BPE({**vocabulary, "<unk>": len(vocabulary)}, [], unk_token="<unk>"))
    steps = [normalizer(draw) for _ in range(draw.choice([0, 1, 1, 2, 3]))]
    if steps:
        tokenizer.normalizer = normalizers.Sequence(steps) if len(steps) > 1 else steps[0]
    cuts = [cutter(draw) for _ in range(draw.choice([0, 0, 1, 2]))] + [metaspace(draw)]
    cuts += [draw.choice([cutter, metaspace])(draw) for _ in range(draw.choice([0, 0, 1]))]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(cuts) if len(cuts) > 1 else cuts[0]
    for content in draw.sample(["<s>", "a", "ab", "é", "B<", "X", "▁"], draw.choice([0, 1, 1, 2, 3])):
        flags = {name: draw.random() < 0.3 for name in ("lstrip", "rstrip", "single_word")}
        tokenizer.add_tokens([AddedToken(content, normalized=draw.random() < 0.5, **flags)])
    if draw.random() < 0.5:
        tokenizer.add_special_tokens(["<s>"])
    return tokenizer


def is_plain(tokenizer):
    """Whether added tokens stay apart, and none is empty, when they are normalized."""
    contents = [token.content for token in tokenizer.get_added_tokens_decoder().values()]
    if tokenizer.normalizer:
        contents = [tokenizer.normalizer.normalize_str(content) for content in contents]
    return "" not in contents and len(set(contents)) == len(contents)


def drawn(i, seed):
    def family(lines):
        draw = random.Random(f"steps {i} {seed}")
        tokenizer = tokenizer_of(draw)
        while not is_plain(tokenizer):
            tokenizer = tokenizer_of(draw)
        return tokenizer
    family.__name__ = f"drawn_{i}"
    return family


def texts(name, count):
    draw = random.Random(name)
    return [""] + ["".join(draw.choices(PARTS, k=draw.randint(1, 6))) for _ in range(4 * count)]


def families(seed):
    return [drawn(i, seed) for i in range(COUNT)]
