#!/usr/bin/env python3
"""Black-box test of `halfulp memory`: tables worked by hand, activations, bad input.

Usage: memory_program_test.py PROGRAM. Prints `N passed, N failed, N skipped` last.
"""
import json
import os
import subprocess
import sys
import unittest

PROGRAM = ""
BF16 = "{scheme: bf16/bf16, gradient: {format: bf16}}"
# Of GPT-2 1.5B: vectors of each of 48 layers (4 norms, biases of 3 h, h, 4 h, h) and of the last norm.
PARAMETERS, VECTORS = 1_557_611_200, 48 * (4 + 9) * 1600 + 2 * 1600
# The shorter side of every matrix is 1600 but for the positions, 1024 x 1600; the longer ones.
LONGER = 50257 + 1600 + 48 * (4800 + 1600 + 6400 + 6400)


def run(*arguments):
    return subprocess.run([PROGRAM, "memory", *arguments], capture_output=True, text=True, timeout=120)


class MemoryTest(unittest.TestCase):
    def text(self, *arguments):
        done = run(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def rows(self, *arguments):
        return json.loads(self.text(*arguments, "--json"))["rows"]

    def row(self, rule, plan, *more, model="gpt2_1.5b"):
        row, = self.rows("--model", model, "--rule", rule, "--plan", plan, *more)
        self.assertEqual((row["rule"], row["plan"]), (rule, plan))
        self.assertEqual(row["total"], sum(row[key] for key in
                                           ["weights", "states", "compensation", "gradients", "activations"]))
        return row

    def refused(self, *arguments, parts):
        done = run(*arguments)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertEqual(done.stdout, "")
        for part in parts:
            self.assertIn(part, done.stderr)

    def test_adamw_by_hand(self):
        row = self.row("adamw", "fp32")
        self.assertEqual((row["weights"], row["states"], row["gradients"]),
                         (4 * PARAMETERS, 8 * PARAMETERS, 4 * PARAMETERS))
        self.assertEqual(row["bytes_per_parameter"], 16)
        self.assertEqual(self.row("adamw", BF16)["bytes_per_parameter"], 8)
        self.assertEqual(self.row("m_adam", BF16)["bytes_per_parameter"], 10)
        kahan = self.row("adamw", BF16[:-1] + ", compensation: kahan}")
        self.assertEqual((kahan["compensation"], kahan["bytes_per_parameter"]), (2 * PARAMETERS, 10))

    def test_the_article_s_table(self):
        # 3.115 GB, not 3; 6.25 bits each (rows are multiples of 32), not 6 bits of 1.5e9.
        self.assertEqual(self.row("none", "fp16/fp32")["total"], 3_115_222_400)
        self.assertEqual(self.row("none", "mxfp6_e2m3/fp32")["total"], PARAMETERS * 25 // 32)
        lmd = self.row("lmd", "mxfp6_e2m3/bf16")
        self.assertEqual(lmd["weights"], 2 * PARAMETERS * 25 // 32)
        self.assertEqual(lmd["states"], 4 * PARAMETERS)
        self.assertEqual(lmd["gradients"], 8 * PARAMETERS)

    def test_low_rank_states_by_hand(self):
        tensors = 2 + 48 * 12 + 2
        row = self.row("m_adam_apollo_e", BF16)
        # v_e: rank 4 for each index of a longer side, vectors whole, one double a tensor.
        self.assertEqual(row["low_rank"], 2 * (4 * LONGER + VECTORS) + 8 * tensors)
        self.assertEqual(row["states"], 4 * PARAMETERS + row["low_rank"])
        for rank in (1, 256):
            row = self.row(f"{{name: apollo, rank: {rank}}}", BF16)
            self.assertEqual(row["states"], 4 * (rank * LONGER + VECTORS) + 8 * tensors)
        self.assertEqual(self.row("apollo_mini", BF16)["states"],
                         self.row("{name: apollo, rank: 1}", BF16)["states"])

    def test_several_noise_samples_keep_a_sum_as_well(self):
        one, two = (self.row(f"{{name: lmd, samples: {n}}}", BF16)["gradients"] for n in (1, 2))
        self.assertEqual(one, 4 * PARAMETERS)
        self.assertEqual(two, one + 8 * PARAMETERS)  # the sum is unrounded

    def test_activations(self):
        b, s, h, a, layers = 8, 512, 1600, 25, 48
        row = self.row("adamw", "fp32", "--batch", "8", "--length", "512")
        self.assertEqual(row["activations"], layers * s * b * (34 * h + 5 * a * s))
        mx = self.row("adamw", "fp32", "--batch", "8", "--length", "512", "--activations", "mxfp6_e2m3")
        numbers = 16 * s * b * h + 2 * a * s * s * b
        self.assertEqual(mx["activations"], layers * (numbers * 25 // 32 + 2 * s * b * h + a * s * s * b))
        # The length is the context where none is given; a model that is not trained keeps none.
        self.assertEqual(self.row("adamw", "fp32", "--batch", "1")["activations"],
                         layers * 1024 * (34 * h + 5 * a * 1024))
        self.assertEqual(row["bytes_per_parameter"], 16)  # without them
        self.assertEqual(self.row("none", "fp32", "--batch", "1")["activations"], 0)

    def test_the_usual_table(self):
        text = self.text("--model", "gpt2_1.5b", "--batch", "4")
        self.assertIn("1557611200 parameters", text)
        header = text.splitlines()[1].split()
        self.assertEqual(header, ["rule", "weights", "states", "compensation", "gradients", "bytes/parameter",
                                  "activations", "total", "plan"])
        rules = [line.split()[0] for line in text.splitlines()[2:] if line and line.split()[-1].endswith(("}", "32"))]
        for rule in ("none", "adamw", "lmd", "m_adam", "m_adam_apollo_e", "apollo", "apollo_mini"):
            self.assertIn(rule, rules)
        for part in ("kahan", "3 GB in FP16 and 1.125 GB in MXFP6", "6.25 bits", "logits"):
            self.assertIn(part, text)
        # In GB with three decimals what --json gives in bytes.
        for row, line in zip(self.rows("--model", "gpt2_1.5b", "--batch", "4"), text.splitlines()[2:]):
            words = line.split(maxsplit=8)
            self.assertEqual(words[0], row["rule"])
            self.assertEqual(words[8].strip(), row["plan"])
            for word, key in zip(words[1:8], header[1:8]):
                if key == "bytes/parameter":
                    self.assertAlmostEqual(float(word), row["bytes_per_parameter"], delta=0.0000501)
                else:
                    self.assertAlmostEqual(float(word), row[key] / 1e9, delta=0.0005001)
        self.assertNotIn("MXFP6:", self.text("--model", "llama_60m"))

    def test_lines_pair_rules_and_plans(self):
        rows = self.rows("--model", "llama_60m", "--rule", "adamw", "--plan", "fp32", "--rule", "madam",
                         "--plan", "bf16/bf16")
        self.assertEqual([(row["rule"], row["plan"]) for row in rows], [("adamw", "fp32"), ("madam", "bf16/bf16")])
        rows = self.rows("--model", "llama_60m", "--rule", "adamw", "--plan", "fp32", "--plan", "bf16/fp8")
        self.assertEqual([(row["rule"], row["plan"]) for row in rows], [("adamw", "fp32"), ("adamw", "bf16/fp8")])

    def test_overrides_by_name_count(self):
        plain = self.row("adamw", "bf16/bf16", model="llama_60m")
        wide = self.row("adamw", "{scheme: bf16/bf16, overrides: [{match: '*norm*', weights: {format: fp32}}]}",
                        model="llama_60m")
        self.assertEqual(wide["weights"] - plain["weights"], 2 * 17 * 512)

    def test_bad_input(self):
        model = ["--model", "gpt2_124m"]
        self.refused(parts=["--model"])
        self.refused("--model", "gpt3", parts=["gpt3", "gpt2_124m"])
        self.refused(*model, "--rule", "adam2", "--plan", "fp32", parts=["adam2", "adamw"])
        self.refused(*model, "--rule", "adamw", "--plan", "fp31", parts=["fp31"])
        self.refused(*model, "--rule", "adamw", "--plan", "{scheme: fp32, wights: {}}", parts=["wights", "weights"])
        self.refused(*model, "--rule", "adamw", parts=["--plan"])
        self.refused(*model, "--rule", "adamw", "--rule", "madam", "--rule", "lmd", "--plan", "fp32",
                     "--plan", "bf16/fp32", parts=["--plan", "1 or 3"])
        self.refused(*model, "--length", "5", parts=["--batch"])
        self.refused(*model, "--batch", "0", parts=["--batch"])
        self.refused(*model, "--batch", "1", "--length", "2048", parts=["--length", "1024"])
        self.refused(*model, "--batch", "1", "--activations", "bf17", parts=["bf17"])
        self.refused(*model, "--rule", "{name: adamw", "--plan", "fp32", parts=["rule"])


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv[1])
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    if len(sys.argv) > 2:
        suite = unittest.defaultTestLoader.loadTestsFromNames(sys.argv[2:], sys.modules["__main__"])
    outcome = unittest.TextTestRunner(stream=sys.stdout, verbosity=1).run(suite)
    failed, skipped = len(outcome.failures) + len(outcome.errors), len(outcome.skipped)
    print(f"{outcome.testsRun - failed - skipped} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed or outcome.testsRun == 0 else 0)
