#!/usr/bin/env python3
"""Compiles for machines that this one is not: -march=native is whatever CPU a user has.

Highway and g++'s own headers choose by that: files that ask which instruction sets there are, and files that use Eigen,
have failed to compile on machines with all of AVX-512 alone.
"""
import json
import pathlib
import shlex
import subprocess
import sys
import unittest

BUILD = pathlib.Path(sys.argv.pop(1))
MACHINES = ["x86-64", "haswell", "znver3", "skylake-avx512", "sapphirerapids"]
FILES = {"emulation/lanes/dispatch.cpp": MACHINES, "emulation/matmul_kernels.cpp": MACHINES[-1:],
         "experiments/bench/reference_kernels.cpp": MACHINES[-1:],
         "tests/experiments/logistic_regression_test.cpp": MACHINES[-1:]}


def commands():
    """The compile command of each of the files, as a list of words."""
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        path = (pathlib.Path(entry["directory"]) / entry["file"]).resolve().as_posix()
        for name in FILES:
            if path.endswith("/" + name):
                yield name, entry["directory"], shlex.split(entry["command"])


def for_machine(words, machine):
    """The same command for another machine, its object dropped."""
    kept, skip = [], False
    for word in words:
        if skip or word in ("-o", "-MF", "-MQ"):
            skip = not skip
        elif word != "-MD" and not word.startswith("-march="):
            kept.append(word)
    return kept[:1] + [f"-march={machine}"] + kept[1:] + ["-o", "/dev/null"]


class OtherMachines(unittest.TestCase):
    def test_what_depends_on_the_machine_compiles_for_each(self):
        found = list(commands())
        self.assertEqual(sorted(name for name, _, _ in found), sorted(FILES))
        for name, directory, words in found:
            for machine in FILES[name]:
                with self.subTest(file=name, machine=machine):
                    done = subprocess.run(for_machine(words, machine), cwd=directory, capture_output=True, text=True,
                                          check=False)
                    self.assertEqual(done.returncode, 0, done.stderr[:2000])


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    run = result.testsRun
    failed = len(result.failures) + len(result.errors)
    print(f"{max(run - failed, 0)} passed, {failed} failed, {len(result.skipped)} skipped")
    sys.exit(1 if failed else 0)
