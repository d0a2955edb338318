#!/usr/bin/env python3
"""Reads the documentation's site as its readers do, in a browser without a window.

usage: browse_site.py HTML_FOLDER

Opens each page, and prints each link that leads nowhere, each image that is not shown, and each
error of a script. Asks the search, and looks for the answers to readers' questions by clicking. Before
that it plants faults in a copy of a page, to see that they are found.
"""

import shutil
import sys
import tempfile
from pathlib import Path
from urllib.parse import unquote, urldefrag

from playwright.sync_api import Error, sync_playwright

# What a reader looks for on the first page, and where it is found.
QUESTIONS = {
    "failover": "md_failures.html",
    "test": "md_testing.html",
    "monitor": "md_monitoring.html",
}
# What is typed, and what is clicked on then.
SEARCHES = {
    "failover": ["failover", "When something fails: Failover to a replica"],
    "with_lea": ["with_lease"],
    "blocked": ["blocked", "When something fails: The holder is paused or blocked"],
}

# A fault, and the beginning of what is reported for it.
FAULTS = {
    '<img src="nowhere.png">': "not loaded: nowhere.png",
    '<object data="nowhere.svg"></object>': "not loaded: nowhere.svg",
    '<a href="nowhere.html">a</a>': "leads nowhere: nowhere.html",
    '<a href="../outside.html">c</a>': "leads nowhere: file://",
    '<a href="index.html#nowhere">b</a>': "leads nowhere: index.html#nowhere",
    "<script>nobody_has_defined_this();</script>": "script error: nobody_has_defined_this",
    "<script>console.error('it went wrong');</script>": "console error: it went wrong",
    "<script>document.body.append(Object.assign(document.createElement('a'), {href: 'made.html'}))"
    "</script>": "leads nowhere: made.html",
    '<img src="data:image/png;base64,AAAA">': "not shown: data:image/png",
}

LINKS = "[...document.querySelectorAll('a[href]')].map(a => a.href)"
ANCHORS = "[...document.querySelectorAll('[id], a[name]')].flatMap(e => [e.id, e.name ?? ''])"
# The browser knows an image's size when it was able to read it.
NOT_SHOWN = "[...document.images].filter(i => !(i.complete && i.naturalWidth)).map(i => i.src)"


class Site:
    def __init__(self, browser, folder):
        self.folder = folder.resolve()
        self.page = browser.new_page()
        self.page.set_default_timeout(10_000)
        self.name, self.faults, self.anchors, self.links = "", [], {}, {}
        self.page.on("pageerror", lambda error: self.fault(f"script error: {error.message}"))
        self.page.on("requestfailed", self.failed)
        self.page.on("console", self.console)

    def failed(self, request):
        # On a slow machine something may still be on its way when the next page is opened.
        if request.failure != "net::ERR_ABORTED":
            self.fault(f"not loaded: {self.short(request.url)}")

    def console(self, message):
        # A resource that is not loaded is reported above, with its name.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.fault(f"console error: {message.text}")

    def fault(self, what):
        self.faults.append(f"{self.name}: {what}")

    def short(self, url):
        return unquote(url).removeprefix(f"file://{self.folder}/")

    def open(self, name):
        self.name = name
        self.page.goto(f"file://{self.folder}/{name}")
        self.page.wait_for_selector("#nav-tree-contents a", state="attached")

    def read(self, name):
        self.open(name)
        self.anchors[name] = set(self.page.evaluate(ANCHORS))
        self.links[name] = {self.short(link) for link in self.page.evaluate(LINKS)}
        for image in map(self.short, self.page.evaluate(NOT_SHOWN)):
            if f"{name}: not loaded: {image}" not in self.faults:
                self.fault(f"not shown: {image}")

    def check_links(self):
        for self.name, links in self.links.items():
            for link in links:
                path, anchor = urldefrag(link)
                known = self.anchors.get(path, {anchor})
                outside = link.startswith(("http:", "https:", "javascript:"))
                if not outside and not (anchor in {"", *known} and (self.folder / path).exists()):
                    self.fault(f"leads nowhere: {link}")

    def search(self, text, clicks):
        self.open("index.html")
        self.page.locator("#MSearchField").press_sequentially(text)
        results = self.page.frame_locator("#MSearchResults")
        try:
            # Each letter begins another search.
            self.page.wait_for_function(f"searchBox.lastSearchValue == '{text}'")
            with self.page.expect_navigation():
                for click in clicks:
                    results.locator("a:visible").get_by_text(click, exact=True).first.click()
        except Error as error:
            self.fault(f"the search for {text} does not lead to {clicks[-1]}: {error.message}")

    def ask(self, question, answer):
        self.open("index.html")
        rows = self.page.locator(".contents tr", has_text=question)
        try:
            rows.locator(f"a[href='{answer}']").first.click()
            self.page.wait_for_url(f"**/{answer}")
        except Error as error:
            self.fault(f"{question} does not lead to {answer}: {error.message}")


def check_the_check(browser, folder):
    """What it finds is what was planted, neither less nor more."""
    with tempfile.TemporaryDirectory() as place:
        copy = Path(shutil.copytree(folder, Path(place) / "site"))
        text = (copy / "index.html").read_text(encoding="utf-8")
        faulty = text.replace("</body>", "\n".join(FAULTS) + "</body>")
        (copy / "faulty.html").write_text(faulty, encoding="utf-8")
        site = Site(browser, copy)
        site.read("index.html")
        site.read("faulty.html")
        site.check_links()
        site.page.set_default_timeout(2_000)
        site.search("failover", ["no such answer"])
        site.ask("failover", "no_such_page.html")
        expected = [f"faulty.html: {fault}" for fault in FAULTS.values()]
        expected += ["index.html: the search for failover", "index.html: failover does not lead"]
        missed = [e for e in expected if not any(f.startswith(e) for f in site.faults)]
        wrong = [f for f in site.faults if not any(f.startswith(e) for e in expected)]
        for line in [*(f"not found: {m}" for m in missed), *(f"no fault: {w}" for w in wrong)]:
            print(line)
        print(f"{len(expected)} planted faults, {len(missed) + len(wrong)} misjudged")
        return not missed and not wrong


def main(folder):
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium-headless-shell")
        browser = playwright.chromium.launch(executable_path=chromium)
        if not check_the_check(browser, folder):
            return 1
        site = Site(browser, folder)
        names = sorted(file.name for file in folder.glob("*.html"))
        for name in names:
            site.read(name)
        site.check_links()
        for search in SEARCHES.items():
            site.search(*search)
        for question in QUESTIONS.items():
            site.ask(*question)
        links = sum(map(len, site.links.values()))
        for fault in sorted(set(site.faults)):
            print(fault)
        asked = f"{len(SEARCHES)} searches, {len(QUESTIONS)} questions"
        print(f"{len(names)} pages, {links} links, {asked}, {len(site.faults)} faults")
        # A folder without pages is not a site.
        return 1 if site.faults or len(names) < 50 else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1])))
