"""Texts that tokenizers are learnt from and compared on: ordinary ones, and what goes wrong."""
import glob
import os
import random

SENTENCES = """\
The quick brown fox jumps over the lazy dog, doesn't it? I'll say it's 3.14159 or 1,000,000.
Ich weiß nicht, ob die Größe stimmt; das Übermaß an Straßenlärm läßt mich nicht schlafen.
L'été dernier, nous avons mangé des œufs à la crème brûlée près du château de Chenonceau.
¿Dónde está el niño que compró cigüeñas en la montaña? ¡Ojalá lo supiéramos mañana!
Съешь же ещё этих мягких французских булок, да выпей чаю. Ёжик в тумане.
Ο ταχύς βρώμικος σκύλος πήδηξε· ΟΔΥΣΣΕΥΣ και ΣΊΣΥΦΟΣ ήταν εκεί.
זה עברית עם נִקּוּד וגם בלי. שָׁלוֹם עוֹלָם!
هذا نصٌّ عربيٌّ مع تشكيلٍ وأرقام ١٢٣٤٥٦٧٨٩٠، أليس كذلك؟
यह हिन्दी का एक वाक्य है जिसमें संयुक्ताक्षर क्ष, त्र और ज्ञ हैं। ०१२३४५६७८९
তারা বাংলায় কথা বলে। தமிழ் மொழி மிகவும் பழமையானது. తెలుగు భాష.
ภาษาไทยไม่มีการเว้นวรรคระหว่างคำ ๑๒๓๔๕ ບໍ່ມີຫຍັງ
我能吞下玻璃而不伤身体。漢字與假名混在一起，標點符號也要測試！１２３４５
私はガラスを食べられます。それは私を傷つけません。ｶﾞｷﾞｸﾞｹﾞｺﾞ ㋿㍿
나는 유리를 먹을 수 있어요. 그래도 아프지 않아요. 각 각
Tiếng Việt có rất nhiều dấu thanh: ắ ằ ẳ ẵ ặ ấ ầ ẩ ẫ ậ ớ ờ ở ỡ ợ.
İstanbul'da ılık bir İLKBAHAR günü; ŞIMARIK çocuklar. ǅ ǈ ǋ ǲ
Übung macht den Meister ﬁnal ﬂow oﬃce ½ ¼ ² ³ ™ © ® № ℃ Å Ω K ſ ẞ
👩‍👩‍👧‍👦 family, 👍🏽 thumbs, 🏳️‍🌈 flag, 🇩🇪🇫🇷🇯🇵, ❤️ heart, ☀️ ©️ ✌🏿 🧑‍🚀
if (x[i] >= 0 && y != NULL) { printf("%d\\n", *p++); }  // comment\t\ttabs
def f(x):\n    return {k: v**2 for k, v in x.items() if k not in ("a", 'b')}
https://example.com/path?query=1&other=%20#fragment user@example.org +49 (0)30 1234-5678
''' ``quoted'' "double" ‘single’ “curly” «guillemets» 「日本」 — dash – en - hyphen…
""".splitlines()

SPACES = " \t\n\r\v\f\x1c\x85\xa0\u1680\u2000\u2003\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u034f\u061c\u180e\ufe0f\u2581\ufffd\u0000\u0001\x1b\x7f\x9f"
MARKS = ("\u0300\u0301\u0308\u030a\u0323\u0327\u0328\u0334\u0345\u035c\u05b0\u05bc\u0651\u093c\u094d\u0e38"
         "\u0f71\u0f74\u1dce\u20d0\u20dd\u302a\u3099\u309a\ufe20\U0001d165\U0001d16e\U00011938\u0903\u0b3e")
LETTERS = "eaoiunstrEAOIUSTßſKİıΣσςﬁǅéüñçșа́йѐ가각ᄀ각क्षকো한漢字かなカナｶﾞ"
SIGNS = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~¡«¿‘’“”…—–·§¶†‡•‰€£¥©®™°±×÷≠≤≥∞√∑∫←↑→↓↔♥☃✓。、！？（）"
DIGITS = "0123456789٠١٢०१२๑๒①②ⅣⅫ½²³𝟘𝟙零一二"
WORDS = ["don't", "I'LL", "we'Ve", "'S", "'ſ", "it's", "ain't 'tis", "do not", " n't", "<unk>", "##ing",
         "<0x41>", "<0xE2>", "▁", "▁▁", "Ġ", "Ċ", "12345678", "3.14", "www", "aaaaaaaaaaaaaaaaaaaaaaaa",
         "unbelievably", "reconstruction", "  ", "   ", "\r\n", "\n\n", "\n \n", " \n  x", "?!", "...", "“‘"]


