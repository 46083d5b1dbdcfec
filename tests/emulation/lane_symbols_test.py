#!/usr/bin/env python3
"""Fails where code of one instruction set could be linked in place of another's.

The loops over arrays are compiled once for each instruction set, from the same headers. An inline function or template
that such a file leaves to the linker must name its instruction set, or the copy that is kept may be one that the CPU
cannot run.
"""
import pathlib
import subprocess
import sys
import unittest

BUILD = pathlib.Path(sys.argv.pop(1))
ARCHIVES = sorted(BUILD.glob("**/liblanes_*.a")) + sorted(BUILD.glob("**/librules_*.a"))


def shared_symbols(archive):
    """Names that the linker may take from any file that has them."""
    listing = subprocess.run(["nm", "-C", str(archive)], check=True, capture_output=True, text=True).stdout
    for line in listing.splitlines():
        fields = line.split(maxsplit=2)
        if len(fields) == 3 and fields[1] in "WVu":
            yield fields[2]


class LaneSymbols(unittest.TestCase):
    def test_every_shared_symbol_names_its_instruction_set(self):
        self.assertTrue(ARCHIVES, f"no archives of lanes in {BUILD}")
        for archive in ARCHIVES:
            target = archive.stem.split("_")[-1]
            names = [name for name in shared_symbols(archive) if not name.startswith("DW.ref.")]
            self.assertTrue(names, f"{archive.name} has no templates at all")
            for name in names:
                with self.subTest(archive=archive.name, symbol=name):
                    self.assertTrue(f"N_{target}::" in name or target == "baseline", name)


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    run = result.testsRun
    failed = len(result.failures) + len(result.errors)
    print(f"{max(run - failed, 0)} passed, {failed} failed, {len(result.skipped)} skipped")
    sys.exit(1 if failed else 0)
