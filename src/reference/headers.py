#!/usr/bin/env python3
"""Prints a public header as Doxygen is to read it; the lines keep their numbers.

usage: headers.py HEADER
"""

import re
import sys
from pathlib import Path

# A specialisation in another namespace is not ours to describe.
SPECIALISATION = re.compile(
    r"^template <[^;{]*?\b(?:class|struct) (?:boost|fmt|std)::[^;{]*\{(?:\}|.*?^\});", re.M | re.S
)


def filtered(text):
    text = SPECIALISATION.sub(lambda found: "\n" * found[0].count("\n"), text)
    # The text of a heading may follow it on the same line, after some spaces.
    text = re.sub(r"^( */// @par [A-Z][a-z, ]*[a-z])  +", r"\1 \\ilinebr ", text, flags=re.M)
    # The opening of a group is not a part of the comment below it.
    return re.sub(r"^( *)/// (@[{}])$", r"\1/** \2 */", text, flags=re.M)


if __name__ == "__main__":
    print(filtered(Path(sys.argv[1]).read_text(encoding="utf-8")), end="")
