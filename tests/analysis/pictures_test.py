#!/usr/bin/env python3
"""Black-box test of the commands that draw formats: gap, error, codes.

Usage: pictures_test.py PROGRAM. Prints `N passed, N failed, N skipped` last.
"""
import csv
import io
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""
TABLE = "-1.0, -0.5 # coarse below zero\n-0.25 0\n0.125 0.25 0.5 0.75 1.0\n"


def run(*arguments, folder=None):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=60, cwd=folder)


class PicturesTest(unittest.TestCase):
    def result(self, *arguments, **more):
        done = run(*arguments, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def refused(self, *arguments, **more):
        done = run(*arguments, **more)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertTrue(done.stderr.startswith("halfulp: "), done.stderr)
        return done.stderr

    def series(self, header, *arguments, **more):
        rows = list(csv.reader(io.StringIO(self.result(*arguments, **more))))
        self.assertEqual(rows[0], header)
        found = {}
        for _, label, x, y in rows[1:]:
            found.setdefault(label, []).append((float(x), float(y)))
        return found

    def gaps(self, *arguments, **more):
        return self.series(["index", "series", "magnitude", "size"], "gap", *arguments, **more)

    def errors(self, *arguments, **more):
        return self.series(["index", "series", "magnitude", "relative_error"], "error", *arguments, **more)

    def codes(self, *arguments, **more):
        rows = list(csv.reader(io.StringIO(self.result("codes", *arguments, **more))))
        self.assertEqual(rows[0], ["row", "format", "multiplier", "code", "kind", "value", "position"])
        return rows[1:]

    def test_gap_of_every_kind_of_format(self):
        with tempfile.TemporaryDirectory() as name:
            pathlib.Path(name, "t.txt").write_text(TABLE)
            series = self.gaps("table{t.txt}", "lns{bits=8,gamma=8}", "e3m4{bias=5}", "binary8p3se", "nvfp4",
                               "--update", "none", folder=name)
        labels = sorted(label for label in series if label.endswith(" half gap"))
        self.assertEqual(labels, ["binary8p3se half gap", "e3m4{bias=5} half gap", "lns{bits=8,gamma=8} half gap",
                                  "nvfp4 (amax 1) half gap", "table{t.txt} half gap",
                                  "table{t.txt} negative half gap"])
        self.assertEqual(series["table{t.txt} gap"][-1], (1, 0.25))
        self.assertEqual(series["table{t.txt} negative gap"][-1], (1, 0.5))

    def test_error_of_a_small_format(self):
        series = self.errors("e2m1", "bf16", "--from", "0.25", "--to", "8")
        self.assertEqual(series["e2m1 worst"],
                         [(0.25, 1), (0.5, 1), (0.5, 1 / 3), (1, 1 / 3), (1, 0.2), (2, 0.2), (2, 0.2), (4, 0.2),
                          (4, 0.25), (8, 0.25)])
        self.assertEqual(series["e2m1 error"][0], (0.25, 1))
        self.assertIn((5, 0.2), series["e2m1 error"])
        self.assertNotIn("bf16 error", series)
        self.assertEqual({y for _, y in series["bf16 worst"]}, {2**-9 / (1 + 2**-8) * 2})

    def test_error_of_a_block_names_its_scale(self):
        self.assertIn("mxfp4 (amax 4) worst", self.errors("mxfp4", "--amax", "4"))
        self.assertIn("mxfp4 (amax 1), scale 0.25 worst", self.errors("mxfp4"))

    def test_codes_of_scalar_and_block_formats(self):
        rows = self.codes("e2m1")
        self.assertEqual(len(rows), 16)
        self.assertEqual(rows[8], ["1", "e2m1", "1", "8", "zero", "-0", "-0"])
        self.assertEqual(rows[7], ["1", "e2m1", "1", "7", "largest", "6", "6"])
        rows = self.codes("mxfp4", "--amax", "2")
        self.assertEqual(len(rows), 48)
        self.assertEqual([row[2] for row in rows[::16]], ["1", "0.5", "0.25"])
        self.assertEqual(self.codes("e2m1", "--axis", "log")[2][6], "2")

    def test_bad_requests(self):
        for command in ["gap", "error", "codes"]:
            self.assertIn("nearest", self.refused(command, "bf61"))
            self.assertIn("SPEC", self.refused(command))
            self.assertIn("twice", self.refused(command, "e4m3", "e4m3fn"))
            self.assertIn("--amax", self.refused(command, "mxfp4", "--amax", "-1"))
            self.assertIn(".svg, .png or .csv", self.refused(command, "e4m3", "--out", "a.pdf"))
        for command in ["gap", "error"]:
            self.assertIn("binary16p1se", self.refused(command, "binary16p1se"))
            self.assertIn("0 < from < to", self.refused(command, "e4m3", "--from", "2", "--to", "1"))
            self.assertIn("--to", self.refused(command, "e4m3", "--to", "inf"))
        self.assertIn("bf16 (16 bits)", self.refused("codes", "bf16"))
        self.assertIn("linear, log", self.refused("codes", "e4m3", "--axis", "loga"))

    def test_an_amax_that_changes_nothing_is_said(self):
        for command in ["gap", "error", "codes"]:
            self.assertIn("--amax changes nothing", run(command, "e4m3", "--amax", "2").stderr)
            self.assertNotIn("changes nothing", run(command, "mxfp4", "--amax", "2").stderr)

    def test_pictures_stand_beside_data_and_script(self):
        if shutil.which("gnuplot") is None:
            self.skipTest("gnuplot is not installed")
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for command in ["gap", "error", "codes"]:
                for ending, start in [("svg", b"<?xml"), ("png", b"\x89PNG")]:
                    picture = folder / f"{command}.{ending}"
                    arguments = [command, "e4m3", "mxfp4"]
                    self.assertEqual(self.result(*arguments, "--out", str(picture)), "")
                    drawn = picture.read_bytes()
                    self.assertTrue(drawn.startswith(start))
                    self.assertEqual((folder / f"{command}.csv").read_text(), self.result(*arguments))
                    picture.unlink()
                    subprocess.run(["gnuplot", "-d", f"{command}.gp"], cwd=folder, check=True, timeout=60)
                    self.assertEqual(picture.read_bytes(), drawn)
            self.assertEqual(len(list(folder.iterdir())), 3 * 4)


def main():
    global PROGRAM
    PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
    outcome = unittest.TextTestRunner(verbosity=1).run(
        unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__]))
    failed, skipped = len(outcome.failures) + len(outcome.errors), len(outcome.skipped)
    for _, why in outcome.skipped:
        print(f"SKIPPED: {why}")
    print(f"{outcome.testsRun - failed - skipped} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
