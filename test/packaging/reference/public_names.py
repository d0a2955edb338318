"""Which names C++ headers make public, found without a compiler and without Doxygen.

Enough of a parser for declarations in the style of this library: it does not expand macros, and it
takes one declarator a declaration.
"""

import re
from collections import Counter

SKIPPED = r"//[^\n]*|/\*.*?\*/|^[ \t]*#(?:[^\n\\]|\\.)*|\s+"
TOKEN = r'"(?:[^"\\\n]|\\.)*"|[0-9][\w\'.]*|\'(?:[^\'\\]|\\.)+\'|\w+|::|->|<=>|[=!<]=|.'
MACRO = r"^#define ((?!\w*_HPP$|HOLDFAST_EXPORT\b)HOLDFAST_\w+)"  # no include guard, no attribute
CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}
NOT_A_FUNCTION = {"alignas", "decltype", "explicit", "noexcept", "requires", "static_assert"}
KINDS = {"class", "struct", "union"}


class Names:
    """`found` counts qualified names, `hidden` has those that are not public; `bases` maps classes to
    their public base classes."""

    def __init__(self, text):
        pattern = re.compile(f"(?P<skipped>{SKIPPED})|(?:{TOKEN})", re.M | re.S)
        self.tokens = [m[0] for m in pattern.finditer(text) if m["skipped"] is None]
        self.found = Counter(re.findall(MACRO, text, re.M))
        self.hidden = set()
        self.bases = {}
        self.scope(0, "", "public")

    def skip(self, at):
        """The place after the bracket that matches the one here."""
        closing = CLOSING[self.tokens[at]]
        at += 1
        while self.tokens[at] != closing:
            token = self.tokens[at]
            nests = token in CLOSING and (token != "<" or closing == ">")
            at = self.skip(at) if nests else at + 1
        return at + 1

    def add(self, scope, name, is_public):
        qualified = f"{scope}::{name}" if scope else name
        if is_public:
            self.found[qualified] += 1
        else:
            self.hidden.add(qualified)

    def scope(self, at, scope, access):
        while at < len(self.tokens) and self.tokens[at] != "}":
            if self.tokens[at] in ("public", "protected", "private") and self.tokens[at + 1] == ":":
                access = self.tokens[at] if access != "hidden" else access
                at += 2
            else:
                at = self.declaration(at, scope, access == "public")
        return at + 1

    def declaration(self, at, scope, is_public):
        words = []  # outside of brackets
        name = None  # of a function
        initializing = False
        while (token := self.tokens[at]) != ";":
            if token == "operator":
                end = at + 1
                while self.tokens[end] != "(" or end == at + 1:
                    end += 1
                symbol = "".join(self.tokens[at + 1 : end])
                name = token + (" " if symbol[0].isalpha() else "") + symbol
                at = self.skip(end)
            elif token == "(" and name is None and words and words[-1] not in NOT_A_FUNCTION:
                name = "".join(words[-2:]) if words[-2:-1] == ["~"] else words[-1]
                at = self.skip(at)
            elif token == "{" and words and words[0] == "namespace":
                return self.scope(at + 1, "::".join(filter(None, (scope, *words[1::2]))), "public")
            elif token == "{" and name is None and "enum" in words:
                at = self.enumeration(at, scope, words, is_public)
            elif token == "{" and name is None and KINDS.intersection(words):
                at = self.class_body(at, scope, words, is_public)
            elif token == "{" and name and not (initializing and words[-1] not in (")", "}")):
                self.add(scope, name, is_public)
                return self.skip(at)
            elif token in CLOSING:
                at = self.skip(at)
                words += [CLOSING[token]] if initializing else []
            elif token == "=":
                while self.tokens[at] != ";":
                    nests = self.tokens[at] in "([{"
                    at = self.skip(at) if nests else at + 1
                words.append("=")
            else:
                initializing = initializing or (token == ":" and name is not None)
                words.append(token)
                at += 1
        self.declared(scope, words, name, is_public)
        return at + 1

    def declared(self, scope, words, name, is_public):
        """What ended with a semicolon, and is neither a class nor an enumeration."""
        only_named = {*KINDS, "enum", "friend", "namespace", "static_assert"}
        if name:
            self.add(scope, name, is_public)
        elif words[-1:] == ["="] and "namespace" not in words:
            self.add(scope, words[-2], is_public)
        elif words and words[0] != "using" and not only_named.intersection(words):
            self.add(scope, words[-1], is_public)

    def class_body(self, at, scope, words, is_public):
        head = " ".join(words).replace(" :: ", "::").split(" : ")
        name = head[0].removesuffix(" final").split()[-1]
        qualified = f"{scope}::{name}" if scope else name
        self.add(scope, name, is_public)
        for base in " : ".join(head[1:]).split(" , "):
            if base.startswith("public "):
                self.bases.setdefault(qualified, []).append(base.split()[-1])
        access = "private" if "class" in words else "public"
        end = self.scope(at + 1, qualified, access if is_public else "hidden")
        words.clear()
        words.append("class")
        return end

    def enumeration(self, at, scope, words, is_public):
        name = " ".join(words).split(" : ")[0].split()[-1]
        self.add(scope, name, is_public)
        end = self.skip(at)
        for before, token in zip(self.tokens[at:end], self.tokens[at + 1 : end - 1]):
            if before in "{,":
                self.add(f"{scope}::{name}", token, is_public)
        return end


def public_names(texts):
    """Counts the macros, and the names in namespace holdfast outside of `detail`. A class has also
    the names of its public base classes, those in `detail` included."""
    found, hidden, bases = Counter(), set(), {}
    for names in map(Names, texts):
        found += names.found
        hidden |= names.hidden
        bases |= names.bases
    own = Counter(found)
    for derived, base in ((d, f"holdfast::{b}") for d in bases for b in bases[d]):
        special = base.split("::")[-1]  # its constructors and its destructor are not inherited
        for name, count in own.items():
            member = name.removeprefix(f"{base}::")
            inherited = member != name and member.removeprefix("~") != special
            if inherited and f"{derived}::{member}" not in hidden:
                found[f"{derived}::{member}"] += count
    is_public = re.compile("HOLDFAST_|holdfast::(?!detail(::|$))").match
    return Counter({name: count for name, count in found.items() if is_public(name)})
