"""Writes small tokenizers, each with a few texts, for tests that have no Python.

    python3 make_small.py tests/golden/tokens
"""
import json
import os
import sys

import families
import make_cases
import texts

TEXTS = ["", " ", "Hello, world! It's 2024.", "  two  spaces\n\n\tand tabs ", "naïve café ﬁancé",
         "e\u0301 \u212b \u1e9b\u0323", "日本語と漢字、한국어", "👩‍👩‍👧 👍🏽", "नमस्ते ABC", "<s>[MASK]</s> x",
         "don't WE'LL I'VE", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "\u0000\u200b\ufeff▁"]
SMALL = [families.gpt2, families.llama3, families.qwen, families.llama2, families.mistral, families.gemma,
         families.bert_uncased, families.t5, families.xlm_roberta, families.words_nfd]


def main():
    folder = sys.argv[1]
    families.SIZES.update({"bytes": 300, "words": 120, "pieces": 330, "letters": 30})
    rules = families.nmt_rules
    families.nmt_rules = lambda lines: {key: text for key, text in rules([]).items()
                                        if key in "ﬁﬂ²™\t\u3000\u200b" or len(key) > 1}
    lines = texts.SENTENCES[:4] + texts.SENTENCES[-4:]
    for family in SMALL:
        tokenizer = family(lines)
        with open(os.path.join(folder, family.__name__ + ".json"), "w", encoding="utf-8") as file:
            file.write(tokenizer.to_str() + "\n")
        added = [token.content for token in tokenizer.get_added_tokens_decoder().values()]
        with open(os.path.join(folder, family.__name__ + ".jsonl"), "w", encoding="utf-8") as file:
            for text in [*TEXTS, " x ".join(added[:6])]:
                file.write(json.dumps(make_cases.case(tokenizer, text)) + "\n")


main()
