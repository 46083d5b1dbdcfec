"""gfloat: every code, and conversion at every breakpoint in all of its modes, saturating and not."""
import gfloat
import numpy as np
import pytest
from gfloat import Domain, RoundMode

from breakpoints import breakpoints
from comparison import Deviation, assert_same, at
from gfloat_formats import DESCRIBED, E8M0, MODES, OCP, P3109, WIDE


def each(witnesses):
    return pytest.mark.parametrize("witness", witnesses, ids=lambda w: w.spec)


def points_of(witness):
    """gfloat refuses NaN where there is none. It reads a negative number to an unsigned format as a
    magnitude below zero; see test_negative_numbers_to_unsigned_formats."""
    points = breakpoints(witness.decode_all(), witness.info.precision, nan=witness.info.num_nans > 0)
    return points if witness.signed else points[~(points < 0)]


@each(OCP + [E8M0] + WIDE + DESCRIBED + P3109)
def test_decode(halfulp, witness):
    theirs = witness.decode_all()
    ours = halfulp.decode(witness.spec, range(2**witness.info.bits))
    assert np.array_equal(theirs, ours, equal_nan=True)
    numbers = ~np.isnan(theirs)
    assert np.array_equal(np.signbit(theirs[numbers]), np.signbit(ours[numbers]))  # zeros


def compare(halfulp, witness, points, overflow, saturate):
    ours = halfulp.quantize_in_all(witness.spec, points, MODES.values(), overflow)
    for mode, rounding in MODES.items():
        theirs = witness.encode(points, mode, saturate)
        assert_same(points, theirs, witness.with_one_nan(ours[rounding, None].result()))


@each(OCP + WIDE + DESCRIBED + P3109)
def test_saturating(halfulp, witness):
    points = points_of(witness)
    if witness in WIDE:  # below, the policy is of no consequence, and test_not_saturating has been there
        points = points[~(np.abs(points) < witness.info.max / 2)]
    compare(halfulp, witness, points, "saturate", saturate=True)


@each([w for w in OCP + WIDE + DESCRIBED + P3109 if w.info.num_infs + w.info.num_nans > 0])
def test_not_saturating(halfulp, witness):
    """To Inf or else NaN, but a mode that points inward stops at the largest: halfulp's policy ieee."""
    compare(halfulp, witness, points_of(witness), "ieee", saturate=False)


@each([w for w in P3109 if w.info.domain == Domain.Extended])
def test_p3109_extended(halfulp, witness):
    """For extended formats gfloat's rule is SatNone of P3109."""
    compare(halfulp, witness, points_of(witness), "p3109_none", saturate=False)


@each([w for w in P3109 if w.info.domain == Domain.Finite])
def test_p3109_finite(halfulp, witness):
    """Stated exception: gfloat overflows to NaN, P3109 v4.0 has SatNone of finite formats give the largest
    value (the lowest, below it). Each of gfloat's NaNs is such an overflow, and all other codes are
    equal."""
    points = points_of(witness)
    points = points[~np.isnan(points)]
    info = witness.info
    ours = halfulp.quantize_in_all(witness.spec, points, MODES.values(), "p3109_none")
    for mode, rounding in MODES.items():
        theirs = witness.encode(points, mode)
        overflows = theirs == info.code_of_nan
        assert overflows.any() and (np.abs(points[overflows]) > info.max).all()
        theirs = np.where(overflows, np.where(points > 0, info.code_of_max, info.code_of_min), theirs)
        assert_same(points, theirs, ours[rounding, None].result())


def test_formats_without_infinity_and_nan(halfulp):
    """Stated exception: gfloat raises where it does not saturate, and for NaN always; halfulp's conversions
    are total."""
    expected = {  # ieee overflow of both signs, then NaN and -NaN: the largest magnitude of that sign
        "e3m2": [0x1f, 0x3f, 0x1f, 0x3f], "e2m3": [0x1f, 0x3f, 0x1f, 0x3f], "e2m1": [0x7, 0xf, 0x7, 0xf],
        "e3m0": [0x7, 0xf, 0x7, 0xf], "int8": [0x7f, 0x80, 0x7f, 0x81],
    }
    seen = [w for w in OCP + DESCRIBED if w.info.num_infs + w.info.num_nans == 0]
    assert sorted(expected) == sorted(w.spec for w in seen)
    for witness in seen:
        with pytest.raises(ValueError):
            gfloat.round_float(witness.info, np.inf)
        for saturate in (False, True):
            with pytest.raises(ValueError):
                gfloat.round_float(witness.info, np.nan, sat=saturate)
        x = [np.inf, -np.inf, np.nan, -np.nan]
        ours = halfulp.quantize(witness.spec, x, overflow="ieee").tolist()
        assert ours == expected[witness.spec], witness.spec


