#!/usr/bin/env python3
"""Plants bugs in a copy of the sources, one at a time, and shows which check finds each.

mutants.toml says what each bug is and which check has to fail. A marker in the sources, a comment
`mutant: NAME` on a line of its own, says where it is planted: in place of the statement below, up to
the first line that ends with `;`, `{` or `}`; in a script, in place of the line below. A mutant that
survives, or has not exactly one marker, is a failure. With --check only the markers are looked for.
"""

import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import queue
import re
import shutil
import subprocess
import sys
import textwrap
import time
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
COPIES = ROOT / "build" / "mutants"
MARKER = re.compile(r"\s*(?://|--) mutant: (\S+)\s*")

SCHEDULES = 100_000
BUILD_LIMIT = 1200  # seconds
# Also beside a build. A check that takes longer hangs, and has found its mutant.
CHECK_LIMITS = {"simulate": 1800, "integration": 600}
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


@dataclasses.dataclass
class Mutant:
    name: str
    file: pathlib.Path  # below the root
    marker: int  # its line
    to: str
    check: str = "simulate"

    def planted_in(self, text):
        lines = text.splitlines()
        first = self.marker + 1
        end = first + 1
        while self.file.suffix != ".lua" and not ends_statement(lines[end - 1]):
            end += 1
        indentation = lines[first][: -len(lines[first].lstrip())]
        lines[first:end] = textwrap.indent(self.to, indentation).splitlines()
        return "\n".join(lines) + "\n"


def ends_statement(line):
    return line.split("//")[0].rstrip().endswith((";", "{", "}"))


def find_markers():
    """The file and the line of each, by the name of the mutant."""
    found = {}
    for file in sorted((ROOT / "src").rglob("*")):
        if file.suffix in (".cpp", ".hpp", ".lua"):
            for number, line in enumerate(file.read_text().splitlines()):
                if marker := MARKER.fullmatch(line):
                    found.setdefault(marker[1], []).append((file.relative_to(ROOT), number))
    return found


def read_mutants():
    """All that can be planted, and what is wrong with the others."""
    described = tomllib.loads((HERE / "mutants.toml").read_text())
    markers = find_markers()
    mutants, wrong = [], []
    for name, how in described.items():
        places = markers.pop(name, [])
        if len(places) == 1:
            mutants.append(Mutant(name, *places[0], **how))
        else:
            files = ", ".join(str(file) for file, _ in places)
            wrong.append(f"{name}: {len(places)} markers, in {files or 'no file'}")
    for name, places in markers.items():
        wrong.append(f"{name}: a marker in {places[0][0]}, and no mutant")
    return mutants, wrong


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
            code, text = self.run(["cmake", "--preset", "release", *BUILD_OPTIONS], BUILD_LIMIT)
            if code != 0:
                sys.exit(text)

    def make(self, target):
        return self.run(
            ["cmake", "--build", str(self.build), "-j", str(self.jobs), "--target", target],
            BUILD_LIMIT,
        )

    def run_check(self, check):
        target, arguments = program_of(check)
        program = next(path for path in self.build.rglob(target) if path.is_file())
        limit = CHECK_LIMITS.get(re.split("[ /]", check)[0], QUICK_LIMIT)
        return self.run([str(program), *arguments], limit)

    def run(self, command, limit):
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
        return done.returncode, done.stdout.decode(errors="replace")

    def try_one(self, mutant):
        """(killed, what is to be said of it)"""
        file = self.tree / mutant.file
        before = file.read_text()
        try:
            file.write_text(mutant.planted_in(before))
            code, text = self.make(program_of(mutant.check)[0])
            if code != 0:
                errors = [line for line in text.splitlines() if "error:" in line]
                return False, "it does not compile: " + (errors or [text[-200:]])[0]
            code, text = self.run_check(mutant.check)
            if code == 0:
                return False, mutant.check + " did not find it"
            return True, verdict(mutant.check, text)
        finally:
            file.write_text(before)


def program_of(check):
    """The target, and its arguments."""
    kind, _, rest = check.partition(" ")
    if kind == "simulate":
        # It stops at the first violation.
        where = ["--deployment", rest] if rest else []
        return kind, [*where, "--schedules", str(SCHEDULES), "--violations", "1", "--threads", "1"]
    return kind.replace("/", "_"), ["--color_output=no", *(["--run_test=" + rest] if rest else [])]


def verdict(check, text):
    if check.startswith("simulate"):
        found = re.search(r"^(\d+) schedules in", text, re.M)
        what = re.search(r"^VIOLATION, seed \d+: (.*)$", text, re.M)
        if found and what:
            return f"simulate, {found[1]} schedules: {what[1]}"
        return "simulate: " + text.strip().splitlines()[-1]
    failed = re.findall(r'error: in "([^"]+)"', text)
    return f"{check.split()[0]}: {failed[0] if failed else text.strip().splitlines()[-1]}"


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("names", nargs="*", help="only these")
    arguments.add_argument("--check", action="store_true", help="only look for the markers")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    chosen = arguments.parse_args()

    mutants, wrong = read_mutants()
    if wrong:
        sys.exit("\n".join(wrong))
    if not mutants:
        sys.exit("no mutants")
    if unknown := set(chosen.names) - {one.name for one in mutants}:
        sys.exit("no mutant: " + " ".join(sorted(unknown)))
    mutants = [one for one in mutants if not chosen.names or one.name in chosen.names]
    if chosen.check:
        for one in mutants:
            print(f"{one.name:<42} {one.file}")
        print(f"{len(mutants)} can be planted")
        return
    targets = sorted({program_of(one.check)[0] for one in mutants})

    copies = queue.Queue()
    workers = max(1, min(chosen.jobs, len(mutants)))
    for number in range(workers):
        # The first one fills the compiler's cache for the others.
        copy = Copy(number, chosen.jobs)
        copy.update()
        copy.configure()
        print(f"building copy {number}", file=sys.stderr, flush=True)
        for target in targets:
            code, text = copy.make(target)
            if code != 0:
                sys.exit(text)
        copy.jobs = 1
        copies.put(copy)

    def passes(check):
        copy = copies.get()
        try:
            code, text = copy.run_check(check)
        finally:
            copies.put(copy)
        if code != 0:
            print(f"{check} fails without a bug\n{text}", flush=True)
        return code == 0

    def kills(mutant):
        copy = copies.get()
        started = time.monotonic()
        try:
            killed, how = copy.try_one(mutant)
        finally:
            copies.put(copy)
        seconds = time.monotonic() - started
        print(
            f"{'killed  ' if killed else 'SURVIVED'} {mutant.name:<42} {seconds:5.0f} s  {how}",
            flush=True,
        )
        return killed

    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        # A check that fails anyhow would prove nothing.
        print("checking what has no bug", file=sys.stderr, flush=True)
        if not all(list(pool.map(passes, sorted({one.check for one in mutants})))):
            sys.exit(1)
        killed = sum(pool.map(kills, mutants))
    print(f"{killed} of {len(mutants)} killed")
    sys.exit(0 if killed == len(mutants) else 1)


if __name__ == "__main__":
    main()
