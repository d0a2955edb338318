#!/usr/bin/env python3
"""Plants bugs in a copy of the sources, one at a time, and shows which check finds each.

mutants.toml lists them: the file, the text that is there, the text that takes its place, and the
check that has to fail. A mutant that survives, or whose text is not there any more, is a failure.
With --check only the texts are looked for.
"""

import argparse
import concurrent.futures
import os
import pathlib
import queue
import re
import shutil
import subprocess
import sys
import time
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
COPIES = ROOT / "build" / "mutants"

SCHEDULES = 100_000
BUILD_LIMIT = 1200  # seconds
# Also beside a build. A check that takes longer hangs, and has found its mutant.
CHECK_LIMITS = {"simulate": 1800, "integration": 600, "wire": 600}
QUICK_LIMIT = 150  # of unit tests, and of stories in virtual time
# One source at a time, because one at a time changes. Compiling takes longer than checking.
BUILD_OPTIONS = [
    "-DHOLDFAST_BUILD_UNITY=OFF",
    "-DHOLDFAST_BUILD_BENCH=OFF",
    "-DHOLDFAST_BUILD_EXAMPLES=OFF",
    # No bug is planted in it.
    "-DHOLDFAST_BUILD_PROMETHEUS=OFF",
    "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG",
]


class Copy:
    """A tree of its own, with a build of its own."""

    def __init__(self, number, jobs):
        self.tree = COPIES / str(number)
        self.build = self.tree / "build" / "release"
        self.jobs = jobs
        self.environment = dict(
            os.environ, CCACHE_BASEDIR=str(self.tree), CCACHE_NOHASHDIR="1"
        )

    def update(self):
        """Brings the copy in step with the work tree; what did not change keeps its time."""
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            check=True,
            capture_output=True,
        ).stdout.decode()
        wanted = {name for name in listed.split("\0") if name and (ROOT / name).is_file()}
        for name in wanted:
            source, target = ROOT / name, self.tree / name
            if not target.is_file() or target.read_bytes() != source.read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)
                shutil.copymode(source, target)
        for old in self.tree.rglob("*"):
            inside = old.relative_to(self.tree)
            if old.is_file() and inside.parts[0] != "build" and str(inside) not in wanted:
                old.unlink()
        boost = self.tree / "build" / "boost"
        if (ROOT / "build" / "boost").is_dir() and not boost.exists():
            boost.parent.mkdir(parents=True, exist_ok=True)
            boost.symlink_to(ROOT / "build" / "boost")

    def configure(self):
        if not (self.build / "build.ninja").is_file():
            self.run(["cmake", "--preset", "release", *BUILD_OPTIONS], BUILD_LIMIT, check=True)

    def program(self, target):
        return next(path for path in self.build.rglob(target) if path.is_file())

    def make(self, target):
        return self.run(
            ["cmake", "--build", str(self.build), "-j", str(self.jobs), "--target", target],
            BUILD_LIMIT,
        )

    def run(self, command, limit, check=False):
        try:
            done = subprocess.run(
                command,
                cwd=self.tree,
                env=self.environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=limit,
            )
        except subprocess.TimeoutExpired as late:
            return -1, (late.stdout or b"").decode(errors="replace") + "\ntimed out"
        text = done.stdout.decode(errors="replace")
        if check and done.returncode != 0:
            sys.exit(text)
        return done.returncode, text


def program_of(check):
    """The target, and its arguments."""
    kind, _, rest = check.partition(" ")
    if kind == "simulate":
        # It stops at the first violation.
        where = ["--deployment", rest] if rest else []
        return kind, [*where, "--schedules", str(SCHEDULES), "--violations", "1", "--threads", "1"]
    return kind.replace("/", "_"), ["--color_output=no", *(["--run_test=" + rest] if rest else [])]


def check_of(mutant):
    return mutant.get("check", "simulate")


def run_check(copy, check):
    target, arguments = program_of(check)
    limit = CHECK_LIMITS.get(re.split("[ /]", check)[0], QUICK_LIMIT)
    return copy.run([str(copy.program(target)), *arguments], limit)


