#!/usr/bin/env python3
"""Checks that Doxygen's XML has every public name, and says about it what the reference promises.

usage: check_reference.py XML_FOLDER [HEADER_WITH_GAPS]

Which names are public is read from the headers in `include`. Each violation is printed as `name:
what is missing`. With a second argument the XML is that of a header with gaps: each `// gap: name:
what is missing` in it must be found, and nothing else.
"""

import re
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

from public_names import public_names

INCLUDE = Path(__file__).parents[3] / "include"
ASYNCHRONOUS = {"Token", "Body"}  # the names of these template parameters


def text_of(element):
    return " ".join("".join(element.itertext()).split()) if element is not None else ""


def headings_of(entity):
    """The paragraphs of a comment by heading; `@par Completion, errors` is two of them."""
    thrown = "detaileddescription//parameterlist[@kind='exception']//parameterdescription/para"
    found = {"errors": entity.findall(thrown)}
    for section in entity.findall("detaileddescription//simplesect[@kind='par']"):
        for title in text_of(section.find("title")).lower().split(","):
            found.setdefault(title.strip(), []).extend(section.findall("para"))
    return found


class Reference:
    def __init__(self, folder):
        index = ElementTree.parse(folder / "index.xml").getroot()
        kinds = ("namespace", "class", "struct", "union", "concept")
        ours = [c for c in index if re.match(r"holdfast(::|$)", c.findtext("name"))]

        def parse(compound):
            file = ElementTree.parse(folder / (compound.get("refid") + ".xml"))
            return file.getroot().find("compounddef")

        self.compounds = [parse(c) for c in ours if c.get("kind") in kinds]
        headers = [parse(c) for c in index if c.get("kind") == "file"]
        self.macros = [m for h in headers for m in h.iter("memberdef") if m.get("kind") == "define"]
        self.members = {m.get("id"): m for c in self.compounds for m in c.iter("memberdef")}
        self.described = Counter()
        self.violations = []

    def missing(self, name, what):
        self.violations.append(f"{name}: {what}")

    def says(self, entity, heading, seen=()):
        """Whether there is text under the heading; "As `f()`" counts if f says it in the end."""
        paragraphs = headings_of(entity).get(heading, [])
        text = " ".join(map(text_of, paragraphs))
        if not text.startswith("As "):
            return text != ""
        links = [ref.get("refid") for para in paragraphs for ref in para.iter("ref")]
        named = [self.members[link] for link in links if link in self.members]
        functions = [m for m in named if m.get("kind") == "function" and m not in seen]
        return any(self.says(m, heading, (*seen, entity)) for m in functions if m is not entity)

    def check_name(self, name, entity, arguments=""):
        self.described[name] += 1
        if not text_of(entity.find("briefdescription")):
            self.missing(name + arguments, "brief description")

    def check_function(self, name, function, is_free):
        if function.findtext("argsstring").endswith("=delete"):
            return
        parameters = text_of(function.find("templateparamlist"))
        asynchronous = not ASYNCHRONOUS.isdisjoint(re.findall(r"\w+", parameters))
        asynchronous = asynchronous or "awaitable" in text_of(function.find("type"))
        cannot_fail = function.get("noexcept") == "yes" or function.findtext("name").startswith("~")
        needed = ["completion", "cancellation", "lifetimes"] if asynchronous else []
        needed += ["errors"] if asynchronous or not cannot_fail else []
        needed += ["thread safety"] if is_free else []
        for heading in needed:
            if not self.says(function, heading):
                self.missing(name, heading)

    def check_compound(self, compound):
        name = compound.findtext("compoundname")
        self.check_name(name, compound)
        is_namespace = compound.get("kind") == "namespace"
        functions = 0
        for member in compound.iter("memberdef"):
            arguments = (member.findtext("argsstring") or "").split(" -> ")[0]
            friend_class = member.get("kind") == "friend" and not arguments
            if member.get("prot") != "public" or friend_class:
                continue
            member_name = f"{name}::{member.findtext('name')}"
            is_function = arguments.startswith("(") and member.get("kind") in ("function", "friend")
            self.check_name(member_name, member, arguments * is_function)
            for enumerator in member.findall("enumvalue"):
                self.check_name(f"{member_name}::{enumerator.findtext('name')}", enumerator)
            if is_function:
                functions += 1
                self.check_function(member_name + arguments, member, is_namespace)
        if functions and not is_namespace and not self.says(compound, "thread safety"):
            self.missing(name, "thread safety")

    def check(self, headers):
        for compound in self.compounds:
            self.check_compound(compound)
        for macro in self.macros:
            self.check_name(macro.findtext("name"), macro)
        public = public_names(header.read_text(encoding="utf-8") for header in headers)
        if not public:
            self.missing("the headers", "no public name")
        for name in public - self.described:
            self.missing(name, "not in the reference")


def main(folder, header_with_gaps=None):
    reference = Reference(Path(folder))
    reference.check([Path(header_with_gaps)] if header_with_gaps else INCLUDE.rglob("*.hpp"))
    wrong = reference.violations
    if header_with_gaps:
        gaps = re.findall(r"// gap: (.*)", Path(header_with_gaps).read_text(encoding="utf-8"))
        wrong = [f"not found: {gap}" for gap in gaps if gap not in reference.violations]
        wrong += [f"no gap: {found}" for found in reference.violations if found not in gaps]
        print(*wrong, f"{len(gaps)} gaps, {len(wrong)} misjudged", sep="\n")
    else:
        print(*wrong, f"{reference.described.total()} names, {len(wrong)} violations", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
