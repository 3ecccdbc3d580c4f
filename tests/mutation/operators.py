"""What a mutation does to a text: each operator gives the texts that it may make of one."""

import re

SWAPS = {
    "comparison": [(" == ", " != "), (" != ", " == "), (" < ", " <= "), (" <= ", " < "),
                   (" > ", " >= "), (" >= ", " > "), (" < ", " > ")],
    "arithmetic": [(" + ", " - "), (" - ", " + "), (" * ", " + "), (" / ", " * "), (" % ", " / "),
                   (" += ", " -= "), (" | ", " & "), (" & ", " | "), (" << ", " >> ")],
    "logic": [(" && ", " || "), (" || ", " && ")],
    "extremum": [("std::max(", "std::min("), ("std::min(", "std::max("), ("any_of(", "all_of("),
                 ("all_of(", "any_of(")],
    "truth": [("true", "false"), ("false", "true")],
}


def replaced(text, code, pattern, change):
    """One text for each match of the pattern in the code without strings."""
    made = []
    for match in re.finditer(pattern, code):
        new = change(match)
        if new != match.group():
            made.append(text[: match.start()] + new + text[match.end() :])
    return made


def swaps(rows):
    def apply(text, code):
        made = []
        for old, new in rows:
            pattern = re.escape(old)
            if old[0].isalpha():
                pattern = r"\b" + pattern + (r"\b" if old[-1].isalpha() else "")
            made += replaced(text, code, pattern, lambda _, new=new: new)
        return made

    return apply


def off_by_one(text, code):
    number = r"(?<![\w.])\d+(?![\w.])"
    more = replaced(text, code, number, lambda m: str(int(m.group()) + 1))
    less = replaced(text, code, number, lambda m: str(max(int(m.group()) - 1, 0)))
    count = r"\b[\w.]+(->[\w.]+)*\.(rank|size)\(\)"
    counts = replaced(text, code, count, lambda m: f"({m.group()} - 1)")
    return more + less + counts


def exchanged_operands(text, code):
    word = r"[\w.]+"
    call = replaced(text, code, rf"(\w+)\(({word}), ({word})\)",
                    lambda m: f"{m.group(1)}({m.group(3)}, {m.group(2)})")
    infix = replaced(text, code, rf"(?<![\w.)]) ?({word}) (-|/|%|<|>) ({word})(?![\w.(\[])",
                     lambda m: m.group().replace(f"{m.group(1)} {m.group(2)} {m.group(3)}",
                                                 f"{m.group(3)} {m.group(2)} {m.group(1)}"))
    return call + infix


def other_enumerator(text, code, names):
    """Another of the enumerators that the file has of the same type."""
    def pick(match):
        others = sorted(names.get(match.group(1), set()) - {match.group(2)})
        return f"{match.group(1)}::{others[len(text) % len(others)]}" if others else match.group()

    return replaced(text, code, r"\b([A-Z]\w*)::([a-z]\w*)\b(?!\()", pick)


def negated(text, _):
    return [f"!({text})"]


def enumerators(code):
    names = {}
    for kind, name in re.findall(r"\b([A-Z]\w*)::([a-z]\w*)\b(?!\()", code):
        names.setdefault(kind, set()).add(name)
    return names


def mutations(kind, text, code, names):
    """By operator, what it makes of a text, whose `code` has blanks for strings."""
    made = {name: swaps(rows)(text, code) for name, rows in SWAPS.items()}
    made["off by one"] = off_by_one(text, code)
    made["operands"] = exchanged_operands(text, code)
    made["enumerator"] = other_enumerator(text, code, names)
    if kind == "condition":
        made["negation"] = negated(text, code)
    if kind == "statement":
        made["dropped"] = [""]
    return {name: texts for name, texts in made.items() if texts}
