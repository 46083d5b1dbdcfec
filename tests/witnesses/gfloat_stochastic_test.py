"""gfloat's stochastic roundings with explicit bits, number by number: all random integers of few bits, the
ends and the middle of many.

With nu the fraction of the gap and r of N bits, a number goes away from zero in gfloat if
  StochasticFastest  nu + r 2^-N >= 1            (stochastic_a: floor(nu 2^N) + r >= 2^N, exactly the same)
  StochasticFast     nu + (r + 1/2) 2^-N >= 1    (stochastic_b)
  Stochastic         nu 2^N to nearest even, + r >= 2^N   (stochastic_c)
  StochasticOdd      nu 2^N to nearest, ties to odd, + r >= 2^N
"""
import numpy as np
import pytest
from gfloat import RoundMode

from breakpoints import finite, next_beyond
from comparison import assert_same
from gfloat_formats import DESCRIBED, OCP, P3109, WIDE

MODES = {
    RoundMode.StochasticFastest: "stochastic_a",
    RoundMode.StochasticFast: "stochastic_b",
    RoundMode.Stochastic: "stochastic_c",
    RoundMode.StochasticOdd: "stochastic_odd",
}


def thresholds(witness, random_bits, gaps=None):
    """Every (N+1)-bit fraction of every gap, that beyond the largest number included, and both its next
    doubles: as numbers of both signs, with their exact fractions nu. `gaps` limits the gaps to so many,
    spread evenly."""
    values = finite(witness.decode_all())
    low = values[values >= 0]
    high = np.append(low[1:], next_beyond(values, witness.info.precision))
    chosen = slice(None) if gaps is None else np.linspace(0, len(low) - 1, gaps).astype(int)
    steps = 2**(random_bits + 1)
    at = (low[chosen, None] + (high - low)[chosen, None] * (np.arange(steps + 1) / steps)).ravel()
    points = np.unique(np.concatenate([at, np.nextafter(at, 0), np.nextafter(at, np.inf)]))
    points = points[(points > 0) & (points < high[-1])]
    # The difference is exact, since high <= 2 low wherever low is not 0, and a gap is a power of two.
    index = np.searchsorted(low, points, side="right") - 1
    nu = (points - low[index]) / (high - low)[index]
    if not witness.signed:
        return points, nu
    return np.concatenate([points, -points]), np.concatenate([nu, nu])


def rounds_wrongly(mode, nu, random, random_bits):
    """Stated exception: gfloat adds in double, where a sum just below 1 can become 1. The exact comparison
    is with 1 - (the random part), which is a double."""
    if mode == RoundMode.StochasticFastest:
        added = random * 2.0**-random_bits
    elif mode == RoundMode.StochasticFast:
        added = (2 * random + 1) * 2.0**-(random_bits + 1)
    else:
        return np.zeros(len(nu), bool)
    return (nu + added >= 1) & (nu < 1 - added)


def compare(halfulp, witness, random_bits, randoms, gaps=None):
    points, nu = thresholds(witness, random_bits, gaps)
    roundings = {mode: f"{name}:{random_bits}" for mode, name in MODES.items()}
    codes = halfulp.quantize_in_all(witness.spec, points, roundings.values(), "saturate", randoms)
    toward_zero = halfulp.quantize(witness.spec, points, "toward_zero", "saturate")
    wrong_sums = 0
    for mode, rounding in roundings.items():
        for random in randoms:
            theirs = witness.encode(points, mode, True, random, random_bits)
            ours = codes[rounding, random].result()
            wrong = rounds_wrongly(mode, nu, random, random_bits)
            # Where gfloat's sum is wrong it goes away from zero and halfulp does not.
            assert_same(points, np.where(wrong, toward_zero, theirs), ours)
            wrong_sums += np.count_nonzero(theirs[wrong] != ours[wrong])
    return wrong_sums


def each(witnesses):
    return pytest.mark.parametrize("witness", witnesses, ids=lambda w: w.spec)


@each(OCP + DESCRIBED)
def test_all_integers_of_three_bits(halfulp, witness):
    wrong_sums = compare(halfulp, witness, 3, range(8))
    assert wrong_sums > 0, "gfloat's sums are right: the stated exception is none"


@each(P3109)
def test_all_integers_of_two_bits(halfulp, witness):
    compare(halfulp, witness, 2, range(4))


@each(WIDE)
def test_one_bit(halfulp, witness):
    compare(halfulp, witness, 1, range(2), gaps=1000)


@each(OCP[:2] + WIDE)
def test_many_bits(halfulp, witness):
    compare(halfulp, witness, 10, [0, 1, 511, 512, 1023], gaps=3)
