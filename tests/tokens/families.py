"""Tokenizers like those of known models, learnt on the texts of this project: a function each."""
import base64
import json
import struct

from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers,
                        processors, trainers)

GPT4 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}%s| ?[^\s\p{L}\p{N}]+[\r\n]*"
        r"|\s*[\r\n]+|\s+(?!\S)|\s+")
CL100K = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*"
          r"|\s*[\r\n]|\s+(?!\S)|\s+")
O200K = "|".join([
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n/]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"])
DEEPSEEK = (r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
            r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
KIMI = (r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*"
        r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
        r"|\s*[\r\n]+|\s+(?!\S)|\s+")
CLIP = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
BLOOM = r" ?[^(\s|[.,!?…。，、।۔،])]+"


# Tokens of a vocabulary, and letters of an alphabet.
SIZES = {"bytes": 2000, "words": 4000, "pieces": 1500, "letters": 150}


def charsmap(rules):
    """SentencePiece's map of characters: a double-array trie (darts) and the texts."""
    texts, values = b"", {}
    for text in sorted(set(rules.values())):
        values[text] = len(texts)
        texts += text.encode() + b"\0"
    root = {}
    for key, text in rules.items():
        node = root
        for byte in key.encode():
            node = node.setdefault(byte, {})
        node[0] = values[text]
    units, taken = {0: 0}, {0}

    def place(node, at):
        offset = 1
        while any((at ^ offset ^ label) in taken for label in node):
            offset += 1
        assert offset < 1 << 21
        units[at] = units.get(at, 0) | offset << 10 | (0x100 if 0 in node else 0)
        taken.update(at ^ offset ^ label for label in node)
        for label, child in node.items():
            if label == 0:
                units[at ^ offset] = child | 1 << 31
            else:
                units[at ^ offset ^ label] = label
        for label, child in node.items():
            if label != 0:
                place(child, at ^ offset ^ label)

    place(root, 0)
    array = [units.get(i, 0) for i in range((max(units) | 255) + 1)]
    return struct.pack("<I", 4 * len(array)) + struct.pack(f"<{len(array)}I", *array) + texts


def nmt_rules(lines):
    """NFKC of single characters and of letters with a mark, and white space as a space."""
    nfkc = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC()])
    letters = {c for line in lines for c in line} | {chr(c) for c in range(1, 0x500)}
    keys = letters | {chr(c) for c in range(0x2000, 0x2200)} | {chr(c) for c in range(0xFB00, 0xFF70)}
    keys |= {a + b for a in "aeiouAEIOUnc©☀" for b in "\u0301\u0308\u0327\u0303\u200d\ufe0f"}
    rules = {key: nfkc.normalize_str(key) for key in keys if key not in "\0\n"}
    rules["\n"] = " "
    return {key: text for key, text in rules.items() if text != key}


def precompiled(lines):
    return normalizers.Precompiled(charsmap(nmt_rules(lines)))


def added(content, **options):
    return AddedToken(content, **{"normalized": False, **options})


def learnt(tokenizer, trainer, lines):
    tokenizer.train_from_iterator(lines, trainer)
    return tokenizer


def byte_level(lines, pattern=None, size=None, **options):
    """Byte-level BPE, cut by GPT-2's pattern or another."""
    tokenizer = Tokenizer(models.BPE(**options))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    if pattern:
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
            pre_tokenizers.Split(Regex(pattern), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=size or SIZES["bytes"], show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    learnt(tokenizer, trainer, lines)
    return tokenizer


def template(tokenizer, single, *names):
    pairs = [(name, tokenizer.token_to_id(name)) for name in names]
    return processors.TemplateProcessing(single=single, special_tokens=pairs)


def gpt2(lines):
    tokenizer = byte_level(lines)
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    tokenizer.add_special_tokens(["<|endoftext|>"])
    return tokenizer


def roberta(lines):
    tokenizer = byte_level(lines)
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.add_special_tokens(["<s>", "<pad>", "</s>", "<unk>", added("<mask>", lstrip=True)])
    tokenizer.post_processor = processors.RobertaProcessing(
        ("</s>", tokenizer.token_to_id("</s>")), ("<s>", tokenizer.token_to_id("<s>")))
    return tokenizer


def llama3(lines):
    tokenizer = byte_level(lines, GPT4 % "{1,3}", ignore_merges=True)
    tokenizer.add_special_tokens(["<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>"])
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(), template(tokenizer, "<|begin_of_text|> $A", "<|begin_of_text|>")])
    return tokenizer


def qwen(lines):
    tokenizer = byte_level(lines, GPT4 % "")
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.add_special_tokens(["<|endoftext|>", "<|im_start|>", "<|im_end|>"])
    tokenizer.add_tokens([added("<think>"), added("</think>"), added("<tool_call>")])
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    return tokenizer


