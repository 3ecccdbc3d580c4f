"""Tokenizers that show what one normalizer or one pre-tokenizer gives: a function each."""
from tokenizers import Regex, normalizers, pre_tokenizers

from families import byte_level, precompiled, word_level


def visible(name, normalizer):
    """A token for each byte of what a normalizer gives."""
    def family(lines):
        tokenizer = byte_level([], size=256)
        tokenizer.normalizer = normalizer or precompiled(lines)
        return tokenizer
    family.__name__ = "visible_" + name
    return family


BERT = {"clean_text": False, "handle_chinese_chars": False, "strip_accents": False, "lowercase": False}
VISIBLE = [visible(name, normalizer) for name, normalizer in (
    ("nfc", normalizers.NFC()), ("nfd", normalizers.NFD()), ("nfkc", normalizers.NFKC()),
    ("nfkd", normalizers.NFKD()), ("lowercase", normalizers.Lowercase()), ("nmt", normalizers.Nmt()),
    ("strip_accents", normalizers.StripAccents()), ("strip", normalizers.Strip()),
    ("bert_clean", normalizers.BertNormalizer(**{**BERT, "clean_text": True})),
    ("bert_chinese", normalizers.BertNormalizer(**{**BERT, "handle_chinese_chars": True})),
    ("bert_accents", normalizers.BertNormalizer(**{**BERT, "strip_accents": True})),
    ("precompiled", None))]


def cut(name, pre_tokenizer):
    """A token for each piece of what a pre-tokenizer gives."""
    def family(lines):
        return word_level(lines, None, pre_tokenizer)
    family.__name__ = "cut_" + name
    return family


CUT = [cut(name, pre_tokenizer) for name, pre_tokenizer in (
    ("whitespace", pre_tokenizers.Whitespace()), ("spaces", pre_tokenizers.WhitespaceSplit()),
    ("bert", pre_tokenizers.BertPreTokenizer()), ("punctuation", pre_tokenizers.Punctuation()),
    ("digits", pre_tokenizers.Digits()),
    *((name, pre_tokenizers.Split(Regex(pattern), "isolated")) for name, pattern in (
        ("categories", "|".join(r"\p{%s}" % c for c in (
            "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co").split())),
        ("letters_of_patterns", r"\p{L}+|\p{N}|\p{M}+|[\p{P}\p{S}]+"), ("words_of_patterns", r"\w+|\s"),
        ("digits_of_patterns", r"\d"), ("scripts", r"\p{Han}|\p{Hiragana}|\p{Greek}|\p{Latin}|[\p{Arabic}]"),
        ("other_scripts", r"\p{Katakana}|\p{Hangul}|\p{Cyrillic}|[^\p{C}\p{M}\p{L}]"))))]

FAMILIES = [*VISIBLE, *CUT]
