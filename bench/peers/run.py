#!/usr/bin/env python3
"""Compares holdfast with other libraries for locks on Redis, and writes the figures to a file.

The libraries take turns in each round, so a machine that is slow for a while slows all of them. What
is shown are the medians of the rounds, and of the ratios to ours of each round.
"""

import argparse
import contextlib
import datetime
import json
import os
import pathlib
import statistics
import sys

import questions
import report
from server import Server
from workers import BUILT, NAMES, ROOT, WorkerFailed

RESULTS = ROOT / "build" / "peers" / "results.json"


def warm_up_seconds(quick):
    return 0.5 if quick else 15


def reason_for_absence(name):
    told = BUILT / f"{name.lower()}.absent"
    if (BUILT / f"{name.lower()}.command").exists():
        return None
    return told.read_text().strip() if told.exists() else "it was not built"


def summary(rounds):
    """{figure: {name: {"median", "ratio"}}} of [{name: {figure: value}}]."""
    result = {}
    for figure in report.FIGURES:
        values = {}
        for one in rounds:
            for name, figures in one.items():
                if figure in figures:
                    ratio = None
                    if ours := one.get("holdfast", {}).get(figure):
                        ratio = figures[figure] / ours
                    values.setdefault(name, []).append((figures[figure], ratio))
        for name, pairs in values.items():
            ratios = [ratio for _, ratio in pairs if ratio is not None]
            result.setdefault(figure, {})[name] = {
                "median": round(statistics.median(value for value, _ in pairs), 4),
                "ratio": round(statistics.median(ratios), 4) if ratios else None,
            }
    return result


def ask_all(contestants, chosen, quick):
    """Returns the rounds, and {name: {question: rounds in which a worker failed}}."""

    def size(usual, small):
        return small if quick else usual

    rounds, failures = [], {}
    for question, count in questions.ALL:
        name = question.__name__
        if name not in chosen:
            continue
        for number in range(1 if quick else count):
            one = {}
            for who in contestants:
                print(f"{name}: round {number + 1}, {who.name}", file=sys.stderr)
                who.server.clear()
                try:
                    one[who.name] = question(who, size)
                except WorkerFailed:
                    print(f"{name}: a worker for {who.name} failed", file=sys.stderr)
                    failed = failures.setdefault(who.name, {})
                    failed[name] = failed.get(name, 0) + 1
                    who.start(warm_up_seconds(quick))
            rounds.append(one)
    return rounds, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="shows that it runs, not how fast")
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES, metavar="NAME")
    every = [question.__name__ for question, _ in questions.ALL]
    parser.add_argument("--questions", nargs="+", choices=every, default=every, metavar="NAME")
    parser.add_argument("--results", type=pathlib.Path, default=RESULTS, metavar="FILE")
    options = parser.parse_args()

    absent = {name: why for name in options.only if (why := reason_for_absence(name))}
    with Server() as server, contextlib.ExitStack() as stack:
        contestants, versions = [], {}
        for name in options.only:
            if name in absent:
                continue
            who = questions.Contestants(name, server)
            stack.callback(who.kill)
            print(f"warming up: {name}", file=sys.stderr)
            try:
                versions[name] = who.start(warm_up_seconds(options.quick))
                contestants.append(who)
            except WorkerFailed:
                absent[name] = "its worker does not start"
        rounds, failures = ask_all(contestants, options.questions, options.quick)
        results = {
            "date": datetime.date.today().isoformat(),
            "quick": options.quick,
            "cpus": len(os.sched_getaffinity(0)),
            "server": server.version(),
            "versions": versions,
            "absent": absent,
            "failures": failures,
            "figures": summary(rounds),
        }
    options.results.parent.mkdir(parents=True, exist_ok=True)
    options.results.write_text(json.dumps(results, indent=2, ensure_ascii=False) + "\n")
    print(report.as_text(results))


if __name__ == "__main__":
    main()
