#!/usr/bin/env python3
"""The tables that ./dev bench --peers prints for the documents, and how rounds become figures."""

import pathlib
import sys
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(ROOT / "bench" / "peers"))

import questions  # noqa: E402
import report  # noqa: E402
import run  # noqa: E402
from workers import WorkerFailed  # noqa: E402

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

    def test_who_was_left_out_is_said_with_the_reason(self):
        text = report.as_text(MADE_UP)
        self.assertIn("redis-plus-plus was left out: nobody packages it.", text)
        self.assertIn("rueidislock was left out: there is no go.", text)
        self.assertIn("holdfast 1.2.3, Redisson 4.5.6, redsync 7.8.9; redis-server 7.1.2", text)

    def test_numbers_have_three_digits_and_groups_of_thousands(self):
        for value, text in [
            (0.0, "0"), (0.0312, "0.0312"), (2.996, "3"), (13.0, "13"), (999.6, "1 000"),
            (98765.4, "98 800"), (1234567.0, "1 230 000"),
        ]:  # fmt: skip
            self.assertEqual(report.in_digits(value), text)


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


if __name__ == "__main__":
    unittest.main()
