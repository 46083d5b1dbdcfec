"""ml_dtypes, and NumPy for float16: every code, and conversion from float at every breakpoint.

ml_dtypes rounds to nearest even and does not saturate, which is halfulp's overflow policy ocp; where it
deviates from its own rule, the deviation is stated with both codes.
"""
from typing import NamedTuple

import ml_dtypes
import numpy as np
import pytest

from breakpoints import breakpoints, finite, floats_among
from comparison import Deviation, assert_same, at


class Witness(NamedTuple):
    name: str  # in ml_dtypes or NumPy
    spec: str
    bits: int
    precision: int
    overflow: str = "ocp"
    rounding: str = "nearest_even"
    deviations: tuple = ()

    @property
    def dtype(self):
        return getattr(ml_dtypes, self.name, None) or getattr(np, self.name)

    def decode_all(self):
        codes = np.arange(2**self.bits, dtype=np.uint16 if self.bits > 8 else np.uint8)
        with np.errstate(invalid="ignore"):  # signalling NaNs
            return codes.view(self.dtype).astype(np.float64)

    def encode(self, values):
        with np.errstate(over="ignore", invalid="ignore"):
            codes = values.astype(self.dtype)
        return codes.view(np.uint16 if self.bits > 8 else np.uint8)


def nan_of(sign_bit):
    """A format without NaN takes quiet_NaN(), which is the code of -0, and then applies the sign of the NaN
    to it."""
    return (Deviation("-NaN is -0 with its sign turned", at(-np.nan), theirs=0x00, ours=sign_bit),)


NO_NAN = "ocp{nan=negative_zero}"
WITNESSES = [
    Witness("float8_e4m3fn", "e4m3", 8, 4),
    Witness("float8_e5m2", "e5m2", 8, 3),
    Witness("float8_e4m3", "e4m3_ieee", 8, 4),
    Witness("float8_e3m4", "e3m4", 8, 5),
    Witness("float8_e4m3fnuz", "e4m3fnuz", 8, 4),
    Witness("float8_e5m2fnuz", "e5m2fnuz", 8, 3),
    Witness("float8_e4m3b11fnuz", "e4m3b11fnuz", 8, 4),
    Witness("float6_e3m2fn", "e3m2", 6, 3, NO_NAN, deviations=nan_of(0x20)),
    Witness("float6_e2m3fn", "e2m3", 6, 4, NO_NAN, deviations=nan_of(0x20)),
    Witness("float4_e2m1fn", "e2m1", 4, 2, NO_NAN, deviations=nan_of(0x08)),
    # Its ties all go up, as to the even one of the significands 1 and 2; nearest_even takes the even code, as
    # P3109 does, so this is nearest_away.
    Witness("float8_e8m0fnu", "e8m0", 8, 1, "ocp", "nearest_away", (
        # halfulp has both answers, zero_without_code=nan is the other one; but ml_dtypes gives NaN for zero
        # alone and 2^-127 for positive numbers that underflow.
        Deviation("zero is NaN", at(0.0, -0.0), theirs=0xff, ours=0x00),
        # Between its first two numbers, where float is subnormal, it rounds up and not to nearest.
        Deviation("above 2^-127, below the midpoint", lambda x: (x > 2.0**-127) & (x < 1.5 * 2.0**-127),
                  theirs=0x01, ours=0x00))),
    Witness("bfloat16", "bf16", 16, 8),
    Witness("float16", "fp16", 16, 11),
]
each = pytest.mark.parametrize("witness", WITNESSES, ids=lambda w: w.name)


@each
def test_decode(halfulp, witness):
    theirs = witness.decode_all()
    ours = halfulp.decode(witness.spec, range(2**witness.bits))
    assert np.array_equal(theirs, ours, equal_nan=True)
    numbers = ~np.isnan(theirs)
    assert np.array_equal(np.signbit(theirs[numbers]), np.signbit(ours[numbers]))  # zeros
    # The witness's own names are aliases of the same formats.
    assert np.array_equal(halfulp.decode(witness.name, range(2**witness.bits)), ours, equal_nan=True)


@each
def test_encode_of_floats(halfulp, witness):
    points = floats_among(breakpoints(witness.decode_all(), witness.precision, nan=True))
    theirs = witness.encode(points.astype(np.float32))
    ours = halfulp.quantize(witness.spec, points, witness.rounding, witness.overflow)
    assert_same(points, theirs, ours, witness.deviations)


def nearest(ascending, points, rounding):
    """Index of the nearest value. It is the code in formats of one sign, so ties go to an even index or
    upward. Comparing with midpoints, which are doubles, is exact."""
    middles = (ascending[1:] + ascending[:-1]) / 2
    index = np.searchsorted(middles, points, side="left")
    tie = middles[np.minimum(index, len(middles) - 1)] == points
    return index + (tie & ((index % 2 == 1) | (rounding == "nearest_away")))


@each
def test_encode_of_doubles(halfulp, witness):
    """Rounded once, a double beside a midpoint goes to its side. ml_dtypes goes through float, where it
    becomes the midpoint: wherever the two differ, the float is a tie and halfulp has the nearest value.
    NumPy's float16 is right.
    """
    positive = finite(witness.decode_all())
    positive = positive[positive >= 0]
    points = breakpoints(witness.decode_all(), witness.precision, nan=False)
    points = points[(points >= positive[0]) & (points <= positive[-1]) & ~np.signbit(points)]
    theirs = witness.encode(points).astype(np.int64)
    ours = halfulp.quantize(witness.spec, points, witness.rounding, witness.overflow)
    assert_same(points, nearest(positive, points, witness.rounding), ours)

    for deviation in witness.deviations:
        stated = deviation.holds(points)
        points, theirs, ours = points[~stated], theirs[~stated], ours[~stated]
    if witness.name == "float16":
        return assert_same(points, theirs, ours)
    different = theirs != ours
    assert different.any()
    narrowed = points.astype(np.float32)
    assert_same(points, witness.encode(narrowed), theirs)
    middles = (positive[1:] + positive[:-1]) / 2
    assert np.isin(narrowed[different].astype(np.float64), middles).all()


def test_one_double_that_ml_dtypes_rounds_twice(halfulp):
    """Below 432, the midpoint of 416 and 448, by 2^-44: nearest is 416; the float is 432, and the tie goes
    to 448."""
    x = np.array([431.99999999999994])
    assert x[0] == 432 - 2.0**-44 and np.float32(x[0]) == 432
    assert float(x.astype(ml_dtypes.float8_e4m3fn)[0]) == 448
    assert halfulp.decode("e4m3", halfulp.quantize("e4m3", x, overflow="ocp"))[0] == 416
