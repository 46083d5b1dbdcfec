"""Comparison of two lists of codes: where they differ must be stated, and what is stated must differ."""
from typing import Callable, NamedTuple

import numpy as np


class Deviation(NamedTuple):
    """What the witness does otherwise: for inputs where `holds`, its code and halfulp's."""
    reason: str
    holds: Callable  # array of inputs -> array of bool
    theirs: int
    ours: int


def at(*numbers):
    """Holds for exactly these numbers; the sign of zeros and NaNs counts."""
    def holds(x):
        found = np.zeros(len(x), bool)
        for number in numbers:
            same = np.isnan(x) if np.isnan(number) else x == number
            found |= same & (np.signbit(x) == np.signbit(number))
        return found
    return holds


def assert_same(inputs, theirs, ours, deviations=()):
    """Equal codes at every input but the deviations, which must be as stated, and must occur."""
    theirs, ours = np.asarray(theirs).astype(np.int64), np.asarray(ours).astype(np.int64)
    assert len(inputs) == len(theirs) == len(ours) > 0
    expected = ours.copy()
    for deviation in deviations:
        where = deviation.holds(inputs)
        assert where.any(), f"no input shows it: {deviation.reason}"
        wrong = where & (ours != deviation.ours)
        assert not wrong.any(), f"{deviation.reason}: {describe(inputs, theirs, ours, wrong)}"
        expected[where] = deviation.theirs
    different = expected != theirs
    assert not different.any(), describe(inputs, theirs, ours, different)


def describe(inputs, theirs, ours, where):
    """Count and first cases of a difference."""
    cases = [f"{float.hex(float(inputs[i]))} ({inputs[i]}): witness {theirs[i]:#x}, halfulp {ours[i]:#x}"
             for i in np.flatnonzero(where)[:8]]
    return f"{np.count_nonzero(where)} of {len(inputs)} differ: " + "; ".join(cases)
