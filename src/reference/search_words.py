#!/usr/bin/env python3
"""Lets the site's search find the words of the pages.

usage: search_words.py HTML_FOLDER

Doxygen's own search knows the names of the reference and the first words of titles. Each word of a
page is added to its tables, with the sections that have it.
"""

import json
import re
import sys
from collections import Counter, defaultdict
from html import escape
from html.parser import HTMLParser
from pathlib import Path

SECTIONS_OF_A_WORD = 10
HEADING = 100  # one word in a heading weighs as much as so many in the text


class Page(HTMLParser):
    """Counts words in each section."""

    def __init__(self, file):
        super().__init__()
        self.file, self.title, self.within, self.contents = file.name, "", "", 0
        self.sections = [[self.file, "", Counter()]]  # link, heading, words
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "div":
            if attrs.get("class") == "title":
                self.within = "title"
            elif self.contents or attrs.get("class") == "contents":
                self.contents += 1
        elif tag in ("h1", "h2", "h3"):
            self.within = "heading"
        elif attrs.get("class") == "anchor" and self.within == "heading":
            self.sections.append([f"{self.file}#{attrs['id']}", "", Counter()])

    def handle_endtag(self, tag):
        if tag == "div":
            self.contents = max(0, self.contents - 1)
        if tag in ("div", "h1", "h2", "h3"):
            self.within = ""

    def handle_data(self, data):
        if self.within == "title":
            self.title += data.strip()
        elif self.contents and self.within == "heading":
            self.sections[-1][1] += data.strip()
        elif self.contents:
            self.count(data, 1)

    def count(self, text, weight):
        for word in re.findall(r"[a-z][a-z0-9_]{2,}", text.lower()):
            self.sections[-1][2][word] += weight


def words_of(folder):
    """For each word the links and names of its sections, the best first."""
    found = defaultdict(list)
    sections = 0
    for file in sorted([folder / "index.html", *folder.glob("md_*.html")]):
        page = Page(file)
        for link, heading, words in page.sections:
            sections += 1
            name = page.title + (f": {heading}" if heading else "")
            for word in re.findall(r"[a-z][a-z0-9_]{2,}", (heading or page.title).lower()):
                words[word] += HEADING
            for word, weight in words.items():
                found[word].append((-weight, name, link))
    # A word that is everywhere, such as `the`, leads nowhere.
    return {w: sorted(where) for w, where in found.items() if len(where) < sections / 4}


def main(folder):
    search = folder / "search"
    data = (search / "searchdata.js").read_text(encoding="utf-8")
    letters = re.search(r'0: "([^"]*)"', data)[1]
    words = words_of(folder)
    for letter in sorted({word[0] for word in words} - set(letters)):
        number = f"all_{len(letters):x}"
        letters += letter
        page = (search / "all_0.html").read_text(encoding="utf-8").replace("all_0", number)
        (search / f"{number}.html").write_text(page, encoding="utf-8")
        (search / f"{number}.js").write_text("var searchData=\n[\n];\n", encoding="utf-8")
    data = re.sub(r'0: "[^"]*"', f'0: "{letters}"', data, count=1)
    (search / "searchdata.js").write_text(data, encoding="utf-8")

    # A page that was opened from a disk may not touch its frames: the click works, and is an error.
    script = search / "search.js"
    close = "parent.searchBox.CloseResultsWindow()"
    text = script.read_text(encoding="utf-8").replace(f"'{close}'", f"'try{{{close}}}catch(e){{}}'")
    script.write_text(text, encoding="utf-8")

    for number, letter in enumerate(letters):
        rows = []
        for word in sorted(word for word in words if word[0] == letter):
            best = words[word][:SECTIONS_OF_A_WORD]
            links = [[f"../{link}", 1, escape(name)] for _, name, link in best]
            rows.append(json.dumps([f"{word}_page", [word, *links]]))
        table = search / f"all_{number:x}.js"
        text = table.read_text(encoding="utf-8").rstrip().removesuffix("];").rstrip()
        comma = "" if text.endswith("[") or not rows else ","
        table.write_text(text + comma + "\n  " + ",\n  ".join(rows) + "\n];\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
