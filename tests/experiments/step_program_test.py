#!/usr/bin/env python3
"""Black-box test of `halfulp step`: hand-worked verdicts, .npy and .csv input, bad input.

Usage: step_program_test.py PROGRAM. Prints `N passed, N failed, N skipped` last.
"""
import collections
import json
import math
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""


def run(*arguments):
    return subprocess.run([PROGRAM, "step", *arguments], capture_output=True, text=True, timeout=120)


def npy(values, shape, kind="<f4", version=1, order="False", header=None, extra=b""):
    """A file as numpy.save lays it out: magic, version, header length, dictionary, data."""
    text = header or f"{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}"
    length_bytes = 2 if version == 1 else 4
    text += " " * (-(8 + length_bytes + len(text) + 1) % 64) + "\n"
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    data = b"".join(struct.pack("<d" if kind.endswith("8") else "<f", value) for value in values)
    return b"\x93NUMPY" + bytes([version, 0]) + length + text.encode() + data + extra


class StepTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def file(self, name, content):
        path = pathlib.Path(self.folder.name) / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    def text(self, *arguments):
        done = run(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def json(self, *arguments):
        return json.loads(self.text(*arguments, "--json"))

    def refused(self, *arguments):
        done = run(*arguments)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertTrue(done.stderr.startswith("halfulp: "), done.stderr)
        return done.stderr

    def adamw(self, plan, eta, weights, gradients, *more):
        return self.json("--rule", "adamw", "--plan", plan, "--set", f"eta={eta}", "--weights", weights,
                         "--gradients", gradients, *more)

    def check_counters(self, result):
        """The verdicts of one result against the counters that the same step gives to records."""
        stored = [e for e in result["elements"] if "gradient" in e]
        counters = result["counters"]
        causes = collections.Counter(e["cause"] for e in stored if e["cause"])
        self.assertEqual({k: v for k, v in counters["stagnation"]["by_cause"].items() if v}, dict(causes))
        kinds = collections.Counter(e["verdict"] for e in stored)
        self.assertEqual(kinds["trapped_at_zero"], counters["trapping"]["trapped_at_zero"])
        self.assertEqual(sum(e["trapped"] for e in stored), counters["trapping"]["trapped"])
        self.assertEqual(kinds["nonfinite"], counters["nonfinite"])
        made = [e for e in result["elements"] if "gradient" not in e] or stored
        self.assertEqual(sum(e["verdict"] == "sign_flip_refused" for e in made), counters["sign_flips"]["refused"])


class VerdictTest(StepTest):
    def test_bf16_by_hand(self):
        # The first step of AdamW is eta against the gradient's sign. bf16 has 7 fraction bits: below 4 the gap is
        # 2^-6, above it 2^-5; 3.9 is stored as 3.90625 (a gap of 2^-6); at 0.1 the gap is 2^-11.
        result = self.adamw("bf16/fp32", "1e-3", "4,4,3.9,0.1,1", "1,-1,-1,1,0")
        down, up, below, small, idle = result["elements"]
        self.assertEqual([e["verdict"] for e in result["elements"]],
                         ["stays", "stays", "stays", "moves", "no_update"])
        self.assertEqual([down["half_gap"], up["half_gap"], below["half_gap"]], [2**-7, 2**-6, 2**-7])
        self.assertEqual(down["text"], "stays: |update| 1.0e-3 < half gap 7.8e-3 downwards")
        self.assertEqual(up["text"], "stays: |update| 1.0e-3 < half gap 1.6e-2 upwards")
        self.assertEqual((below["before"], below["after"]), (3.90625, 3.90625))
        self.assertEqual(small["after"], 0.09912109375)  # 203 * 2^-11, nearest to 0.1000977 - 0.001
        self.assertEqual((idle["update"], idle["half_gap"], idle["cause"]), (0, None, None))
        self.check_counters(result)

    def test_a_tie(self):
        element, = self.adamw("bf16/fp32", "0.0078125", "4", "1", "--set", "eps=0")["elements"]
        self.assertEqual(element["cause"], "otherwise")
        self.assertIn("= half gap 7.8e-3 downwards: a tie", element["text"])

    def test_nvfp4_by_hand(self):
        # Lazy scales with a headroom of one binade: 6 (the largest of e2m1 times 1) is stored as 3 under a scale of 2,
        # so that the numbers are 0, 1, 2, 3, 4, 6, 8, 12 and 0.5 becomes 0 (a tie to even).
        result = self.adamw("nvfp4/fp8", "0.25", "6,6,1,0.5,3,-2,0", "1,-1,1,1,1,1,-1", "--shape", "1x7")
        elements = result["elements"]
        self.assertEqual([e["before"] for e in elements], [6, 6, 1, 0, 3, -2, 0])
        self.assertEqual([e["half_gap"] for e in elements], [1, 1, 0.5, 0.5, 0.5, 0.5, 0.5])
        self.assertEqual([e["verdict"] for e in elements],
                         ["stays", "stays", "stays", "trapped_at_zero", "stays", "stays", "trapped_at_zero"])
        self.assertEqual([e["trapped"] for e in elements], [False, False, True, True, False, False, True])
        self.assertEqual(elements[1]["text"], "stays: |update| 0.25 < half gap 1 upwards")
        self.assertEqual(elements[1]["element"], [0, 1])
        self.check_counters(result)

    def test_mxfp4_saturates_under_the_floor_rule_and_is_carried_under_rceil(self):
        # ocp_floor keeps a scale of 1 for 6.25: 6 is the largest number. rceil takes 2: 1 stays one of its numbers,
        # 0.5 becomes 0 though its gradient is 0.
        floor = self.adamw("mxfp4/fp32", "0.25", "6,1,0.5", "-1,-1,0")
        self.assertEqual([e["verdict"] for e in floor["elements"]], ["saturated", "stays", "no_update"])
        self.assertIn("saturates at the largest number", floor["elements"][0]["text"])
        rceil = self.adamw("mxfp4_rceil/fp32", "0.25", "6,1,0.5", "-1,-1,0")
        self.assertEqual([e["verdict"] for e in rceil["elements"]], ["stays", "stays", "moved_by_scale"])
        self.assertEqual(rceil["elements"][2]["text"], "moved by its scale alone: after - before = -0.5; no update")
        for result in (floor, rceil):
            self.check_counters(result)

    def test_madam_is_trapped_at_zero(self):
        result = self.json("--rule", "madam", "--plan", "bf16/fp32", "--weights", "0,1", "--gradients", "-1,-1",
                           "--steps", "5")
        self.assertEqual(result["elements"][0]["text"], "trapped at zero: no update, though the gradient is -1")
        self.check_counters(result)

    def test_stochastic_rounding_says_the_probability(self):
        # 1 + 2^-9 lies a quarter of the way to 1 + 2^-7.
        more = ["--set", "plan.weights.rounding=stochastic", "--set", "eps=0"]
        count = 400
        ones = ",".join(["1"] * count)
        result = self.adamw("bf16/fp32", 2**-9, ones, ",".join(["-1"] * count), *more)
        moved = [e for e in result["elements"] if e["verdict"] == "moves"]
        self.assertEqual({e["up_probability"] for e in result["elements"]}, {0.25})
        self.assertTrue(all("up with probability 0.25" in e["text"] for e in result["elements"]))
        self.assertLess(abs(len(moved) - count / 4), 5 * math.sqrt(count * 3 / 16))
        self.check_counters(result)
        other = self.adamw("bf16/fp32", 2**-9, ones, ",".join(["-1"] * count), *more, "--seed", "1")
        self.assertNotEqual([e["after"] for e in other["elements"]], [e["after"] for e in result["elements"]])

    def test_later_steps_have_warm_states(self):
        # Momentum of one step only: with beta1 = 0 every step is eta, so bf16 at 1 (gap 2^-7 up) walks.
        settings = ["--set", "beta1=0", "--set", "eps=0"]
        first = self.adamw("bf16/fp32", 2**-7, "1", "-1", *settings)["elements"][0]
        third = self.adamw("bf16/fp32", 2**-7, "1", "-1", *settings, "--steps", "3")["elements"][0]
        self.assertEqual((first["before"], first["after"]), (1, 1 + 2**-7))
        self.assertEqual((third["before"], third["after"]), (1 + 2 * 2**-7, 1 + 3 * 2**-7))

    def test_a_rule_with_parts_shows_them_and_their_weight(self):
        result = self.json("--rule", "lmd", "--plan", "bf16/bf16", "--weights", "0.5,-2", "--gradients", "1,1")
        self.assertEqual([e["slot"] for e in result["elements"]], ["m_plus", "m_minus", "w"] * 2)
        for plus, minus, weight in zip(*[iter(result["elements"])] * 3):
            self.assertEqual(weight["before"], plus["before"] - minus["before"])
            self.assertEqual(weight["after"], plus["after"] - minus["after"])
            self.assertNotIn("gradient", weight)
            self.assertIsNone(weight["half_gap"])
        self.check_counters(result)

    def test_the_table(self):
        lines = self.text("--rule", "adamw", "--plan", "bf16/fp32", "--weights", "4,-0,nan", "--grads",
                          "1,0,1").splitlines()
        self.assertEqual(lines[0], "adamw, scheme bf16/fp32, step 1; weights stored as bf16, nearest_even, saturate")
        self.assertEqual(lines[1].split(), "element before update wanted after what happened".split())
        self.assertEqual(lines[2].split()[:6], ["0", "4", "-0.001", "3.999", "4", "stays:"])
        self.assertEqual(lines[4].split()[5:], ["not", "finite"])
        self.assertEqual(lines[5], "1 of 1 updates changed nothing that is stored")

    def test_float64_and_unrounded_weights(self):
        element, = self.json("--rule", "adamw", "--plan", "fp64", "--weights", "0x1p53", "--gradients", "1",
                             "--set", "eta=1e-30")["elements"]
        self.assertEqual((element["verdict"], element["cause"]), ("stays", "absorbed"))
        element, = self.adamw("bf16/fp32", "1e-3", "4", "1", "--number", "float64")["elements"]
        self.assertEqual(element["wanted"], 4 + element["update"])


class InputTest(StepTest):
    def same_as_inline(self, weights, gradients, *more):
        inline = self.adamw("bf16/fp32", "1e-2", "1,2,3,4,5,6", "1,1,1,-1,-1,-1", "--shape", "2x3")
        self.assertEqual(self.adamw("bf16/fp32", "1e-2", weights, gradients, *more), inline)

    def test_npy_and_csv_are_the_same_as_inline(self):
        weights, gradients = [1, 2, 3, 4, 5, 6], [1, 1, 1, -1, -1, -1]
        for kind in "<f4", "<f8":
            for version in 1, 2, 3:
                self.same_as_inline(self.file("w.npy", npy(weights, "(2, 3)", kind, version)),
                                    self.file("g.npy", npy(gradients, "(2, 3)", kind, version)))
        self.same_as_inline(self.file("w.csv", "1,2,3\n4, 5 ,6\n\n"), self.file("g.csv", "1,1,1\r\n-1,-1,-1\r\n"))
        self.same_as_inline(self.file("w.npy", npy(weights, "(6,)")), "1,1,1,-1,-1,-1", "--shape", "2x3")
        self.same_as_inline(self.file("w.csv", "1\n2\n3\n4\n5\n6\n"), self.file("g.csv", "1,1,1,-1,-1,-1"),
                            "--shape", "2x3")
        header = "{ 'shape':(2,3),'fortran_order' : False, 'descr':'<f4'}"
        self.same_as_inline(self.file("w.npy", npy(weights, "", header=header)),
                            self.file("g.npy", npy(gradients, "(2, 3)")))

    def test_npy_is_exact(self):
        values = [0.1, -1e-300, 5e-324, 1.7976931348623157e308]
        result = self.json("--rule", "adamw", "--plan", "fp64", "--weights", self.file("w.npy", npy(values, "(4,)", "<f8")),
                           "--gradients", "0,0,0,0")
        self.assertEqual([e["before"] for e in result["elements"]], values)
        scalar = self.json("--rule", "adamw", "--plan", "fp32", "--weights", self.file("w.npy", npy([0.1], "()")),
                           "--gradients", "1")
        self.assertEqual(scalar["elements"][0]["before"], struct.unpack("<f", struct.pack("<f", 0.1))[0])

    def test_bad_npy_files(self):
        def refused(content):
            path = self.file("bad.npy", content)
            message = self.refused("--rule", "adamw", "--plan", "bf16/fp32", "--weights", path, "--gradients", "1")
            self.assertIn(path, message)
            self.assertIn("allowed", message)
            return message
        good = npy([1], "(1,)")
        self.assertIn("<f4", refused(npy([1], "(1,)", ">f4")))
        self.assertIn("<i8", refused(npy([1], "(1,)", "<i8")))
        self.assertIn("structured", refused(npy([1], "", header="{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }")))
        self.assertIn("Fortran", refused(npy([1, 2, 3, 4], "(2, 2)", order="True")))
        self.assertIn("4 bytes", refused(npy([1], "(2,)")))
        self.assertIn("5 bytes", refused(npy([1], "(1,)", extra=b"x")))
        self.assertIn("shape", refused(npy([], "(0,)")))
        self.assertIn("shape", refused(npy([1], "(1099511627776, 1099511627776, 4)")))
        self.assertIn("shape", refused(npy([1], "(-1,)")))
        self.assertIn("no NPY file", refused(b"PK\x03\x04"))
        self.assertIn("no NPY file", refused(b""))
        self.assertIn("version", refused(good[:6] + b"\x04\x00" + good[8:]))
        for header in ("{'descr': '<f4', 'shape': (1,), }", "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,), }",
                       "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}", "{'descr': '<f4",
                       "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), } x", "[]"):
            self.assertIn("numpy.save writes it", refused(npy([1], "", header=header)))
        for length in range(len(good)):
            refused(good[:length])
        self.assertIn("no such file", self.refused("--rule", "adamw", "--plan", "fp32", "--weights", "/nonexistent/w.npy",
                                                   "--gradients", "1"))

    def test_bad_numbers_and_shapes(self):
        def refused(weights, gradients, *more):
            return self.refused("--rule", "adamw", "--plan", "bf16/fp32", "--weights", weights, "--gradients", gradients, *more)
        self.assertIn("--weights, number 2", refused("1,x", "1,1"))
        self.assertIn("--weights, number 2", refused("1,", "1,1"))
        self.assertIn("--gradients", refused("1,2", "1"))
        self.assertIn("2x3", refused(self.file("w.npy", npy([1] * 6, "(2, 3)")), "1,1,1,1,1,1"))
        self.assertIn("line 2", refused(self.file("w.csv", "1,2\n3\n"), "1,2"))
        self.assertIn("line 1, number 1", refused(self.file("w.csv", "a,b\n1,2\n"), "1,2"))
        self.assertIn("no numbers", refused(self.file("w.csv", ""), "1,2"))
        self.assertIn("unknown kind", refused(self.file("w.txt", "1"), "1"))
        for shape in "3x1", "2x", "x2", "0x2", "2x4294967296x4294967296", "-2":
            self.assertIn("--shape", refused("1,2", "1,1", "--shape", shape))

    def test_bad_options(self):
        def refused(*more, rule="adamw", plan="bf16/fp32"):
            return self.refused("--rule", rule, "--plan", plan, "--weights", "1", "--gradients", "1", *more)
        self.assertIn("m_adam", refused(rule="m_adamw"))
        self.assertIn("nearest is bf16", refused(plan="bf61/fp32"))
        self.assertIn("nearest is eta", refused("--set", "etta=1"))
        self.assertIn("rule.eta", refused("--set", "eta=fast"))
        self.assertIn("--set", refused("--set", "eta"))
        self.assertIn("--set", refused("--set", "problem.size=3"))
        self.assertIn("--steps", refused("--steps", "0.5"))
        self.assertIn("steps", refused("--steps", "0"))
        self.assertIn("float64", refused("--number", "float16"))
        self.assertIn("--gradients", self.refused("--rule", "adamw", "--plan", "fp32", "--weights", "1"))

    def test_a_vector_under_a_scheme_for_matrices_says_so(self):
        done = run("--rule", "adamw", "--plan", "nvfp4/fp8", "--weights", "1,2", "--gradients", "1,1")
        self.assertEqual(done.returncode, 0)
        self.assertIn("bf16", done.stderr)
        self.assertIn("--shape 1x2", done.stderr)
        self.assertIn("stored as bf16", done.stdout)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv[1])
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    if len(sys.argv) > 2:
        suite = unittest.defaultTestLoader.loadTestsFromNames(sys.argv[2:], sys.modules["__main__"])
    outcome = unittest.TextTestRunner(stream=sys.stdout, verbosity=1).run(suite)
    failed, skipped = len(outcome.failures) + len(outcome.errors), len(outcome.skipped)
    print(f"{outcome.testsRun - failed - skipped} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed or outcome.testsRun == 0 else 0)
