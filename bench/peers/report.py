#!/usr/bin/env python3
"""Shows what run.py measured: as a text, as the tables of the documentation, and as a picture."""

import argparse
import json
import pathlib
import sys

import picture
from facts import FACTS
from workers import NAMES, ROOT

RESULTS = ROOT / "build" / "peers" / "results.json"
PUBLISHED = ROOT / "bench" / "peers" / "published.json"
IMAGE = pathlib.Path("src/reference/images/comparison.svg")
README = pathlib.Path("README.md")
PAGE = pathlib.Path("src/reference/pages/comparison.md")
BEGIN, END = "<!-- comparison -->", "<!-- /comparison -->"

# What run.py measures: a short name, the question, its unit.
FIGURES = {
    "pair": ("acquire and release without competition, median", "µs"),
    "many_keys": ("1 000 workers of one process, each its own lock", "pairs/s"),
    "many_keys_cpu": ("the same, the client's processor time a pair", "µs"),
    "hand_over": ("hand-over to a waiter in another process, median", "µs"),
    "taken_back": ("of two processes, the releasing one has it again at once", "%"),
    "commands": ("8 processes on one lock, sent to the server for each grant", "commands"),
    "killed_holder": ("a killed holder's successor, after the end of the lease", "ms"),
    "parked": ("what a parked waiter sends to the server", "commands/s"),
}


def in_digits(value):
    """Three significant ones at most, thousands apart, as the documentation writes numbers."""
    value = float(f"{value:.3g}")
    if value >= 1000 or value == int(value):
        return f"{int(value):,}".replace(",", " ")
    return f"{value:g}"


def in_words(figure, value):
    return f"{in_digits(value)} {FIGURES[figure][1]}"


def cell(results, figure, name, with_ratio):
    one = results["figures"].get(figure, {}).get(name)
    if one is None:
        return "not measured"
    ratio = f" ({in_digits(one['ratio'])})" if with_ratio and name != NAMES[0] and one["ratio"] else ""
    return in_words(figure, one["median"]) + ratio


def table(head, rows):
    return "\n".join(
        f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows]
    )


def figures_table(results, with_ratio):
    rows = [
        [question, *(cell(results, figure, name, with_ratio) for name in NAMES)]
        for figure, (question, _) in FIGURES.items()
    ]
    return table(["", *NAMES], rows)


def facts_table():
    return table(["", *NAMES], [[what, *has] for what, has in FACTS])


def what_was_measured(results):
    versions = ", ".join(f"{name} {version}" for name, version in results["versions"].items())
    text = [
        f"Measured on {results['date']}: {versions}; redis-server {results['server']} over TCP on the",
        f"loopback interface, {results['cpus']} CPUs.",
    ]
    text += [f"{name} was left out: {why}." for name, why in results["absent"].items()]
    text += [
        f"A worker for {name} did not answer in {count} of the rounds of `{question}`, which do not count."
        for name, failed in results["failures"].items()
        for question, count in failed.items()
    ]
    return " ".join(text)


def for_readme(results):
    if results is None:
        return "`./dev bench --peers` measures them side by side."
    return "\n\n".join(
        [
            f"![holdfast beside other libraries: bars for each figure of the table]({IMAGE})",
            figures_table(results, with_ratio=False),
            what_was_measured(results),
        ]
    )


def for_page(results):
    if results is None:
        return "`./dev bench --peers` measures them. No figures are published."
    return "\n\n".join(
        [
            "![bars for each figure of the table](../images/comparison.svg)",
            figures_table(results, with_ratio=True),
            "In brackets: how many times ours, the median of the ratios of all rounds. "
            + what_was_measured(results),
        ]
    )


def between_markers(text, inside):
    before, begin, rest = text.partition(BEGIN + "\n")
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{BEGIN} and {END} are not both there")
    return f"{before}{begin}{inside}\n{end}{after}"


def documents(results, root=ROOT):
    """{file: what it should be}."""
    files = {
        README: between_markers((root / README).read_text(), for_readme(results)),
        PAGE: between_markers(
            (root / PAGE).read_text(), f"{facts_table()}\n\n{for_page(results)}"
        ),
    }
    if results is not None:
        files[IMAGE] = picture.svg(results, FIGURES, in_words, NAMES)
    return files


def published(root=ROOT):
    """The results that the documents show, or None."""
    file = root / PUBLISHED.relative_to(ROOT)
    return json.loads(file.read_text()) if file.exists() else None


def publish(results, root=ROOT):
    if results["quick"]:
        raise ValueError("these are figures of a quick run, which say nothing")
    for file, text in documents(results, root).items():
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(text)
    kept = json.dumps(results, indent=2, ensure_ascii=False) + "\n"
    (root / PUBLISHED.relative_to(ROOT)).write_text(kept)


def as_text(results):
    lines = []
    for figure, (question, _) in FIGURES.items():
        if figure in results["figures"]:
            lines.append(question)
        for name in results["figures"].get(figure, {}):
            lines.append(f"    {name:16} {cell(results, figure, name, with_ratio=True)}")
    lines.append(what_was_measured(results))
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--publish", action="store_true", help="write figures and picture into the documentation"
    )
    parser.add_argument("--results", type=pathlib.Path, default=RESULTS, metavar="FILE")
    options = parser.parse_args()
    if not options.results.exists():
        sys.exit(f"there is no {options.results}: run ./dev bench --peers first")
    results = json.loads(options.results.read_text())
    drawn = options.results.with_name("comparison.svg")
    drawn.write_text(picture.svg(results, FIGURES, in_words, NAMES))
    print(drawn)
    if options.publish:
        try:
            publish(results)
        except ValueError as error:
            sys.exit(f"not published: {error}")
        print("\n".join(map(str, [README, PAGE, IMAGE, PUBLISHED.relative_to(ROOT)])))


if __name__ == "__main__":
    main()