def verdict(check, text):
    if check.startswith("simulate"):
        found = re.search(r"^(\d+) schedules in", text, re.M)
        what = re.search(r"^VIOLATION, seed \d+: (.*)$", text, re.M)
        if found and what:
            return f"simulate, {found[1]} schedules: {what[1]}"
        return "simulate: " + text.strip().splitlines()[-1]
    failed = re.findall(r'error: in "([^"]+)"', text)
    return f"{check.split()[0]}: {failed[0] if failed else text.strip().splitlines()[-1]}"


def plant(copy, mutant):
    target = copy.tree / mutant["file"]
    text = target.read_text()
    if text.count(mutant["from"]) != 1:
        return None
    target.write_text(text.replace(mutant["from"], mutant["to"]))
    return text


def check_texts(mutants):
    """Whether each can be planted."""
    lost = []
    for one in mutants:
        file = ROOT / one["file"]
        times = file.read_text().count(one["from"]) if file.is_file() else 0
        if times != 1:
            lost.append(f"{one['name']}: its text is {times} times in {one['file']}")
    print("\n".join([*lost, f"{len(mutants) - len(lost)} of {len(mutants)} can be planted"]))
    return not lost


def try_one(copy, mutant):
    """(killed, what is to be said of it)"""
    before = plant(copy, mutant)
    if before is None:
        return False, "its text is not in " + mutant["file"] + " exactly once"
    try:
        check = check_of(mutant)
        code, text = copy.make(program_of(check)[0])
        if code != 0:
            errors = [line for line in text.splitlines() if "error:" in line]
            return False, "it does not compile: " + (errors or [text[-200:]])[0]
        code, text = run_check(copy, check)
        if code == 0:
            return False, check + " did not find it"
        return True, verdict(check, text)
    finally:
        (copy.tree / mutant["file"]).write_text(before)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("names", nargs="*", help="only these")
    arguments.add_argument("--check", action="store_true", help="only look for the texts")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    chosen = arguments.parse_args()

    mutants = tomllib.loads((HERE / "mutants.toml").read_text())["mutant"]
    if chosen.names:
        mutants = [one for one in mutants if one["name"] in chosen.names]
    if chosen.check:
        sys.exit(0 if check_texts(mutants) else 1)
    targets = sorted({program_of(check_of(one))[0] for one in mutants})

    copies = queue.Queue()
    workers = max(1, min(chosen.jobs, len(mutants)))
    for number in range(workers):
        copy = Copy(number, chosen.jobs if number == 0 else 1)
        copy.update()
        copy.configure()
        print(f"building copy {number}", file=sys.stderr, flush=True)
        # The first one fills the compiler's cache for the others.
        copy.jobs = chosen.jobs
        for target in targets:
            code, text = copy.make(target)
            if code != 0:
                sys.exit(text)
        copy.jobs = 1
        copies.put(copy)

    def passes(check):
        copy = copies.get()
        try:
            code, text = run_check(copy, check)
        finally:
            copies.put(copy)
        if code != 0:
            print(f"{check} fails without a bug\n{text}", flush=True)
        return code == 0

    def work(mutant):
        copy = copies.get()
        started = time.monotonic()
        try:
            killed, how = try_one(copy, mutant)
        finally:
            copies.put(copy)
        seconds = time.monotonic() - started
        print(
            f"{'killed  ' if killed else 'SURVIVED'} {mutant['name']:<34} {seconds:5.0f} s  {how}",
            flush=True,
        )
        return killed

    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        # A check that fails anyhow would prove nothing.
        print("checking what has no bug", file=sys.stderr, flush=True)
        if not all(list(pool.map(passes, sorted({check_of(one) for one in mutants})))):
            sys.exit(1)
        killed = sum(pool.map(work, mutants))
    print(f"{killed} of {len(mutants)} killed")
    sys.exit(0 if killed == len(mutants) else 1)


if __name__ == "__main__":
    main()