def cl100k(lines):
    return byte_level(lines, CL100K)


def o200k(lines):
    return byte_level(lines, O200K)


def kimi(lines):
    return byte_level(lines, KIMI)


def bloom(lines):
    return byte_level(lines, BLOOM)


def deepseek(lines):
    tokenizer = byte_level(lines, DEEPSEEK)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(r"\p{N}{1,3}"), "isolated"),
        pre_tokenizers.Split(Regex("[一-龥぀-ゟ゠-ヿ]+"), "isolated"),
        pre_tokenizers.Split(Regex(DEEPSEEK), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.add_tokens([added("<｜User｜>"), AddedToken("<|Sep|>", normalized=True)])
    return tokenizer


def neox(lines):
    """Runs of spaces as added tokens, as GPT-NeoX and Phi have them, and words that stand alone."""
    tokenizer = byte_level(lines)
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.add_tokens([added(" " * n) for n in range(2, 8)])
    tokenizer.add_tokens([added("the", single_word=True), added("été", single_word=True),
                          added("don", rstrip=True, lstrip=True), AddedToken("Größe", normalized=True),
                          added("\n"), added("<br>", rstrip=True)])
    tokenizer.add_special_tokens(["<|endoftext|>", "<|padding|>"])
    return tokenizer


def clip(lines):
    tokenizer = Tokenizer(models.BPE(unk_token="<|endoftext|>", end_of_word_suffix="</w>"))
    tokenizer.normalizer = normalizers.Sequence([
        normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(CLIP), "removed", invert=True),
        pre_tokenizers.ByteLevel(add_prefix_space=False)])
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=SIZES["bytes"], show_progress=False, end_of_word_suffix="</w>",
                                  special_tokens=["<|startoftext|>", "<|endoftext|>"],
                                  initial_alphabet=[*alphabet])
    learnt(tokenizer, trainer, lines)
    tokenizer.post_processor = processors.RobertaProcessing(
        ("<|endoftext|>", 1), ("<|startoftext|>", 0), add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def with_bytes(lines, prepare, **options):
    """BPE that falls back to bytes, whose tokens are the model's alone."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, **options))
    prepare(tokenizer)
    special = ["<unk>", "<s>", "</s>"]
    trainer = trainers.BpeTrainer(vocab_size=SIZES["pieces"], show_progress=False,
                                  special_tokens=special + BYTES, limit_alphabet=SIZES["letters"])
    learnt(tokenizer, trainer, [word for line in lines for word in line.split(" ")])
    file = json.loads(tokenizer.to_str())
    file["added_tokens"] = [token for token in file["added_tokens"] if token["content"] in special]
    tokenizer = Tokenizer.from_str(json.dumps(file))
    tokenizer.post_processor = template(tokenizer, "<s> $A", "<s>")
    return tokenizer


def llama2(lines):
    def prepare(tokenizer):
        tokenizer.normalizer = normalizers.Sequence(
            [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
        tokenizer.decoder = decoders.Sequence([
            decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
            decoders.Strip(" ", 1, 0)])
    return with_bytes(lines, prepare, fuse_unk=True)


def mistral(lines):
    def prepare(tokenizer):
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace("▁", "first", False)
        tokenizer.decoder = decoders.Sequence([
            decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
            decoders.Strip(" ", 1, 0)])
    tokenizer = with_bytes(lines, prepare, fuse_unk=True)
    tokenizer.add_special_tokens(["[INST]", "[/INST]"])
    return tokenizer


def gemma(lines):
    def prepare(tokenizer):
        tokenizer.normalizer = normalizers.Replace(" ", "▁")
        tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
        tokenizer.decoder = decoders.Sequence(
            [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    tokenizer = with_bytes(lines, prepare, fuse_unk=True)
    tokenizer.add_tokens([added("\n\n"), added("<start_of_turn>"), added("▁▁")])
    return tokenizer


def unknown(lines, **options):
    """BPE of words with an unknown token, and some of the bytes."""
    tokenizer = Tokenizer(models.BPE(unk_token="[UNK]", **options))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer = trainers.BpeTrainer(vocab_size=800, show_progress=False, limit_alphabet=60,
                                  special_tokens=["[UNK]", *BYTES[:0xC8]])
    learnt(tokenizer, trainer, lines)
    tokenizer.decoder = decoders.BPEDecoder()
    return tokenizer


def unknown_apart(lines):
    return unknown(lines)


def unknown_fused(lines):
    return unknown(lines, fuse_unk=True, byte_fallback=True)


def subwords(lines):
    tokenizer = Tokenizer(models.BPE(unk_token="[UNK]", continuing_subword_prefix="##"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.BpeTrainer(vocab_size=1500, show_progress=False, special_tokens=["[UNK]"],
                                  continuing_subword_prefix="##", limit_alphabet=80)
    learnt(tokenizer, trainer, lines)
    tokenizer.decoder = decoders.WordPiece(prefix="##")
    return tokenizer


def bert(lines, **options):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(**options)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece(prefix="##")
    trainer = trainers.WordPieceTrainer(vocab_size=SIZES["pieces"], show_progress=False,
                                        limit_alphabet=2 * SIZES["letters"],
                                        special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    return learnt(tokenizer, trainer, lines)


def bert_uncased(lines):
    tokenizer = bert(lines, lowercase=True)
    tokenizer.post_processor = template(tokenizer, "[CLS] $A [SEP]", "[CLS]", "[SEP]")
    return tokenizer


def bert_cased(lines):
    tokenizer = bert(lines, lowercase=False)
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return tokenizer


def unigram(lines, normalizer, pre_tokenizer, decoder, byte_fallback=False):
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    trainer = trainers.UnigramTrainer(vocab_size=SIZES["pieces"], unk_token="<unk>", show_progress=False,
                                      special_tokens=["<pad>", "</s>", "<unk>", "<s>"])
    learnt(tokenizer, trainer, lines)
    tokenizer.decoder = decoder
    file = json.loads(tokenizer.to_str())
    if byte_fallback:
        file["model"]["byte_fallback"] = True
        file["model"]["vocab"] += [[byte, -20.0] for byte in BYTES]
    tokenizer = Tokenizer.from_str(json.dumps(file))
    tokenizer.post_processor = template(tokenizer, "$A </s>", "</s>")
    return tokenizer


def t5(lines):
    tokenizer = unigram(lines, precompiled(lines), pre_tokenizers.Metaspace("▁", "always"),
                        decoders.Metaspace("▁", "always"))
    tokenizer.add_special_tokens([added(f"<extra_id_{i}>", rstrip=i == 1) for i in range(3)])
    return tokenizer


def xlm_roberta(lines):
    return unigram(lines,
                   normalizers.Sequence([precompiled(lines), normalizers.Replace(Regex(" {2,}"), " ")]),
                   pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(),
                                            pre_tokenizers.Metaspace("▁", "always")]),
                   decoders.Metaspace("▁", "always"))


def albert(lines):
    return unigram(lines,
                   normalizers.Sequence([normalizers.Replace("``", '"'), normalizers.Replace("''", '"'),
                                         normalizers.NFKD(), normalizers.StripAccents(),
                                         normalizers.Lowercase()]),
                   pre_tokenizers.Metaspace("▁", "first"), decoders.Metaspace("▁", "first"))


def unigram_bytes(lines):
    return unigram(lines,
                   normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), normalizers.Strip()]),
                   pre_tokenizers.Metaspace("▁", "never"),
                   decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace("▁", "never")]), True)


def word_level(lines, normalizer, pre_tokenizer):
    tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    trainer = trainers.WordLevelTrainer(vocab_size=SIZES["words"], show_progress=False, special_tokens=["[UNK]"])
    return learnt(tokenizer, trainer, lines)


def words_nfd(lines):
    return word_level(lines, normalizers.Sequence([normalizers.NFD(), normalizers.Strip(left=True,
                                                                                       right=False)]),
                      pre_tokenizers.Sequence([pre_tokenizers.Whitespace(),
                                               pre_tokenizers.Digits(individual_digits=True)]))


def words_nfkd(lines):
    return word_level(lines, normalizers.Sequence([normalizers.NFKD(), normalizers.Lowercase()]),
                      pre_tokenizers.Sequence([pre_tokenizers.Punctuation("merged_with_previous"),
                                               pre_tokenizers.Digits(individual_digits=False),
                                               pre_tokenizers.CharDelimiterSplit(" ")]))


def words_nfkc(lines):
    return word_level(lines, normalizers.NFKC(),
                      pre_tokenizers.Sequence([pre_tokenizers.Punctuation("contiguous"),
                                               pre_tokenizers.Split(Regex(r"\s"), "merged_with_next")]))


def letters(lines):
    """Every character a token, those that are known."""
    tokenizer = word_level(lines, normalizers.NFC(), pre_tokenizers.Split(Regex("."), "isolated"))
    return tokenizer


def pieces_of_length(lines):
    return word_level(lines, None, pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(r"\w+"), "contiguous"), pre_tokenizers.FixedLength(3)]))


FAMILIES = [gpt2, roberta, llama3, qwen, cl100k, o200k, kimi, bloom, deepseek, neox, clip, llama2,
            mistral, gemma, unknown_apart, unknown_fused, subwords, bert_uncased, bert_cased, t5,
            xlm_roberta, albert, unigram_bytes, words_nfd, words_nfkd, words_nfkc, letters,
            pieces_of_length]
