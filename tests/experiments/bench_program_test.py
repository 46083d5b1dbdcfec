#!/usr/bin/env python3
"""Black-box test of `halfulp bench` on few elements: rows, JSON, bad input. How long anything takes is not looked at.

Usage: bench_program_test.py PROGRAM. Prints `N passed, N failed, N skipped` last.
"""
import json
import os
import pathlib
import subprocess
import sys
import unittest

PROGRAM = ""
PEERS = pathlib.Path(__file__).resolve().parents[2] / "experiments" / "bench" / "peers.py"
SMALL = ["--elements", "8192", "--repetitions", "1"]


def run(*arguments):
    return subprocess.run([PROGRAM, "bench", *arguments], capture_output=True, text=True, timeout=240)


class BenchTest(unittest.TestCase):
    def text(self, *arguments):
        done = run(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def refused(self, *arguments, parts):
        done = run(*arguments)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertEqual(done.stdout, "")
        for part in parts:
            self.assertIn(part, done.stderr)

    def listed(self):
        return [line.split("  ")[0] for line in self.text("--list").splitlines()[1:]]

    def check_quantiles(self, q):
        self.assertGreater(q["low"], 0)
        self.assertLessEqual(q["low"], q["median"])
        self.assertLessEqual(q["median"], q["high"])

    def test_json_has_all_rows(self):
        bench = json.loads(self.text(*SMALL, "--json"))
        names = self.listed()
        self.assertEqual(len(set(names)), len(names))
        rows = {(row["name"], row["threads"]): row for row in bench["rows"]}
        self.assertEqual(list(rows), [(name, threads) for name in names for threads in (1, 2)])
        for (name, threads), row in rows.items():
            with self.subTest(name=name, threads=threads):
                self.assertEqual((row["elements"], row["repetitions"]), (8192, 1))
                self.check_quantiles(row["ns"])
                bytes_moved = row["bytes_read"] + row["bytes_written"]
                self.assertAlmostEqual(row["gigabytes_per_second"] * row["ns"]["median"] / bytes_moved, 1)
                if row["reference"] is None:
                    self.assertIsNone(row["ratio"])
                    self.assertIsNone(row["goal_ratio"])
                else:
                    self.assertIn((row["reference"], threads), rows)
                    self.check_quantiles(row["ratio"])
                    self.check_quantiles(row["reference_ns"])
                has_goal = row["goal_ratio"] is not None or row["goal_ns"] is not None
                self.assertEqual(row["reached"] is not None, has_goal and threads == 1)
                if threads == 1:
                    self.assertIsNone(row["speedup"])
                else:
                    one = rows[name, 1]["ns"]["median"]
                    self.assertAlmostEqual(row["speedup"] * row["ns"]["median"] / one, 1)
        machine = bench["machine"]
        self.assertEqual(machine["input_bytes"], 4 * 8192)
        self.assertLessEqual(machine["input_bytes_on_huge_pages"], machine["input_bytes"])
        for key in ("processor", "compiler", "flags", "target", "version", "commit"):
            self.assertTrue(machine[key])

    def test_goals_of_the_design(self):
        rows = json.loads(self.text(*SMALL, "--json", "--threads", "1"))["rows"]
        goals = {row["name"]: (row["reference"], row["goal_ratio"]) for row in rows}
        self.assertEqual(goals["e4m3 nearest even"], ("read-modify-write", 1.05))
        self.assertEqual(goals["bf16 stochastic"], ("read-modify-write", 1.25))
        self.assertEqual(goals["e2m1 stochastic"], ("read-modify-write", 1.40))
        self.assertEqual(goals["mxfp4 nearest even"], ("read-modify-write", 1.15))
        self.assertEqual(goals["nvfp4 encode"], ("pure read", 1.4))
        self.assertEqual(goals["nvfp4 decode"], ("non-temporal write", 1.05))
        self.assertEqual(goals["adamw bf16/fp32"], ("access of a step 22 B", 1.06))
        self.assertEqual(goals["adamw bf16/bf16 stochastic"], ("access of a step 14 B", 1.35))

    def test_table(self):
        text = self.text(*SMALL, "--only", "memcpy", "--threads", "1")
        lines = text.splitlines()
        self.assertEqual(lines[0].split()[:5], ["row", "threads", "elements", "bytes", "ns/element"])
        self.assertEqual(lines[1].split()[:4], ["memcpy", "1", "8192", "4+4"])
        self.assertTrue(lines[1].endswith("non-temporal copy"))
        self.assertEqual(lines[2], "")
        for part in ("Machine: ", "Build: ", "Method: 1 repetitions", "2 MiB pages", "load", "peers.py"):
            self.assertIn(part, text)

    def test_threads_as_asked(self):
        rows = json.loads(self.text(*SMALL, "--only", "pure read", "--threads", "2,1", "--json"))["rows"]
        self.assertEqual([(row["name"], row["threads"]) for row in rows], [("pure read", 2), ("pure read", 1)])
        self.assertIsNotNone(rows[0]["speedup"])
        row, = json.loads(self.text(*SMALL, "--only", "pure read", "--threads", "3", "--json"))["rows"]
        self.assertIsNone(row["speedup"])  # one thread was not measured

    def test_help_has_an_example(self):
        self.assertIn("halfulp bench --only", self.text("--help"))

    def test_bad_input(self):
        for wrong in ("0", "4095", "5000", "-4096", "x", "2147483648"):
            self.refused("--elements", wrong, parts=["--elements"])
        self.refused("--elements", "5000", parts=["5000", "multiple of 4096"])
        for option in ("--repetitions", "--threads"):
            for wrong in ("0", "x", "100000"):
                self.refused(option, wrong, parts=[option])
        self.refused("--only", "e4m4", parts=["--only", "e4m4", "e4m3 nearest even"])
        self.refused("--element", "4096", parts=["--elements"])
        self.refused("extra", parts=["--help"])

    def test_python_peers(self):
        done = subprocess.run([sys.executable, str(PEERS), "--elements", "4096", "--repetitions", "2"],
                              capture_output=True, text=True, timeout=240)
        self.assertEqual(done.returncode, 0, done.stderr)
        for line in done.stdout.splitlines():
            peer = json.loads(line)
            if "skipped" not in peer:
                self.assertEqual(peer["elements"], 4096)
                self.assertIn("float32", peer["compared_with"])
                self.assertGreater(peer["ratio"]["median"], 0)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv[1])
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    if len(sys.argv) > 2:
        suite = unittest.defaultTestLoader.loadTestsFromNames(sys.argv[2:], sys.modules["__main__"])
    outcome = unittest.TextTestRunner(stream=sys.stdout, verbosity=1).run(suite)
    failed, skipped = len(outcome.failures) + len(outcome.errors), len(outcome.skipped)
    print(f"{outcome.testsRun - failed - skipped} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed or outcome.testsRun == 0 else 0)
