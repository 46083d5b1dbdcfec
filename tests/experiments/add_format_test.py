#!/usr/bin/env python3
"""Follows the README's "Add a format" word for word: the commands of its sh block, then the two lines of its cpp block.

Usage: add_format_test.py PROGRAM. Prints `N passed, N failed, N skipped` last.
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""
ROOT = pathlib.Path(__file__).resolve().parents[2]
SECTION = (ROOT / "README.md").read_text().split("## Add a format")[1].split("\n## ")[0]


def block(language):
    return re.search(rf"```{language}\n(.*?)```", SECTION, re.S).group(1)


class AddFormatTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_line(self, line):
        words = shlex.split(line, comments=True)
        self.assertEqual(words[0], "halfulp")
        done = subprocess.run([PROGRAM] + words[1:], cwd=self.folder, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, f"{line}\n{done.stdout}\n{done.stderr}")
        return done.stdout + done.stderr

    def test_a_spec_is_enough_for_check_pictures_quantize_and_run(self):
        shutil.copy(ROOT / "experiments/configs/one_weight.yaml", self.folder)
        lines = [line for line in block("sh").splitlines() if line.strip()]
        commands = [shlex.split(line)[1] for line in lines]
        for needed in ["check", "gap", "codes", "quantize", "run"]:
            self.assertIn(needed, commands)
        said = {}
        for line in lines:
            said.setdefault(shlex.split(line)[1], "")
            said[shlex.split(line)[1]] += self.run_line(line)
        # 6 bits with bias 4: max 1.75 * 2^3, steps of 2^-5 below 2^-3, so 0.3 lies between 0.25 + 0.0625 k.
        self.assertRegex(said["quantize"], r"0\.3 +0x05 +0\.3125")
        self.assertRegex(said["quantize"], r"15 +0x1f +14\b")
        for name in ["gap.svg", "gap.csv", "codes.svg", "codes.csv"]:
            self.assertGreater((self.folder / name).stat().st_size, 200, name)
        record = "".join(p.read_text() for p in sorted((self.folder / "run").rglob("*.json*")))
        self.assertIn("e3m2{bias=4}", record)

    def test_a_name_is_one_line_and_one_entry(self):
        definition, entry = block("cpp").split("...")
        shutil.copytree(ROOT / "formats", self.folder / "formats")
        catalog = self.folder / "formats/catalog.h"
        text = catalog.read_text()
        first_entry = "    NamedScalarFormat{"
        text = text.replace("struct NamedScalarFormat {", definition + "\nstruct NamedScalarFormat {", 1)
        text = text.replace(first_entry, entry.rstrip() + "\n" + first_entry, 1)
        catalog.write_text(text)
        (self.folder / "main.cpp").write_text(
            '#include <cstdio>\n#include "formats/catalog.h"\n#include "formats/encode.h"\n'
            "int main() {\n  for (const auto& known : halfulp::all_scalar_formats)\n"
            '    if (known.name == "e2m2")\n'
            '      std::printf("%g %d\\n", known.format.max_finite(), static_cast<int>(known.format.code_count()));\n}\n')
        compiler = shlex.split(os.environ.get("CXX", "c++"))
        subprocess.run(compiler + ["-std=c++20", "-I.", "main.cpp", "-o", "main"], cwd=self.folder, check=True)
        said = subprocess.run(["./main"], cwd=self.folder, capture_output=True, text=True, check=True).stdout
        self.assertEqual(said, "7 32\n")  # 1.75 * 2^2

    def test_the_doctest_line_of_the_readme_is_a_line_of_a_test(self):
        line = re.search(r"HALFULP_CHECK_FORMAT\(\"[^\"]+\"\);", SECTION).group(0)
        tests = "".join(p.read_text() for p in (ROOT / "tests/formats").glob("*.cpp"))
        self.assertIn(line, tests)


def main():
    global PROGRAM
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    outcome = unittest.main(exit=False, verbosity=1).result
    bad = len(outcome.failures) + len(outcome.errors)
    skipped = len(outcome.skipped)
    print(f"{outcome.testsRun - bad - skipped} passed, {bad} failed, {skipped} skipped")
    sys.exit(1 if bad or outcome.testsRun == 0 else 0)


main()
