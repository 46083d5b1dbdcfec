"""The value formula of P3109 v4.0 (IEEE SA P3109 interim report, 2026-06-28, decode), in exact fractions.

binary{K}p{P}{s|u}{e|f}: bias B = 2^(K-P-1) signed, 2^(K-P) unsigned; T = code mod 2^(P-1), E = code div
2^(P-1); value (2^(P-1) + T) 2^(1-P) 2^(E-B), or T 2^(1-P) 2^(1-B) where E = 0. One NaN: code 2^(K-1)
signed, 2^K - 1 unsigned. Extended formats have +Inf at the last code before the NaN's (unsigned) or the
sign's (signed) half, -Inf at 2^K - 1.
"""
from fractions import Fraction
from typing import NamedTuple


class P3109(NamedTuple):
    bits: int
    precision: int
    is_signed: bool
    is_extended: bool

    @property
    def name(self):
        return (f"binary{self.bits}p{self.precision}"
                f"{'s' if self.is_signed else 'u'}{'e' if self.is_extended else 'f'}")

    @property
    def nan_code(self):
        return 2**(self.bits - 1) if self.is_signed else 2**self.bits - 1

    @property
    def largest_code(self):
        """Code of the largest finite value."""
        last = self.nan_code - 1
        return last - 1 if self.is_extended else last

    def value(self, code):
        """A Fraction, or the word nan, inf or -inf."""
        if code == self.nan_code:
            return "nan"
        if self.is_signed and code > self.nan_code:
            positive = self.value(code - self.nan_code)
            return "-inf" if positive == "inf" else -positive
        if code == self.largest_code + 1:
            return "inf"
        bias = 2**(self.bits - self.precision - 1) if self.is_signed else 2**(self.bits - self.precision)
        field, trailing = divmod(code, 2**(self.precision - 1))
        if field == 0:
            return Fraction(trailing, 2**(self.precision - 1)) * Fraction(2)**(1 - bias)
        return (1 + Fraction(trailing, 2**(self.precision - 1))) * Fraction(2)**(field - bias)


def formats(bits):
    """Every format of that many bits: P < K signed, P <= K unsigned."""
    return [P3109(bits, precision, is_signed, is_extended)
            for is_signed in (True, False)
            for precision in range(1, bits if is_signed else bits + 1)
            for is_extended in (True, False)]
