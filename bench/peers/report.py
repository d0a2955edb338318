"""What run.py measured, as the tables of the documentation."""

from workers import NAMES

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


def as_text(results):
    """The tables of README.md and of the page, which has the ratios to ours too, in brackets."""
    tables = [figures_table(results, with_ratio) for with_ratio in (False, True)]
    return "\n\n".join([*tables, what_was_measured(results)])
