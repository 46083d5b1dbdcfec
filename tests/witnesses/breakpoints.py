"""Numbers where a conversion can go wrong, made from the values that a witness gives for a format.

Every finite value, every midpoint of neighbours, the overflow midpoint and the number beyond it: each with
the next double and the next float on both sides; then the ends of float and double, zeros and infinities,
and NaNs where they are asked for.
"""
import math

import numpy as np

FLOAT_MAX = float(np.finfo(np.float32).max)


def finite(values):
    """The distinct finite values, ascending, as float64."""
    values = np.asarray(values, np.float64)
    return np.unique(values[np.isfinite(values)])


def next_beyond(values, precision):
    """The number after the largest value if exponents had no end: one step of its binade further, where the
    step is that of `precision` bits, but not below the smallest step of all (subnormals, fixed point)."""
    largest = float(values[-1])
    step = math.ldexp(1.0, math.frexp(largest)[1] - precision)
    # Without a zero (E8M0) the smallest gap is not the step: its first two values are a binade apart.
    return largest + (max(step, float(np.diff(values).min())) if values[0] <= 0 else step)


def with_neighbours(points):
    """The points and, on both sides of each, the next double and the next float."""
    points = np.asarray(points, np.float64)
    near = points[np.abs(points) < FLOAT_MAX].astype(np.float32)
    with np.errstate(over="ignore", under="ignore"):
        return np.concatenate([points, np.nextafter(points, np.inf), np.nextafter(points, -np.inf),
                               np.nextafter(near, np.float32(np.inf)).astype(np.float64),
                               np.nextafter(near, np.float32(-np.inf)).astype(np.float64)])


def breakpoints(values, precision, nan):
    """in: the format's values in any order, NaNs and infinities among them; precision with the leading
    bit."""
    ascending = finite(values)
    beyond = next_beyond(ascending, precision)
    on_line = np.concatenate([ascending, [beyond]])
    if ascending[0] < 0:
        on_line = np.concatenate([[-beyond], on_line])
    if 0 not in ascending:
        on_line = np.concatenate([[0.0], on_line])  # E8M0: what lies between zero and the smallest
    points = with_neighbours(np.concatenate([on_line, (on_line[1:] + on_line[:-1]) / 2]))
    tiny = np.array([5e-324, 2.0**-150, 2.0**-149, 2.0**-127, 2.0**-126, 2.0**-64])
    huge = np.array([2 * beyond, 2.0**64, FLOAT_MAX, 2.0**128, np.finfo(np.float64).max, np.inf])
    points = np.unique(np.concatenate([points, -points, tiny, -tiny, huge, -huge]))
    points = points[points != 0]
    specials = [0.0, -0.0] + ([np.nan, -np.nan] if nan else [])
    return np.concatenate([points, specials])


def floats_among(points):
    """The points that are floats, NaNs and infinities included."""
    with np.errstate(over="ignore"):
        return points[(points.astype(np.float32).astype(np.float64) == points) | np.isnan(points)]
