#!/usr/bin/env python3
"""The tables and the picture that ./dev bench --plot makes, and that the documents show what is
published."""

import copy
import json
import pathlib
import shutil
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(ROOT / "bench" / "peers"))

import picture  # noqa: E402
import questions  # noqa: E402
import report  # noqa: E402
import run  # noqa: E402
from facts import FACTS  # noqa: E402
from workers import NAMES, WorkerFailed  # noqa: E402

MADE_UP = {
    "date": "2020-02-29",
    "quick": False,
    "cpus": 3,
    "server": "7.1.2",
    "versions": {"holdfast": "1.2.3", "Redisson": "4.5.6", "redsync": "7.8.9"},
    "failures": {},
    "absent": {"redis-plus-plus": "nobody packages it", "rueidislock": "there is no go"},
    "figures": {
        "pair": {
            "holdfast": {"median": 47.16, "ratio": 1.0},
            "Redisson": {"median": 182.4, "ratio": 3.868},
            "redsync": {"median": 1234.5, "ratio": 26.2},
        },
        "parked": {
            "holdfast": {"median": 0.0, "ratio": None},
            "Redisson": {"median": 0.0, "ratio": None},
            "redsync": {"median": 13.61, "ratio": None},
        },
    },
}


def drawing(results):
    return xml.fromstring(picture.svg(results, report.FIGURES, report.in_words, NAMES))


def elements(root, kind):
    return list(root.iter("{http://www.w3.org/2000/svg}" + kind))


class Tables(unittest.TestCase):
    def test_a_row_has_the_figure_of_each_library_and_how_many_times_ours_it_is(self):
        self.assertIn(
            "| acquire and release without competition, median | 47.2 µs | 182 µs (3.87) |"
            " not measured | 1 230 µs (26.2) | not measured |\n",
            report.figures_table(MADE_UP, with_ratio=True),
        )

    def test_nothing_has_no_ratio_to_nothing(self):
        self.assertIn(
            "| 0 commands/s | 0 commands/s | not measured | 13.6 commands/s | not measured |",
            report.figures_table(MADE_UP, with_ratio=True),
        )

    def test_every_row_has_all_columns(self):
        for text in (report.figures_table(MADE_UP, with_ratio=False), report.facts_table()):
            for line in text.splitlines():
                self.assertEqual(line.count("|"), len(NAMES) + 2, line)
        for what, has in FACTS:
            self.assertEqual(len(has), len(NAMES), what)

    def test_who_was_left_out_is_said_with_the_reason(self):
        for text in (report.for_readme(MADE_UP), report.for_page(MADE_UP), report.as_text(MADE_UP)):
            self.assertIn("redis-plus-plus was left out: nobody packages it.", text)
            self.assertIn("rueidislock was left out: there is no go.", text)
            self.assertIn("holdfast 1.2.3, Redisson 4.5.6, redsync 7.8.9; redis-server 7.1.2", text)

    def test_numbers_have_three_digits_and_groups_of_thousands(self):
        for value, text in [
            (0.0, "0"), (0.0312, "0.0312"), (2.996, "3"), (13.0, "13"), (999.6, "1 000"),
            (98765.4, "98 800"), (1234567.0, "1 230 000"),
        ]:  # fmt: skip
            self.assertEqual(report.in_digits(value), text)


class Picture(unittest.TestCase):
    def test_it_has_a_panel_for_each_figure_and_a_line_for_each_library(self):
        said = [text.text for text in elements(drawing(MADE_UP), "text")]
        for question, _ in report.FIGURES.values():
            self.assertEqual(said.count(question), 1)
        for name in NAMES:
            self.assertEqual(said.count(name), len(report.FIGURES))
        self.assertIn("182 µs", said)

    def test_a_bar_is_as_long_as_its_figure(self):
        results = copy.deepcopy(MADE_UP)
        results["figures"] = {
            "pair": {"holdfast": {"median": 50, "ratio": 1}, "Redisson": {"median": 100, "ratio": 2}}
        }
        bars = [bar for bar in elements(drawing(results), "rect") if bar.get("class") != "page"]
        self.assertEqual([bar.get("class") for bar in bars], ["ours", "other"])
        ours, other = (float(bar.get("width")) for bar in bars)
        self.assertAlmostEqual(other / ours, 2.0, places=1)

    def test_a_bar_that_would_hide_the_others_is_broken(self):
        whole = copy.deepcopy(MADE_UP)
        whole["figures"]["pair"]["redsync"]["median"] = 1800
        hiding = copy.deepcopy(MADE_UP)
        hiding["figures"]["pair"]["redsync"]["median"] = 1900
        self.assertEqual(len(elements(drawing(hiding), "path")), 1)
        self.assertEqual(len(elements(drawing(whole), "path")), 0)

    def test_a_library_without_a_figure_is_named_and_has_no_bar(self):
        said = [text.text for text in elements(drawing(MADE_UP), "text")]
        missing = len(report.FIGURES) * len(NAMES) - 6
        self.assertEqual(said.count("not measured"), missing)

    def test_it_can_be_read_on_light_and_on_dark(self):
        style = elements(drawing(MADE_UP), "style")[0].text
        self.assertIn("prefers-color-scheme: dark", style)

    def test_nothing_sticks_out(self):
        root = drawing(MADE_UP)
        height = float(root.get("height"))
        for text in elements(root, "text"):
            x, about = float(text.get("x")), 7 * len(text.text)
            panel = (x - picture.MARGIN) // (picture.PANEL_WIDTH + picture.MARGIN)
            left = picture.MARGIN + panel * (picture.PANEL_WIDTH + picture.MARGIN)
            start, end = (x - about, x) if text.get("text-anchor") == "end" else (x, x + about)
            self.assertLessEqual(left, start, text.text)
            self.assertLessEqual(end, left + picture.PANEL_WIDTH, text.text)
            self.assertLess(float(text.get("y")), height, text.text)


