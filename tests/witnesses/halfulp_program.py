"""Batched calls of the program: one process for thousands of values or codes."""
import concurrent.futures
import json
import pathlib
import subprocess

import numpy as np


def as_words(values):
    """Words that the program reads back as exactly these doubles, the sign of zeros and NaNs included."""
    signs = np.signbit(values)
    return " ".join(("-nan" if minus else "nan") if x != x else float.hex(x)
                    for x, minus in zip(np.asarray(values, np.float64).tolist(), signs.tolist()))


class Halfulp:
    def __init__(self, program):
        self.program = str(pathlib.Path(program).resolve())
        self.pool = concurrent.futures.ThreadPoolExecutor(2)  # the program runs while its witness does

    def _json(self, arguments, words):
        done = subprocess.run([self.program, *arguments, "--json"], input=words, capture_output=True,
                              text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def decode(self, spec, codes):
        """Values of codes as float64; a NaN code gives a NaN."""
        words = " ".join(map(str, np.asarray(codes).tolist()))
        values = self._json(["decode", "--format", spec], words)["values"]
        assert len(values) == len(codes)
        return np.array([float(value) for value in values])

    def quantize(self, spec, values, rounding="nearest_even", overflow="saturate", random=None):
        """Codes of values, an array of float64 or the words of one, as int64."""
        arguments = ["quantize", "--format", spec, "--rounding", rounding, "--overflow", overflow]
        if random is not None:
            arguments += ["--random", str(random)]
        words = values if isinstance(values, str) else as_words(values)
        codes = np.array(self._json(arguments, words)["codes"], np.int64)
        assert len(codes) == words.count(" ") + 1
        return codes

    def quantize_in_all(self, spec, values, roundings, overflow, randoms=(None,)):
        """Codes of the same values in every rounding with every random integer: a dictionary of futures."""
        words = as_words(values)
        return {(rounding, random): self.pool.submit(self.quantize, spec, words, rounding, overflow, random)
                for rounding in roundings for random in randoms}
