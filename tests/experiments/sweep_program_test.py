#!/usr/bin/env python3
"""Black-box test of run, sweep and plan: bad input, same bytes, kills at any moment, and the plan's words.

Usage: sweep_program_test.py PROGRAM. Prints `N passed, N failed, N skipped` last.
"""
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = ""
TOY = """problem: {name: zero_initialized, size: 40}
rule: {name: adamw, eta: 1e-2}
plan: {scheme: bf16/fp32}
steps: 6
"""
SWEEP = """base: {problem: {name: zero_initialized, size: 40}, rule: {name: adamw}, plan: {scheme: bf16/fp32},
       steps: 6}
seeds: [0, 1]
grid:
  - {rule.name: adamw, rule.eta: [1e-3, 1e-2], plan.scheme: [fp32, fp8/fp8]}
  - {rule.name: [madam, lmd, m_adam], plan.weights.rounding: stochastic}
"""
DIVERGING = """problem: {name: zero_initialized, size: 8}
rule: {name: adamw, eta: 1e6, weight_decay: 1e6}
plan: {scheme: fp32}
steps: 50
"""
LAUNCHERS = ("SLURM_", "OMPI_", "PMI_")


def clean_environment(**more):
    return {k: v for k, v in os.environ.items() if not k.startswith(LAUNCHERS)} | more