def ordinary(root):
    """Lines of the project's own pages and sources, and sentences of many languages."""
    lines = list(SENTENCES)
    for pattern in ("*.md", "*/README.md", "models/*.cpp", "runtime/text/*.cpp", "tools/*.sh"):
        for path in sorted(glob.glob(os.path.join(root, pattern))):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            lines += [line for line in text.split("\n") if line.strip()]
            lines += [text[i:i + 700] for i in range(0, min(len(text), 14000), 700)]
    return lines


def any_character(draw):
    """One of all planes, unassigned ones among them."""
    plane = draw.random()
    if plane < 0.3:
        return chr(draw.randrange(0x20, 0x7F))
    if plane < 0.5:
        return chr(draw.randrange(0x80, 0x800))
    if plane < 0.75:
        c = draw.randrange(0x800, 0x10000)
        return chr(c) if not 0xD800 <= c <= 0xDFFF else "\ufffd"
    if plane < 0.95:
        return chr(draw.randrange(0x10000, 0x20000))
    return chr(draw.randrange(0x20000, 0x110000))


def drawn(draw, lines, added):
    """One text made at random."""
    kind = draw.randrange(12)
    if kind == 0:
        return "".join(any_character(draw) for _ in range(draw.randrange(40)))
    if kind == 1:
        return "".join(draw.choice(draw.choice((SPACES, SPACES, LETTERS, SIGNS, "ab")))
                       for _ in range(draw.randrange(30)))
    if kind == 2:  # marks on letters
        return "".join(draw.choice(LETTERS) + "".join(draw.choices(MARKS, k=draw.randrange(4)))
                       for _ in range(draw.randrange(15)))
    if kind == 3:
        return draw.choice(("", " ", "  ")).join(draw.choices(WORDS, k=draw.randrange(1, 8)))
    if kind == 4:  # one long word
        alphabet = draw.choice(("ab", "abcdefghijklmnopqrstuvwxyz", LETTERS, DIGITS, "漢字かなカナ", SIGNS))
        return "".join(draw.choices(alphabet, k=draw.randrange(1, 400)))
    if kind == 5:
        parts = [draw.choice(draw.choice((lines, WORDS, list(SPACES), added or WORDS)))[:30]
                 for _ in range(draw.randrange(1, 8))]
        return draw.choice(("", " ")).join(parts)
    if kind == 6:
        return "".join(draw.choice(draw.choice((SPACES, INVISIBLE, MARKS, LETTERS, SIGNS, DIGITS)))
                       for _ in range(draw.randrange(30)))
    line = draw.choice(lines)
    begin = draw.randrange(len(line))
    part = line[begin:begin + draw.randrange(1, 120)]
    if kind == 7:
        return part.upper() if draw.random() < 0.5 else part.title()
    if kind == 8:  # a character more here and there
        chars = list(part)
        for _ in range(draw.randrange(1, 5)):
            chars.insert(draw.randrange(len(chars) + 1),
                         draw.choice(draw.choice((SPACES, INVISIBLE, MARKS, SIGNS, DIGITS))))
        return "".join(chars)
    if kind == 9 and added:
        at = draw.randrange(len(part) + 1)
        return part[:at] + draw.choice(("", " ", "  ")) + draw.choice(added) + draw.choice(
            ("", " ", "\n ")) + part[at:]
    if kind == 10:
        return draw.choice(("", " ", "\n")).join(draw.choices(lines, k=2))[:400]
    return part


def texts(seed, count, root, added):
    draw = random.Random(seed)
    lines = ordinary(root)
    return ["", " ", "a", "\n", *[drawn(draw, lines, added) for _ in range(count - 4)]]


def every_character():
    """Each character between letters and behind a mark, many in a text."""
    points = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
    for begin in range(0, len(points), 40):
        chunk = [chr(c) for c in points[begin:begin + 40]]
        yield "".join("a" + c for c in chunk) + "b"
        yield "\u0323" + "".join(c + "\u0301" for c in chunk) + "b"
