#!/usr/bin/env python3
"""Black-box test of the program: standard output, standard error and exit status of its commands.

Usage: program_test.py PROGRAM. Prints `N passed, N failed, N skipped` last.
"""
import csv
import io
import json
import math
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""


def run(*arguments, text=None, environment=None, folder=None):
    return subprocess.run([PROGRAM, *arguments], input=text if text is not None else "", capture_output=True,
                          text=True, timeout=60, env=environment, cwd=folder)



class ProgramTest(unittest.TestCase):
    def result(self, *arguments, **more):
        done = run(*arguments, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def refused(self, *arguments, **more):
        """The message of a command that must fail as bad usage, with nothing on standard output."""
        done = run(*arguments, **more)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertTrue(done.stderr.startswith("halfulp: "), done.stderr)
        return done.stderr

    def rows(self, *arguments, **more):
        return [line.split() for line in self.result(*arguments, **more).splitlines()]

    def json(self, *arguments, **more):
        return json.loads(self.result(*arguments, **more))


class HelpTest(ProgramTest):
    def test_every_command_has_help_with_an_example(self):
        listing = self.result("--help").split("Subcommands:")[1].split("\n\n")[0]
        commands = [line.split()[0] for line in listing.splitlines() if line.strip()]
        for known in ["formats", "quantize", "decode", "check", "gap", "error", "codes", "step", "plan", "run", "sweep", "report"]:
            self.assertIn(known, commands)
        for command in commands:
            self.assertIn(f"halfulp {command}", self.result(command, "--help").split("Example")[1], command)

    def test_version(self):
        self.assertRegex(self.result("--version"), r"^halfulp \d+\.\d+\.\d+\n$")

    def test_no_command_and_wrong_names_are_bad_usage(self):
        self.assertIn("--help", self.refused())
        self.assertIn("nearest is 'quantize'", self.refused("quantise"))
        self.assertIn("nearest is '--format'", self.refused("quantize", "--fromat", "bf16", "1"))
        self.assertIn("--format", self.refused("quantize", "1"))
        self.refused("quantize", "--format")
        self.refused("quantize", "--format", "bf16", "-x")
        self.refused("quantize", "--format", "bf16", "--format", "e4m3", "1")

    def test_a_full_disk_is_an_error(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([PROGRAM, "formats"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("standard output", done.stderr)


class FormatsTest(ProgramTest):
    def test_the_table_lists_every_format_once(self):
        names = [row[0] for row in self.rows("formats") if row and row[0] != "name"]
        self.assertEqual(names, [entry["name"] for entry in self.json("formats", "--json")])
        self.assertEqual(len(names), len(set(names)))
        self.assertIn("bf16", names)
        self.assertIn("nvfp4", names)

    def test_constants_of_the_specifications(self):
        known = {  # max, min normal, min subnormal, inf, nan, -0
            "e4m3": (448, 2**-6, 2**-9, False, True, True),
            "e5m2": (57344, 2**-14, 2**-16, True, True, True),
            "e4m3fnuz": (240, 2**-7, 2**-10, False, True, False),
            "e5m2fnuz": (57344, 2**-15, 2**-17, False, True, False),
            "e3m2": (28, 2**-2, 2**-4, False, False, True),
            "e2m3": (7.5, 1, 2**-3, False, False, True),
            "e2m1": (6, 1, 0.5, False, False, True),
            "fp16": (65504, 2**-14, 2**-24, True, True, True),
        }
        for name, expected in known.items():
            entry = self.json("formats", name, "--json")
            self.assertEqual((entry["max"], entry["min_normal"], entry["min_subnormal"],
                              entry["has_infinity"],
                              entry["has_nan"], entry["has_negative_zero"]), expected, name)

    def test_bits_per_element_include_the_scales(self):
        for name, bits in {"mxfp8_e4m3": 8.25, "mxfp6_e3m2": 6.25, "mxfp4": 4.25, "nvfp4": 4.5,
                           "fp8_tensor": 8,
                           "fp8_block256": 8.125}.items():
            self.assertEqual(self.json("formats", name, "--json")["bits_per_element"], bits, name)

    def test_an_alias_is_resolved_and_said(self):
        done = run("formats", "float8_e4m3fn", "--json")
        self.assertEqual(json.loads(done.stdout)["name"], "e4m3")
        self.assertIn("float8_e4m3fn is e4m3", done.stderr)
        self.assertIn("float8_e4m3fn", self.result("formats", "e4m3"))

    def test_the_code_table_of_e2m1(self):
        rows = self.rows("formats", "e2m1", "--table")
        self.assertEqual(rows[0], ["code", "fields", "value", "hex"])
        values = ["0", "0.5", "1", "1.5", "2", "3", "4", "6"]
        self.assertEqual([row[2] for row in rows[1:]], values + ["-" + value for value in values])
        self.assertEqual(rows[8], ["0x7", "0_11_1", "6", "0x1.8p+2"])
        self.assertEqual(len(self.rows("formats", "bf16", "--table")), 65537)

    def test_the_code_table_reads_back(self):
        for name in ["e4m3", "e5m2", "e4m3fnuz", "e8m0", "int8", "fp16"]:
            codes = self.json("formats", name, "--json", "--table")["codes"]
            finite = [c for c in codes if isinstance(c["value"], float)]
            self.assertTrue(all(float.fromhex(c["hex"]) == c["value"] for c in finite))
            done = self.json("quantize", "--format", name, "--json", text=" ".join(c["hex"] for c in finite))
            self.assertEqual(done["codes"], [c["code"] for c in finite], name)

    def test_bad_requests(self):
        message = self.refused("formats", "fp5")
        self.assertIn("fp5", message)
        self.assertIn("nvfp4", message)
        self.assertIn("nearest is bf16", self.refused("formats", "bf61"))
        self.assertIn("SPEC", self.refused("formats", "--table"))
        self.assertIn("too many codes", self.refused("formats", "fp32", "--table"))


class QuantizeTest(ProgramTest):
    def test_one_line_a_value(self):
        self.assertEqual(self.rows("quantize", "--format", "e4m3", "0.1", "464", "465", "1e9"),
                         [["0.1", "0x1d", "0.1015625"], ["464", "0x7e", "448"], ["465", "0x7e", "448"],
                          ["1000000000", "0x7e", "448"]])

    def test_negative_numbers_and_specials_are_values(self):
        words = ["-1.5", "-0", "-.5", "-inf", "-nan", "nan", "inf", "0x1.8p3", "-0x1p-9", "+3", "-1e-3",
                 "-INF"]
        codes = [row[1] for row in self.rows("quantize", "--format", "e4m3", *words)]
        self.assertEqual(codes, ["0xbc", "0x80", "0xb0", "0xfe", "0xff", "0x7f", "0x7e", "0x54", "0x81",
                                 "0x44",
                                 "0x81", "0xfe"])
        self.assertEqual(codes, [row[1] for row in self.rows("quantize", "--format", "e4m3", "--", *words)])

    def test_options_may_stand_after_values(self):
        self.assertEqual(self.json("quantize", "-1", "-inf", "--json", "--format", "bf16")["codes"],
                         [0xbf80, 0xff7f])

    def test_values_from_standard_input(self):
        self.assertEqual(self.rows("quantize", "--format", "bf16", text=" 1\n-2\t3\n\n"),
                         [["1", "0x3f80", "1"], ["-2", "0xc000", "-2"], ["3", "0x4040", "3"]])

    def test_values_are_read_as_double_and_rounded_once(self):
        # 1 + 2^-8 + 2^-50 is above a midpoint of bf16; through float it would become the midpoint, and even.
        self.assertEqual(self.rows("quantize", "--format", "bf16", "0x1.0100000000004p0")[0][1], "0x3f81")
        self.assertEqual(self.rows("quantize", "--format", "bf16", "0x1.01p0")[0][1], "0x3f80")

    def test_bad_values_are_named_with_their_position(self):
        for bad in ["abc", "1e400", "-1e400", "1e-400", "1,5", "1x", "nan(1)", "0x", ""]:
            message = self.refused("quantize", "--format", "bf16", "1", bad)
            self.assertIn("value 2", message)
            self.assertIn(f"'{bad}'", message)
        message = self.refused("quantize", "--format", "bf16", text="1 2\nfoo 4")
        self.assertIn("value 3", message)
        self.assertIn("'foo'", message)

    def test_no_values_is_an_error(self):
        self.assertIn("none were given", self.refused("quantize", "--format", "bf16", text=" \n"))

    def test_json_of_a_scalar_format(self):
        done = self.json("quantize", "--format", "e5m2", "--overflow", "ieee", "--json", "1", "1e9", "nan",
                         "-0")
        self.assertEqual(list(done), ["format", "codes", "values", "scales", "tensor_scale"])
        self.assertEqual(done["codes"], [0x3c, 0x7c, 0x7e, 0x80])
        self.assertEqual(done["values"][:3], [1.0, "inf", "nan"])
        self.assertEqual(math.copysign(1, done["values"][3]), -1)
        self.assertEqual((done["format"], done["scales"], done["tensor_scale"]), ("e5m2", [], None))
        self.assertEqual(self.json("quantize", "--format", "bfloat16", "--json", "1")["format"], "bf16")

    def test_a_block_format_takes_one_row(self):
        values = [str(i + 1) for i in range(33)]
        done = self.json("quantize", "--format", "mxfp4", "--json", *values)
        self.assertEqual(done["scales"], [127 + 5 - 2, 127 + 5 - 2])
        self.assertEqual(done["values"][31], 32.0)
        self.assertIsNone(done["tensor_scale"])
        row = self.rows("quantize", "--format", "mxfp4", *values)[31]
        self.assertEqual(row, ["32", "0x6", "32", "0x82"])

    def test_the_tensor_scale_of_nvfp4(self):
        chosen = self.json("quantize", "--format", "nvfp4", "--json", "2688", "-1344")
        self.assertEqual(chosen["tensor_scale"], 1.0)
        self.assertEqual(chosen["scales"], [0x7e])
        self.assertEqual(chosen["values"], [2688.0, -1344.0])
        given = self.json("quantize", "--format", "nvfp4", "--json", "--tensor-scale", "0.5", "3", "1")
        self.assertEqual((given["tensor_scale"], given["scales"], given["values"]), (0.5, [0x38], [3.0, 1.0]))
        for bad in ["0", "-1", "nan", "inf", "1e39", "1e-50", "x"]:
            self.assertIn("--tensor-scale", self.refused("quantize", "--format", "nvfp4", "--tensor-scale",
                                                         bad, "1"))
        self.assertIn("no tensor scale", self.refused("quantize", "--format", "bf16", "--tensor-scale", "1",
                                                      "1"))

    def test_roundings_and_policies(self):
        codes = {"nearest_even": 0x3f80, "nearest_away": 0x3f81, "nearest_to_zero": 0x3f80,
                 "toward_zero": 0x3f80,
                 "away_from_zero": 0x3f81, "up": 0x3f81, "down": 0x3f80, "odd": 0x3f81}
        for rounding, code in codes.items():
            done = self.json("quantize", "--format", "bf16", "--rounding", rounding, "--json", "0x1.01p0")
            self.assertEqual(done["codes"], [code], rounding)
        self.assertIn("nearest_even", self.refused("quantize", "--format", "bf16", "--rounding", "nearest",
                                                   "1"))
        self.assertIn("saturate", self.refused("quantize", "--format", "bf16", "--overflow", "wrap", "1"))

    def test_random_bits_enumerate_stochastic_rounding(self):
        # 1 + 3/8 of the gap of bf16: with 3 bits, 3 of the 8 integers round up.
        value = "0x1.00cp0"
        up = [self.json("quantize", "--format", "bf16", "--rounding", "stochastic_a:3", "--random", str(r),
                        "--json",
                        value, value)["codes"] for r in range(8)]
        self.assertEqual(up, [[0x3f80] * 2] * 5 + [[0x3f81] * 2] * 3)
        self.assertEqual(self.json("quantize", "--format", "bf16", "--rounding", "stochastic_a:3",
                                   "--random", "0x7",
                                   "--json", value)["codes"], [0x3f81])

    def test_a_seed_gives_every_element_its_own_bits(self):
        words = ["0x1.01p0"] * 200
        codes = [self.json("quantize", "--format", "bf16", "--rounding", "stochastic", "--seed", seed,
                           "--json",
                           *words)["codes"] for seed in ["1", "1", "2"]]
        self.assertEqual(codes[0], codes[1])
        self.assertNotEqual(codes[0], codes[2])
        # Half of 200 fair bits, six standard deviations (sqrt(200)/2 = 7.1) to both sides.
        self.assertTrue(57 <= codes[0].count(0x3f81) <= 143)

    def test_random_bits_that_do_not_fit(self):
        stochastic = ["quantize", "--format", "bf16", "--rounding", "stochastic_a:3"]
        self.assertIn("--seed", self.refused(*stochastic, "1"))
        self.assertIn("0 to 7", self.refused(*stochastic, "--random", "8", "1"))
        self.assertIn("-1", self.refused(*stochastic, "--random", "-1", "1"))
        self.assertIn("--seed", self.refused(*stochastic, "--seed", "1.5", "1"))
        self.refused(*stochastic, "--seed", "18446744073709551616", "1")
        self.refused(*stochastic, "--seed", "1", "--random", "1", "1")
        self.refused("quantize", "--format", "bf16", "--rounding", "stochastic_a:33", "--seed", "1", "1")
        done = run("quantize", "--format", "bf16", "--seed", "1", "1")
        self.assertEqual(done.returncode, 0)
        self.assertIn("no random bits", done.stderr)

    def test_fp32_agrees_with_the_machine(self):
        values = [0.1, 1 / 3, 1e-45, 2.0**-150, 16777217.0, -1e-40]
        done = self.json("quantize", "--format", "fp32", "--json", *[value.hex() for value in values])
        self.assertEqual(done["codes"], [struct.unpack("<I", struct.pack("<f",
                                                                         value))[0] for value in values])


class DecodeTest(ProgramTest):
    def test_codes_in_three_bases(self):
        self.assertEqual(self.rows("decode", "--format", "e4m3", "0x7e", "127", "0b1", "0X80"),
                         [["0x7e", "448"], ["0x7f", "nan"], ["0x01", "0.001953125"], ["0x80", "-0"]])
        self.assertEqual(self.json("decode", "--format", "e5m2", "--json", "0x7c")["values"], ["inf"])

    def test_bad_codes_are_named_with_their_position(self):
        for bad in ["256", "-1", "1.5", "0x", "0xgg", "abc", "", "99999999999999999999"]:
            message = self.refused("decode", "--format", "e4m3", "0", bad)
            self.assertIn("code 2", message)
            self.assertIn(f"'{bad}'", message)
        self.assertIn("none were given", self.refused("decode", "--format", "e4m3"))

    def test_codes_of_a_block_need_their_scales(self):
        self.assertIn("scale", self.refused("decode", "--format", "mxfp4", "1"))
        self.assertEqual(self.rows("decode", "--format", "mxfp4", "--scale", "0x80", "1", "15"),
                         [["0x1", "1"], ["0xf", "-12"]])
        self.refused("decode", "--format", "mxfp4", "--scale", "1,2", "1")
        self.refused("decode", "--format", "e4m3", "--scale", "1", "1")
        self.assertIn("tensor scale", self.refused("decode", "--format", "nvfp4", "--scale", "0x38", "1"))
        self.assertEqual(self.json("decode", "--format", "nvfp4", "--scale", "0x38", "--tensor-scale", "0.5",
                                   "--json", "7")["values"], [3.0])

    def test_decode_inverts_quantize(self):
        row = self.json("quantize", "--format", "nvfp4", "--json", *[str(i) for i in range(-20, 20)])
        back = self.json("decode", "--format", "nvfp4", "--scale", ",".join(str(s) for s in row["scales"]),
                         "--tensor-scale", float(row["tensor_scale"]).hex(), "--json",
                         *[str(c) for c in row["codes"]])
        self.assertEqual(back["values"], row["values"])


class CheckTest(ProgramTest):
    def test_a_format_is_proved_property_by_property(self):
        said = self.json("check", "e3m2{bias=4}", "--json")
        self.assertEqual((said["format"], said["holds"]), ("e3m2{bias=4}", True))
        properties = {p["name"]: p for p in said["properties"]}
        for name in ["round_trip", "order", "nearest", "directed", "overflow", "stochastic_probability", "oracle"]:
            self.assertGreater(properties[name]["cases"], 30, name)
            self.assertEqual(properties[name]["failures"], 0, name)
        self.assertEqual(properties["nearest"]["coverage"], "exhaustive")

    def test_blocks_are_checked_with_their_scales(self):
        names = [p["name"] for p in self.json("check", "mxfp4", "--json")["properties"]]
        self.assertIn("block_scale", names)
        self.assertIn("short_block", names)

    def test_bad_specs_say_where_and_why(self):
        self.assertIn("scales with a sign at position 15", self.refused("check", "block{e2m1,16,scale=e4m3}"))
        self.assertIn("NaN", self.refused("check", "e3m0{nan=ieee}"))
        self.assertIn("length 0", self.refused("check", "block{e2m1,0}"))


class PresetTest(ProgramTest):
    def test_presets_differ_where_implementations_do(self):
        # A tie, an overflowing NaN sign and the lowest MXINT8 code.
        for preset, code in [("ocp", 0x38), ("microxcaling", 0x39), ("cuda", 0x38)]:
            self.assertEqual(self.json("quantize", "--format", "e4m3", "--preset", preset, "--json", "1.0625")["codes"],
                             [code], preset)
        self.assertEqual(self.json("quantize", "--format", "e2m1", "--preset", "cuda", "--json", "--", "-nan")["codes"],
                         [7])
        self.assertIn("nearest is 'cuda'".replace("'", ""),
                      self.refused("quantize", "--format", "e4m3", "--preset", "cudo", "1").replace("'", ""))

    def test_a_column_block_is_a_row_block_of_the_other_axis(self):
        values = [str(2.0 ** (i % 5) + i) for i in range(64)]
        along = self.json("quantize", "--format", "block{e2m1,4}", "--shape", "8x8", "--axis", "0", "--json", *values)
        tiles = self.json("quantize", "--format", "block{e2m1,4x1}", "--shape", "8x8", "--json", *values)
        self.assertEqual(along["codes"], tiles["codes"])
        self.assertEqual(sorted(along["scales"]), sorted(tiles["scales"]))


class WideFormatTest(ProgramTest):
    """Formats whose numbers lie beyond double: their codes work, and what needs doubles refuses them by name."""

    def test_codes_and_exact_numbers(self):
        self.assertEqual(self.json("quantize", "--format", "binary16p1se", "--json", "3")["codes"], [0x4002])
        properties = self.json("formats", "binary16p1se", "--json")
        self.assertEqual((properties["max"], properties["lowest"]), ("1*2^16382", "-1*2^16382"))
        self.assertEqual(properties["min_positive"], "1*2^-16383")
        self.assertEqual(self.json("decode", "--format", "binary16p1se", "--json", "0x7ffe")["values"], ["1*2^16382"])

    def test_views_as_double_are_refused_by_name(self):
        self.assertIn("binary16p1se", self.refused("gap", "binary16p1se"))
        config = str(pathlib.Path(__file__).parents[2] / "experiments/configs/one_weight.yaml")
        self.assertIn("binary16p1se", self.refused("run", config, "--set", "plan=binary16p1se/fp32", "--set", "steps=1"))


class GapTest(ProgramTest):
    def table(self, text):
        rows = list(csv.reader(io.StringIO(text)))
        self.assertEqual(rows[0], ["index", "series", "magnitude", "size"])
        series = {}
        for _, label, magnitude, size in rows[1:]:
            series.setdefault(label, []).append((float(magnitude), float(size)))
        return series

    def test_csv_of_a_small_format(self):
        series = self.table(self.result("gap", "e2m1", "--update", "adamw=0.3"))
        self.assertEqual(series["e2m1 half gap"],
                         [(0.125, 0.25), (2, 0.25), (2, 0.5), (4, 0.5), (4, 1), (6, 1)])
        self.assertEqual(series["adamw 0.3 update"], [(0.125, 0.3), (8, 0.3)])
        self.assertEqual(series["e2m1: adamw 0.3 frozen above 2"], [(2, 0.3)])

    def test_the_default_overlay(self):
        series = self.table(self.result("gap", "bf16"))
        self.assertIn("adamw 0.001 update", series)
        self.assertIn("relative 0.01 update", series)
        self.assertIn("bf16: adamw 0.001 frozen above 0.5", series)
        self.assertEqual(set(self.table(self.result("gap", "bf16", "--update", "none"))),
                         {"bf16 half gap", "bf16 gap"})

    def test_a_block_format_stands_under_its_scale(self):
        series = self.table(self.result("gap", "mxfp4", "--amax", "4", "--update", "none"))
        self.assertEqual(series["mxfp4 (amax 4) half gap"][-1], (6, 1))

    def test_options_before_the_formats(self):
        self.assertIn("lmd 0.5 update", self.table(self.result("gap", "--update", "lmd=0.5", "e4m3", "e5m2")))

    def test_bad_requests(self):
        self.assertIn("nearest", self.refused("gap", "bf61"))
        self.assertIn("SPEC", self.refused("gap"))
        self.assertIn("twice", self.refused("gap", "e4m3", "e4m3fn"))
        self.assertIn("nearest is adamw", self.refused("gap", "bf16", "--update", "adanw=1"))
        self.assertIn("m+adam=ETA_A,ETA_M", self.refused("gap", "bf16", "--update", "m+adam=1"))
        self.assertIn("0 < from < to", self.refused("gap", "bf16", "--from", "2", "--to", "1"))
        self.assertIn("--from", self.refused("gap", "bf16", "--from", "-2"))
        self.assertIn("--amax", self.refused("gap", "mxfp4", "--amax", "inf"))

    def test_pictures_stand_beside_data_and_script(self):
        if shutil.which("gnuplot") is None:
            self.skipTest("gnuplot is not installed")
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for ending, start in [("svg", b"<?xml"), ("png", b"\x89PNG")]:
                self.assertEqual(self.result("gap", "bf16", "e4m3", "--out", str(folder / f"a.{ending}")), "")
                self.assertTrue((folder / f"a.{ending}").read_bytes().startswith(start))
                self.assertEqual((folder / "a.csv").read_text(), self.result("gap", "bf16", "e4m3"))
                drawn = (folder / f"a.{ending}").read_bytes()
                (folder / f"a.{ending}").unlink()
                subprocess.run(["gnuplot", "-d", "a.gp"], cwd=folder, check=True)
                self.assertEqual((folder / f"a.{ending}").read_bytes(), drawn)
            self.assertEqual(len(list(folder.iterdir())), 4)

    def test_a_csv_file_needs_no_gnuplot(self):
        with tempfile.TemporaryDirectory() as name:
            nothing = {**os.environ, "PATH": "/nonexistent"}
            self.result("gap", "bf16", "--out", "a.csv", folder=name, environment=nothing)
            self.assertIn("gnuplot-nox", self.refused("gap", "bf16", "--out", "a.svg", folder=name,
                                                      environment=nothing))
            self.assertEqual([path.name for path in pathlib.Path(name).iterdir()], ["a.csv"])

    def test_files_that_cannot_be_written(self):
        self.assertIn("/nonexistent/a.csv", self.refused("gap", "bf16", "--out", "/nonexistent/a.csv"))
        self.assertIn(".svg", self.refused("gap", "bf16", "--out", "a.pdf"))
        self.assertIn(".svg", self.refused("gap", "bf16", "--out", "a"))


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
