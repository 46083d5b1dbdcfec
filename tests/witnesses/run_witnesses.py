#!/usr/bin/env python3
"""Compares the program with ml_dtypes and gfloat, in a virtual environment made once in the build folder.

Usage: run_witnesses.py PROGRAM FOLDER [PYTEST ARGUMENT ...]. Ends with `N passed, N failed, N skipped`.
Without the package registry and without an environment made before, it says so and counts one skipped test.
"""
import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as xml

HERE = pathlib.Path(__file__).resolve().parent
REQUIREMENTS = HERE / "requirements.txt"
# What pip says when it got no answer. A registry that answers, but without a pinned version, is a failure.
NO_ANSWER = re.compile("connection broken by|NewConnectionError|Could not fetch URL|ConnectTimeout|"
                       "ReadTimeout|Read timed out|name resolution|Network is unreachable|"
                       "Connection refused|ProxyError")


class NoRegistry(Exception):
    """With pip's own line about it."""


class NoEnvironment(Exception):
    """With what the tools said."""


def run(command, **more):
    return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, text=True, check=False,
                          **more)


def environment(folder):
    """The interpreter of an environment with the pinned versions. The stamp is written last, so an
    interrupted installation is made anew; another Python or other pins are another stamp."""
    python, stamp = folder / "bin" / "python", folder / "installed.txt"
    wanted = f"{sys.executable} {sys.version}\n{REQUIREMENTS.read_text()}"
    if stamp.exists() and stamp.read_text() == wanted and python.exists():
        return python
    made = run([sys.executable, "-m", "venv", "--clear", folder], capture_output=True)
    if made.returncode != 0:
        raise NoEnvironment(f"no virtual environment (Debian: python3-venv):\n{made.stdout}{made.stderr}")
    installed = run([python, "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--quiet",
                     "--only-binary", ":all:", "--retries", "1", "--timeout", "20", "-r", REQUIREMENTS],
                    capture_output=True)
    if installed.returncode != 0:
        said = installed.stdout + installed.stderr
        for line in said.splitlines():
            if NO_ANSWER.search(line):
                raise NoRegistry(line.strip()[:200])
        raise NoEnvironment(f"pip could not install {REQUIREMENTS.name}:\n{said}")
    stamp.write_text(wanted)
    return python


def counts(report):
    """(passed, failed, skipped) of pytest's report in JUnit form."""
    suites = list(xml.parse(report).getroot().iter("testsuite"))
    tests, failures, errors, skipped = (sum(int(suite.get(key, 0)) for suite in suites)
                                        for key in ("tests", "failures", "errors", "skipped"))
    failed = failures + errors
    return tests - failed - skipped, failed, skipped


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    program, folder = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    try:
        python = environment(folder)
    except NoRegistry as reason:
        print(f"witnesses SKIPPED: the package registry gave no answer ({reason})")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    except NoEnvironment as reason:
        print(reason)
        print("0 passed, 1 failed, 0 skipped")
        return 1
    report = folder / "report.xml"
    report.unlink(missing_ok=True)
    # Nothing is written beside the sources.
    done = run([python, "-m", "pytest", "-p", "no:cacheprovider", "-q", "--tb=short", f"--junitxml={report}",
                f"--rootdir={HERE}", "--program", program, HERE, *sys.argv[3:]],
               env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    if not report.exists():
        print(f"pytest ended with {done.returncode} and no report")
        print("0 passed, 1 failed, 0 skipped")
        return 1
    passed, failed, skipped = counts(report)
    if done.returncode != 0 and failed == 0:
        failed = 1  # such as no test collected
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


sys.exit(main())
