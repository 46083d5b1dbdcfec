#!/usr/bin/env python3
"""Runs test suites of a build folder and ends with one line: N passed, N failed, N skipped.

Counted are test cases: those that doctest reports, and those that a script reports in the same closing line as this
one. A test program that ends without a count, or badly without a failed case, counts as one failure. A test case that
prints a line with SKIPPED ran without its subject (a missing data set, no GPU) and counts as skipped, not as passed.
"""
import json
import pathlib
import re
import subprocess
import sys

DOCTEST = re.compile(r"test cases:\s*(\d+)\s*\|\s*(\d+) passed\s*\|\s*(\d+) failed")
CLOSING = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.MULTILINE)
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def count(test):
    """(passed, failed, skipped) of one finished test program."""
    output = COLOUR.sub("", test.get("stdout", "") + test.get("stderr", ""))
    passed = failed = 0
    skipped = len(re.findall(r"\bSKIPPED\b", output))
    found = DOCTEST.search(output)
    closing = CLOSING.findall(output)
    if found:
        passed, failed = int(found[2]) - skipped, int(found[3])
    elif closing:
        passed, failed, skipped = (int(number or 0) for number in closing[-1])
    elif test["result"] in {"OK", "EXPECTEDFAIL"}:
        passed = 1
    if test["result"] not in {"OK", "EXPECTEDFAIL", "SKIP"} and failed == 0:
        failed = 1
    return passed, failed, skipped


def run_suite(build, suite):
    log = build / "meson-logs" / f"testlog-{suite}.json"
    command = ["meson", "test", "-C", str(build), "--suite", suite, "--no-rebuild", "--print-errorlogs",
               "--logbase", f"testlog-{suite}"]
    finished = subprocess.run(command, check=False, stdout=sys.stderr)
    tests = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    if not tests:
        print(f"suite {suite}: no test ran (meson ended with {finished.returncode})")
        return [0, 1, 0]
    total = [0, 0, 0]
    for test in sorted(tests, key=lambda one: one["name"]):
        numbers = count(test)
        print(f"{test['name']}: {numbers[0]} passed, {numbers[1]} failed, {numbers[2]} skipped"
              f" ({test['duration']:.1f} s)")
        for line in COLOUR.sub("", test.get("stdout", "")).splitlines():
            if "SKIPPED" in line or "MESSAGE:" in line:
                print("    " + line.strip())
        total = [a + b for a, b in zip(total, numbers)]
    return total


def main():
    build, suites = pathlib.Path(sys.argv[1]), sys.argv[2:] or ["unit"]
    total = [0, 0, 0]
    for suite in suites:
        total = [a + b for a, b in zip(total, run_suite(build, suite))]
    print(f"{total[0]} passed, {total[1]} failed, {total[2]} skipped")
    return 1 if total[1] or not total[0] else 0


sys.exit(main())