def test_codes_of_nan(halfulp):
    """Stated exception: gfloat has the last code for every NaN, halfulp the quiet NaN of the same sign."""
    expected = {  # gfloat, halfulp for NaN and -NaN
        "e4m3": (0xff, 0x7f, 0xff), "e5m2": (0xff, 0x7e, 0xfe), "e4m3_ieee": (0xff, 0x7c, 0xfc),
        "e3m4": (0xff, 0x78, 0xf8), "bf16": (0xffff, 0x7fc0, 0xffc0), "fp16": (0xffff, 0x7e00, 0xfe00),
        "e4m3fnuz": (0x80, 0x80, 0x80), "e5m2fnuz": (0x80, 0x80, 0x80), "e4m3b11fnuz": (0x80, 0x80, 0x80),
        "e8m0": (0xff, 0xff, 0xff), "ue4m3": (0x7f, 0x7f, 0x7f), "ue5m3": (0xff, 0xff, 0xff),
    }
    seen = [w for w in OCP + [E8M0] + WIDE + DESCRIBED if w.info.num_nans > 0]
    assert sorted(expected) == sorted(w.spec for w in seen)
    for witness in seen:
        theirs = witness.encode(np.array([np.nan, -np.nan]))
        ours = halfulp.quantize(witness.spec, [np.nan, -np.nan])
        one, ours_positive, ours_negative = expected[witness.spec]
        assert theirs.tolist() == [one, one] and ours.tolist() == [ours_positive, ours_negative], witness.spec


@pytest.mark.parametrize("saturate", [False, True])
def test_e8m0(halfulp, saturate):
    """From its smallest number 2^-127 upward both agree. Stated exceptions below: gfloat leaves numbers
    that are in no code (2^-128 stays, and the scalar encoder makes NaN of it), where halfulp gives the
    smallest."""
    points = points_of(E8M0)
    inside = points[(points >= 2.0**-127) | np.isnan(points)]
    compare(halfulp, E8M0, inside, "saturate" if saturate else "ieee", saturate)

    for x, mode, rounded, theirs in [(2.0**-128, RoundMode.TiesToEven, 2.0**-128, 0xff),
                                     (2.0**-130, RoundMode.TowardPositive, 2.0**-130, 0xff),
                                     (1.5 * 2.0**-128, RoundMode.TowardZero, 2.0**-128, 0xff),
                                     (0.0, RoundMode.TiesToEven, 0.0, 0xff),
                                     (-1.0, RoundMode.TiesToEven, -1.0, 0xff)]:
        result = gfloat.round_float(E8M0.info, x, mode, saturate)
        assert (result, gfloat.encode_float(E8M0.info, result)) == (rounded, theirs), x
        ours = halfulp.quantize("e8m0", [x], MODES[mode], "saturate" if saturate else "ieee")
        assert ours.tolist() == [0xff if x < 0 else 0x00], x


@each([w for w in P3109 + DESCRIBED if not w.signed])
def test_negative_numbers_to_unsigned_formats(halfulp, witness):
    """P3109: what rounds below zero is NaN. gfloat's rounding yields that negative number, and its encoders
    know it in finite formats only (NaN); so a negative result counts as NaN here. It rounds the negative
    number itself, hence toward zero and ties away from zero are those of the magnitude mirrored: stated."""
    info, smallest = witness.info, witness.info.smallest
    points = breakpoints(witness.decode_all(), info.precision, nan=False)
    # Further down there is nothing but NaN.
    points = points[((points < 0) & (points >= -4 * smallest)) | (points == -info.max)]
    nan = info.code_of_nan
    deviations = {
        RoundMode.TowardZero: [Deviation("toward zero is down", lambda x: x > -smallest, theirs=nan, ours=0)],
        RoundMode.TiesToAway: [Deviation("ties away go up", at(-smallest / 2), theirs=0, ours=nan)],
    }
    ours = halfulp.quantize_in_all(witness.spec, points, MODES.values(), "p3109_none")
    for mode, rounding in MODES.items():
        rounded = np.array([gfloat.round_float(info, x, mode) for x in points.tolist()])
        assert (rounded <= 0).all()
        theirs = np.where(rounded < 0, nan, 0)
        assert_same(points, theirs, ours[rounding, None].result(), deviations.get(mode, ()))
    # Stated exception: gfloat takes the sign of -Inf for nothing.
    assert gfloat.round_float(info, -np.inf, sat=True) == info.max
    assert halfulp.quantize(witness.spec, [-np.inf], overflow="p3109_none").tolist() == [nan]