class Rounds(unittest.TestCase):
    def test_the_ratio_is_the_median_of_the_ratios_of_the_rounds(self):
        rounds = [
            {"holdfast": {"pair": 10.0}, "redsync": {"pair": 20.0}},
            {"holdfast": {"pair": 100.0}, "redsync": {"pair": 300.0}},
            {"holdfast": {"pair": 50.0}, "redsync": {"pair": 200.0}},
        ]
        found = run.summary(rounds)["pair"]
        self.assertEqual(found["redsync"], {"median": 200.0, "ratio": 3.0})
        self.assertEqual(found["holdfast"], {"median": 50.0, "ratio": 1.0})

    def test_a_round_in_which_a_worker_fails_does_not_count_and_is_said(self):
        answers = iter([1.0, 2.0, 3.0, None, 5.0, 6.0])

        def pair(who, size):
            answer = next(answers)
            if answer is None:
                raise WorkerFailed(who.name)
            return {"pair": size(answer, 0.0)}

        ours, theirs = mock.Mock(), mock.Mock()
        ours.name, theirs.name = "holdfast", "redsync"
        with mock.patch.object(questions, "ALL", [(pair, 3)]), mock.patch("sys.stderr"):
            rounds, failures = run.ask_all([ours, theirs], ["pair"], quick=False)
        self.assertEqual([one.get("redsync") for one in rounds], [{"pair": 2.0}, None, {"pair": 6.0}])
        self.assertEqual(failures, {"redsync": {"pair": 1}})
        theirs.start.assert_called_once()
        ours.start.assert_not_called()
        said = report.what_was_measured({**MADE_UP, "failures": failures})
        self.assertIn("A worker for redsync did not answer in 1 of the rounds of `pair`", said)

    def test_a_grant_is_taken_back_if_another_process_waited_for_it(self):
        # (called, granted, releasing) of two processes.
        first = [(0, 1, 2), (3, 4, 5), (30, 31, 32)]
        second = [(0, 6, 7), (20, 21, 22)]
        # At 2 the second waits, and the first has it next: taken back. At 5 the second waits, and
        # has it. Afterwards nobody waits.
        self.assertEqual(questions.taken_back([first, second]), 50.0)
        self.assertIsNone(questions.taken_back([[(0, 1, 2), (3, 4, 5)], []]))


class Published(unittest.TestCase):
    def test_the_documents_show_what_is_published_and_nothing_else(self):
        results = report.published()
        for file, text in report.documents(results).items():
            self.assertEqual((ROOT / file).read_text(), text, f"{file}: ./dev bench --plot --publish")
        if results is None:
            self.assertFalse((ROOT / report.IMAGE).exists())
        else:
            self.assertFalse(results["quick"])

    def tree(self):
        root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, root)
        for file in (report.README, report.PAGE):
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, root / file)
        (root / "bench/peers").mkdir(parents=True)
        return root

    def test_publishing_writes_the_documents_again_and_again_the_same(self):
        root = self.tree()
        report.publish(MADE_UP, root)
        self.assertEqual(report.published(root), MADE_UP)
        once = {file: (root / file).read_text() for file in report.documents(MADE_UP, root)}
        self.assertIn("| 47.2 µs | 182 µs |", once[report.README])
        self.assertIn("| 47.2 µs | 182 µs (3.87) |", once[report.PAGE])
        self.assertIn("</svg>", once[report.IMAGE])
        report.publish(MADE_UP, root)
        self.assertEqual(report.documents(MADE_UP, root), once)

    def test_a_figure_that_was_changed_by_hand_is_seen(self):
        root = self.tree()
        report.publish(MADE_UP, root)
        readme = root / report.README
        readme.write_text(readme.read_text().replace("47.2 µs", "4.72 µs"))
        expected = report.documents(report.published(root), root)
        self.assertNotEqual(readme.read_text(), expected[report.README])

    def test_a_quick_run_is_not_published(self):
        root = self.tree()
        with self.assertRaises(ValueError):
            report.publish({**MADE_UP, "quick": True}, root)
        self.assertIsNone(report.published(root))

    def test_a_document_without_its_markers_is_an_error(self):
        root = self.tree()
        (root / report.README).write_text("# holdfast\n")
        with self.assertRaises(ValueError):
            report.publish(MADE_UP, root)

    def test_the_facts_are_those_of_the_versions_that_are_used(self):
        """Who takes a newer version looks at facts.py, and then here."""
        go_modules = (ROOT / "bench/peers/go/go.mod").read_text()
        for line in ("redsync/v4 v4.18.1", "redis/rueidis v1.0.79"):
            self.assertIn(line, go_modules)
        newest = (ROOT / "test/interop/java/versions").read_text().splitlines()[0]
        self.assertEqual(newest, "4.7.0")


if __name__ == "__main__":
    unittest.main()
