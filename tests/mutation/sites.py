"""Places in C++ files where a mutation may stand: conditions, statements, results, initial
values."""

import re
from dataclasses import dataclass

KEYWORDS = ("if", "while", "for", "switch")
NO_EXPRESSIONS = ("using ", "static_assert", "break", "continue", "throw", "goto ", "delete ")


@dataclass(frozen=True)
class Site:
    kind: str  # condition, return, statement, value
    begin: int
    end: int  # of the text that is mutated, without `return` and `;`
    first: int
    last: int  # of the text that is replaced: the whole statement, or the same


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def masked(text):
    """The text with blanks for comments, strings, characters and directives."""
    pattern = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''
        r"|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*",
        re.S | re.M,
    )
    return pattern.sub(lambda m: blank(m.group()), text)


def closing(code, at):
    """Where the bracket at `at` is closed."""
    pairs = {"(": ")", "{": "}", "[": "]"}
    depth = 0
    for i in range(at, len(code)):
        if code[i] in pairs:
            depth += 1
        elif code[i] in ")}]":
            depth -= 1
            if depth == 0:
                return i
    return len(code)


def end_of_statement(code, at):
    """The `;` that ends the statement at `at`, or the end of the text."""
    while at < len(code) and code[at] != ";":
        at = closing(code, at) + 1 if code[at] in "({[" else at + 1
        if at < len(code) and code[at] == "}":
            return len(code)
    return at


def end_of_value(code, at, end):
    """Where the next name of a declaration follows, or the end."""
    while at < end and code[at] != ",":
        at = closing(code, at) + 1 if code[at] in "({[" else at + 1
    return min(at, end)


def opens_code(code, brace):
    """Whether a function, a lambda or a controlled block starts at this brace."""
    before = code[:brace].rstrip()
    if before.endswith(")"):
        return True
    return bool(re.search(r"(\)\s*(const|noexcept|override)|\belse|\bdo|-> [\w:<>*&, ]+)$", before))


class Finder:
    def __init__(self, code):
        self.code, self.sites = code, []

    def add(self, kind, begin, end, first=None, last=None):
        text = self.code[begin:end]
        begin += len(text) - len(text.lstrip())
        if begin < end and not re.search(r"\b(fail|refuse|throw|\w*Error)\b", text):
            whole = (begin if first is None else first, end if last is None else last)
            self.sites.append(Site(kind, begin, end, *whole))

    def header(self, word, open_at, close_at):
        inside = self.code[open_at + 1 : close_at]
        parts = inside.split(";")
        if word == "for" and len(parts) == 3:
            begin = open_at + 1 + len(parts[0]) + 1
            self.add("condition", begin, begin + len(parts[1]))
        declares = re.match(r"\s*(const\s+)?[\w:<>]+[*&]*\s+[*&]*\w+\s*=[^=]", inside)
        if word in ("if", "while") and len(parts) == 1 and not declares:
            self.add("condition", open_at + 1, close_at)
        self.lambdas(open_at + 1, close_at)

    def lambdas(self, begin, end):
        at = begin
        while at < end:
            if self.code[at] == "{" and opens_code(self.code, at):
                at = self.block(at + 1) + 1
            else:
                at += 1

    def statement(self, at, end):
        text = self.code[at:end]
        if text.startswith("return "):
            self.add("return", at + 7, end, at, end + 1)
        elif not text.startswith(NO_EXPRESSIONS):
            self.assignment_or_call(at, end, text)
        self.lambdas(at, end)

    def assignment_or_call(self, at, end, text):
        head = re.match(r"[^=(]*", text).group()
        names_type = bool(re.match(r"[\w:<>,*& ]*[\w>*&]\s+[*&]*[\w\[\], ]+\s*$", head))
        assigned = re.match(r"[^=({]*?[^=<>!]=(?=[^=])", text)
        if assigned and names_type and not re.search(r"[+*|&/-]=$", assigned.group()):
            value = at + assigned.end()
            if not re.match(r"\s*[\[{]", self.code[value:end]):
                self.add("value", value, end_of_value(self.code, value, end))
        elif not names_type and (assigned or text.endswith(")")):
            self.add("statement", at, end, at, end + 1)

    def block(self, at):
        """Statements up to the closing brace, whose place it returns."""
        code = self.code
        while at < len(code) and code[at] != "}":
            word = re.compile(r"[A-Za-z_]\w*").match(code, at)
            name = word.group() if word else ""
            if code[at].isspace() or code[at] == ";":
                at += 1
            elif code[at] == "{":
                at = self.block(at + 1) + 1
            elif name in KEYWORDS:
                open_at = code.index("(", at)
                close_at = closing(code, open_at)
                if "constexpr" not in code[at:open_at]:
                    self.header(name, open_at, close_at)
                at = close_at + 1
            elif name in ("else", "do"):
                at = word.end()
            elif name in ("case", "default"):
                at = re.compile(r"[^:]*(::[^:]*)*:").match(code, at).end()
            else:
                end = end_of_statement(code, at)
                self.statement(at, end)
                at = end + 1
        return at

    def find(self):
        at = 0
        while at < len(self.code):
            if self.code[at] == "{" and opens_code(self.code, at):
                at = self.block(at + 1)
            at += 1
        return self.sites


def find_sites(text):
    """All of a file; those in lambdas lie inside others."""
    return Finder(masked(text)).find()
