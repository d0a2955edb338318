#!/usr/bin/env python3
"""Checks that each link within the documentation's site leads somewhere.

usage: check_site.py HTML_FOLDER

Prints `page: link` for each that does not.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("href", "src", "data") and value:
                self.links.append(value)
            elif name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value)


def main():
    folder = Path(sys.argv[1])
    pages = {one.name: Page(one.read_text(errors="replace")) for one in folder.glob("*.html")}
    broken = set()
    links = 0
    for name, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            links += 1
            to = unquote(parts.path) or name
            there = (folder / to).exists()
            if there and parts.fragment and to in pages:
                there = unquote(parts.fragment) in pages[to].anchors
            if not there:
                broken.add(f"{name}: {link}")
    print("\n".join([*sorted(broken), f"{len(pages)} pages, {links} links, {len(broken)} broken"]))
    # A folder without pages is not a site.
    sys.exit(1 if broken or len(pages) < 50 else 0)


if __name__ == "__main__":
    main()
