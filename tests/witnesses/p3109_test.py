"""Every code of every P3109 format of 3 to 8 bits against the standard's formula."""
from fractions import Fraction

import pytest

import p3109_formula

ALL = [f for bits in range(3, 9) for f in p3109_formula.formats(bits)]


def test_the_formula_itself():
    """Facts that the standard states in words, so that a slip in the formula here is no agreement."""
    assert len(ALL) == 120
    assert sum(2**f.bits for f in ALL) == 13296  # rows of the standard's tables for K = 3 to 8
    for f in ALL:
        middle = 2**(f.bits - 2) if f.is_signed else 2**(f.bits - 1)
        # 1 is the middle code, wherever it is finite.
        assert f.value(middle) == 1 or middle > f.largest_code, f.name
        words = [v for v in map(f.value, range(2**f.bits)) if isinstance(v, str)]
        infinities = (["inf", "-inf"] if f.is_signed else ["inf"]) if f.is_extended else []
        assert sorted(words) == sorted(infinities + ["nan"]), f.name
        positive = [f.value(code) for code in range(f.largest_code + 1)]
        assert positive[0] == 0 and all(a < b for a, b in zip(positive, positive[1:])), f.name


@pytest.mark.parametrize("f", ALL, ids=lambda f: f.name)
def test_decode(halfulp, f):
    codes = list(range(2**f.bits))
    for code, value in zip(codes, halfulp.decode(f.name, codes).tolist()):
        expected = f.value(code)
        if isinstance(expected, str):
            assert str(value) == expected, hex(code)
        else:
            assert Fraction(value) == expected and str(value) != "-0.0", hex(code)


@pytest.mark.parametrize("f", ALL, ids=lambda f: f.name)
def test_decode_and_encode_are_inverse(halfulp, f):
    codes = list(range(2**f.bits))
    values = halfulp.decode(f.name, codes)
    for overflow in ("p3109_none", "p3109_propagate"):
        assert halfulp.quantize(f.name, values, overflow=overflow).tolist() == codes