class ExperimentTest(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name)

    def file(self, text, name="config.yaml"):
        (self.folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return name

    def call(self, *arguments, **more):
        return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=120,
                              cwd=self.folder, stdin=subprocess.DEVNULL, env=clean_environment(**more))

    def result(self, *arguments, **more):
        done = self.call(*arguments, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def refused(self, *arguments, parts=(), **more):
        """Bad usage: status 2, nothing on standard output, a message with these parts, and no new file."""
        before = sorted(self.folder.rglob("*"))
        done = self.call(*arguments, **more)
        self.assertEqual(done.returncode, 2, (arguments, done.stdout, done.stderr))
        self.assertEqual(done.stdout, "")
        self.assertTrue(done.stderr.startswith("halfulp: "), done.stderr)
        self.assertNotIn("exception", done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)
        self.assertEqual(sorted(self.folder.rglob("*")), before, arguments)
        return done.stderr

    def records(self, folder):
        """Lines of all record files, sorted."""
        return sorted(line for path in (self.folder / folder).glob("records*.jsonl")
                      for line in path.read_text().splitlines(keepends=True))


class BadInputTest(ExperimentTest):
    def test_settings_of_a_run(self):
        config = self.file(TOY)
        for setting, key in [("plan.scheme=fp9/fp32", "key plan"), ("plan.scheme=bf16/fp9", "key plan"),
                             ("rule.name=sgdm", "key rule.name"), ("rule.etaa=1", "key rule.etaa"),
                             ("rule.eta=fast", "key rule.eta"), ("rule.eta=-1", "key rule.eta"),
                             ("rule.eta=[1]", "key rule.eta"), ("rule.eta=1e7", "key rule.eta"),
                             ("plan.weights.rounding=up_down", "key plan.weights.rounding"),
                             ("plan.weights.overflow=wrap", "key plan.weights.overflow"),
                             ("plan.weights.format=fp5", "key plan.weights.format"),
                             ("problem.name=rosenbrok", "key problem.name"),
                             ("problem.size=0", "key problem"),
                             ("problem.size=x", "key problem.size"), ("steps=-3", "key steps"),
                             ("steps=0", "key steps"), ("steps=1e3", "key steps"),
                             ("number=float16", "key number"),
                             ("schedule=linnear", "key schedule"), ("stpes=3", "key stpes")]:
            message = self.refused("run", config, "--out", "out", "--set", setting,
                                   parts=["config.yaml", key])
            self.assertRegex(message, r"given '.*', allowed: .", setting)
        self.refused("run", config, "--set", "plan={scheme: fp8/fp8, weights: {scale: sometimes}}",
                     parts=["key plan.weights.scale", "sometimes", "recompute"])
        self.refused("run", config, "--set", "plan.overrides=[{match: nothing, weights: {format: fp16}}]",
                     "--out", "out", parts=["nothing"])

    def test_settings_without_a_place(self):
        config = self.file(TOY)
        for setting in ["steps", "=3", "steps.x=3", "rule.eta=[1"]:
            self.refused("run", config, "--set", setting, parts=["given '", "allowed: "])
        self.refused("run", self.file("[1, 2]", "list.yaml"), "--set", "steps=3", parts=["allowed: "])
        self.refused("run", self.file("hello", "word.yaml"), "--set", "steps=3", parts=["allowed: "])

    def test_files(self):
        self.refused("run", "none.yaml", parts=["none.yaml", "allowed: "])
        self.refused("run", ".", parts=["given '.'", "allowed: "])
        self.refused("run", self.file(""), parts=["key problem"])
        self.refused("run", self.file("[1, 2]"), parts=["config.yaml", "a map"])
        self.refused("run", self.file("rule: [1\nplan: }"), parts=["config.yaml, line 2", "malformed"])
        self.refused("run", self.file(TOY + "steps: 7\n"), parts=["key steps", "twice"])
        self.refused("run", self.file(TOY.replace("eta: 1e-2", "eta: 1, eta: 2")),
                     parts=["key rule.eta", "twice"])
        self.refused("run", self.file(TOY + "---\nsteps: 7\n"), parts=["config.yaml"])
        self.refused("run", self.file(b"problem: \xff\n"), parts=["config.yaml"])
        self.refused("run", self.file("problem: {name: fashion_mlp, data_set: /nonexistent}\nrule: adamw\n"),
                     "--out", "out", parts=["/nonexistent", "allowed: "])

    def test_folders_devices_and_threads(self):
        config = self.file(TOY)
        for command in ["run", "sweep"]:
            path = config if command == "run" else self.file(SWEEP, "sweep.yaml")
            self.refused(command, path, "--out", "/dev/null/x", parts=["/dev/null/x", "allowed: "])
            self.refused(command, path, "--out", config, parts=[config, "allowed: "])
            self.refused(command, path, "--out", "out", "--threads", "0", parts=["--threads"])
        self.refused("run", config, "--device", "tpu", parts=["--device", "given 'tpu'", "allowed: cpu"])
        self.refused("run", parts=["config"])
        self.refused("sweep", config, parts=["--out"])

    def test_sweeps(self):
        base = SWEEP.split("seeds")[0]
        for text, part in [("", "key base"), ("base: 5\n", "given '5'"), (base + "grid: 5\n", "key grid"),
                           (base + "grid: {rule.eta: [1]}\n", "key grid"), (base + "grid: []\n", "key grid"),
                           (base + "grid: [{rule.eta: []}]\n", "key grid[0].rule.eta"),
                           (base + "grid: [{rule.eta: 1, rule.eta: 2}]\n", "rule.eta"),
                           (base + "grid: [{rule.eta: [1, x]}]\n", "key rule.eta"),
                           (base + "grid: [{problem.size: [4, 0]}]\n", "key problem"),
                           (base + "seeds: [x]\n", "key seed"), (base + "seedz: [0]\n", "key seedz"),
                           (base + "tuned_by: nowhere\n", "nowhere"),
                           (base + "tuned_by: .\n", "key tuned_by")]:
            self.refused("sweep", self.file(text), "--out", "out", parts=[part])
        self.file(SWEEP)
        for shard in ["3/3", "0/0", "1", "a/b", "0/3/4", "/3", "0/", "0x0/3", "-1/3"]:
            self.refused("sweep", "config.yaml", "--out", "out", "--shard", shard,
                         parts=["--shard", "0 <= i < n"])

    def test_a_damaged_record_is_named(self):
        self.file(SWEEP)
        (self.folder / "out").mkdir()
        (self.folder / "out" / "records.jsonl").write_text("garbage\n")
        done = self.call("sweep", "config.yaml", "--out", "out")
        self.assertEqual(done.returncode, 2)
        self.assertIn("records.jsonl, line 1", done.stderr)


class RunTest(ExperimentTest):
    def test_divergence_is_a_result_and_a_sweep_goes_on(self):
        done = self.call("run", self.file(DIVERGING), "--out", "out")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("warning: the run diverged at step 4", done.stderr)
        record = json.loads(self.records("out")[0])
        self.assertEqual((record["status"], record["diverged_at"]), ("diverged", 4))
        indented = "".join("  " + line + "\n" for line in DIVERGING.splitlines())
        done = self.call("sweep", self.file("base:\n" + indented + "grid: [{rule.eta: [1e6, 1e-9, 1e5]}]\n"),
                         "--out", "swept", "--threads", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("warning: diverged"), 2)
        self.assertIn("3 runs, 0 of them already there, 2 diverged", done.stdout)
        self.assertEqual(len(self.records("swept")), 3)
        for line in self.records("swept"):  # infinities and NaNs are no JSON
            json.loads(line, parse_constant=lambda name: self.fail(name))

    def test_the_same_bytes_for_any_threads_and_folder(self):
        config = self.file(TOY)
        for settings in [[], ["plan.scheme=nvfp4/fp8"],
                         ["rule={name: m_adam}", "plan.weights.rounding=stochastic"]]:
            more = [word for setting in settings for word in ("--set", setting)]
            outputs = {self.result("run", config, "--json", "--threads", threads, *more) for threads in "112"}
            self.assertEqual(len(outputs), 1)
            for number, folder in enumerate(["a", "b/c"]):
                self.result("run", config, "--out", folder, "--threads", str(number + 1), *more)
            self.assertEqual(self.records("a"), self.records("b/c"))
            self.assertIn(outputs.pop(), self.records("a"))
        self.assertEqual(len(self.records("a")), 3)
        self.result("run", config, "--out", "a")  # there already
        self.assertEqual(len(self.records("a")), 3)


class SweepTest(ExperimentTest):
    def test_threads_and_shards_give_the_same_lines(self):
        config = self.file(SWEEP)
        said = self.result("sweep", config, "--out", "one", "--threads", "1")
        self.assertIn("14 runs, 0 of them already there", said)
        self.result("sweep", config, "--out", "two", "--threads", "2")
        for shard in range(7):
            self.result("sweep", config, "--out", "shards", "--shard", f"{shard}/7")
        self.result("sweep", config, "--out", "slurm", SLURM_ARRAY_TASK_ID="0", SLURM_ARRAY_TASK_COUNT="2")
        self.result("sweep", config, "--out", "slurm", OMPI_COMM_WORLD_RANK="1", OMPI_COMM_WORLD_SIZE="2")
        lines = self.records("one")
        self.assertEqual(len(lines), 14)
        for folder in ["two", "shards", "slurm"]:
            self.assertEqual(self.records(folder), lines, folder)
        self.assertIn("14 runs, 14 of them already there", self.result("sweep", config, "--out", "shards"))
        self.assertEqual(self.records("shards"), lines)

    def test_killed_at_random_moments_nothing_is_lost_and_nothing_runs_twice(self):
        text = SWEEP.replace("seeds: [0, 1]", f"seeds: {list(range(40))}")
        config = self.file(text.replace("steps: 6", "steps: 60"))
        begin = time.monotonic()
        self.assertIn("280 runs", self.result("sweep", config, "--out", "whole", "--threads", "2"))
        whole = time.monotonic() - begin
        chance, killed = random.Random(7), 0
        for _ in range(100):
            if killed == 20:
                break
            process = subprocess.Popen([PROGRAM, "sweep", config, "--out", "killed", "--threads", "2"],
                                       cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                       env=clean_environment())
            time.sleep(chance.uniform(0, min(whole, 4) / 20))
            if process.poll() is None:
                killed += 1
            process.send_signal(signal.SIGKILL)
            process.wait()
            finished = self.folder / "killed" / "records.jsonl"
            # A line torn in the middle, as a dying machine leaves it.
            if finished.exists() and chance.random() < 0.5:
                with open(finished, "a") as out:
                    out.write('{"key":"0123456789abcdef","bits_ver')
        self.assertEqual(killed, 20)
        self.assertLess(len(self.records("killed")), 280)  # the last kill came before the end
        self.result("sweep", config, "--out", "killed", "--threads", "2")
        self.assertEqual(self.records("killed"), self.records("whole"))
        self.assertIn("280 of them already there", self.result("sweep", config, "--out", "killed"))

    def test_a_second_process_on_the_same_folder_is_refused(self):
        config = self.file(SWEEP.replace("steps: 6", "steps: 200000"))
        first = subprocess.Popen([PROGRAM, "sweep", config, "--out", "out", "--threads", "1"],
                                 cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                 env=clean_environment())
        try:
            records = self.folder / "out" / "records.jsonl"
            environment = self.folder / "out" / "environment.jsonl"
            for _ in range(200):
                if records.exists() and environment.exists():
                    break
                time.sleep(0.05)
            time.sleep(0.2)
            self.assertIsNone(first.poll())
            for command in [["sweep", config], ["run", self.file(TOY, "toy.yaml")]]:
                self.refused(*command, "--out", "out",
                             parts=["another process", "records.jsonl", "one process"])
        finally:
            first.kill()
            first.wait()
        self.result("run", "toy.yaml", "--out", "out")  # the lock died with its process


class PlanTest(ExperimentTest):
    def plan(self, problem, rule, scheme, *more):
        """Text of each tensor's points, and (weights, states) bytes per parameter of all tensors."""
        config = self.file(f"problem: {problem}\nrule: {rule}\nplan: {scheme}\n")
        text = self.result("plan", config, *more)
        total = re.search(r"all tensors: .* weights ([0-9.]+), states ([0-9.]+), compensation ([0-9.]+), "
                          r"gradients ([0-9.]+), together ([0-9.]+)", text)
        weights, states, compensation, gradients, together = map(float, total.groups())
        # four decimals each
        self.assertAlmostEqual(weights + states + compensation + gradients, together, delta=3e-4)
        return text, weights, states

    def test_the_points_stand_in_the_order_of_the_step(self):
        # A step reads, looks at the view, computes states and u, forms wanted, then scales of tensors,
        # then stores the states and after them the weight slots, each in the order of the rule.
        slots = {"adamw": ["m", "v", "w"], "madam": ["v", "w"], "m_adam": ["m", "v", "v_e", "w"],
                 "lmd": ["v_plus", "v_minus", "m_plus", "m_minus"]}
        for rule, names in slots.items():
            for scheme in ["fp32", "bf16/fp32", "bf16/bf16", "bf16/fp8", "fp8/fp8"]:
                text, _, _ = self.plan("{name: zero_initialized, size: 512}", rule, scheme)
                points = re.findall(r"^  \d+\. (.*)$", text, re.M)
                places = [next(i for i, point in enumerate(points) if point.startswith(word)) for word in
                          ["betas", "weights and states read", "forward and backward", "gradient",
                           "new states", "wanted = before + u"]]
                self.assertEqual(places, sorted(places))
                stores = [point.split(",")[0] for point in points if point.startswith("store ")]
                self.assertEqual(stores, [f"store {name}" for name in names], (rule, scheme))
                self.assertEqual([point for point in points[-len(names):]],
                                 [point for point in points if point.startswith("store ")])
                wide = [i for i, point in enumerate(points) if point.startswith("scale of all of ")]
                weights = [name for name in names if name == "w" or name.startswith("m_")]
                self.assertEqual([points[i].split(":")[0] for i in wide],
                                 [f"scale of all of {name}" for name in weights]
                                 if scheme == "fp8/fp8" else [])
                self.assertTrue(all(places[-1] < i < len(points) - len(names) for i in wide))
                self.assertEqual(text.count("noisy sample"), rule == "lmd")

    def test_stores_name_format_rounding_overflow_and_scale_policy(self):
        text, _, _ = self.plan("{name: zero_initialized, size: 512}", "adamw", "fp8/fp8")
        self.assertRegex(text, r"store w, .*e4m3, one fp32 .* scale per tensor, nearest_even, saturate, "
                               r"scale lazy\{headroom=1\}")
        self.assertRegex(text, r"store m, .*e4m3, one fp32 .* scale per 256 flattened .*scale recompute")
        self.assertRegex(text, r"store v, .*e5m2, one fp32 .* scale per 256 flattened .*scale recompute")
        text, _, _ = self.plan("{name: zero_initialized, size: 512}", "lmd", "bf16/fp32")
        self.assertRegex(text, r"store m_plus, .*bf16, stochastic")
        self.assertRegex(text, r"store v_plus, .*fp32, nearest_even")

    def test_bytes_per_parameter_by_hand(self):
        toy = "{name: zero_initialized, size: 512}"  # two blocks of 256
        fp8_state = 1 + 2 * 4 / 512  # a byte each, a float for each block
        for rule, weight_slots, states in [("adamw", 1, 2), ("madam", 1, 1), ("m_adam", 1, 3), ("lmd", 2, 2)]:
            for scheme, weight_bytes, state_bytes in [
                    ("fp32", 4, 4), ("bf16/fp32", 2, 4), ("bf16/bf16", 2, 2), ("bf16/fp8", 2, fp8_state),
                    ("fp8/fp8", 1 + 4 / 512, fp8_state), ("mxfp4/fp32", 0.5 + 1 / 32, 4),
                    ("nvfp4/bf16", 0.5 + 1 / 16 + 4 / 512, 2)]:  # one row
                _, weights, in_states = self.plan(toy, rule, scheme)
                self.assertAlmostEqual(weights, weight_slots * weight_bytes, delta=1e-4, msg=(rule, scheme))
                self.assertAlmostEqual(in_states, states * state_bytes, delta=1e-4, msg=(rule, scheme))
        _, weights, in_states = self.plan(toy, "adamw", "fp64")
        self.assertEqual((weights, in_states), (8, 16))
        # 8.25, 6.25, 4.25 bits of the MX formats.
        for scheme, bits in [("mxfp8_e4m3", 8.25), ("mxfp6_e2m3", 6.25), ("mxint8", 8.25)]:
            self.assertAlmostEqual(self.plan(toy, "adamw", scheme + "/fp32")[1], bits / 8, delta=1e-4)

    @unittest.skipUnless(os.path.exists("/usr/share/datasets/fashion-mnist"), "no Fashion-MNIST here")
    def test_nvfp4_on_matrices(self):
        # 64 x 256 and 10 x 64, rows of whole blocks: half a byte, a scale byte for 16, one float a tensor.
        _, weights, _ = self.plan("fashion_mlp", "adamw", "nvfp4/fp8")
        size = 64 * 256 + 10 * 64
        self.assertAlmostEqual(weights, (size * (0.5 + 1 / 16) + 8) / size, delta=1e-4)

    def test_scales_that_span_the_tensor_say_from_what(self):
        def scales(plan):
            text, _, _ = self.plan("{name: zero_initialized, size: 512}", "adamw", plan)
            return re.findall(r"scale of all of (\w+): ([^,]*), from the amax of (.*)", text)
        plan = "{scheme: fp8/fp32, weights: {scale: delayed}, first_moment: {format: fp8_tensor}}"
        self.assertEqual(scales(plan), [("m", "recompute", "what is to be stored"),
                                        ("w", "delayed", "what was stored")])
        # Chosen once, before the first step.
        self.assertEqual(scales("{scheme: fp8/fp32, weights: {scale: keep}}"), [])


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv[1])
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    if len(sys.argv) > 2:
        suite = unittest.defaultTestLoader.loadTestsFromNames(sys.argv[2:], sys.modules["__main__"])
    outcome = unittest.TextTestRunner(stream=sys.stdout, verbosity=1).run(suite)
    failed, skipped = len(outcome.failures) + len(outcome.errors), len(outcome.skipped)
    print(f"{outcome.testsRun - failed - skipped} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0)
