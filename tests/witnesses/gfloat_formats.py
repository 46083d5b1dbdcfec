"""gfloat's descriptors of halfulp's formats, and its round-then-encode as one conversion."""
import functools
from typing import NamedTuple

import gfloat
import numpy as np
from gfloat import Domain, FormatInfo, RoundMode, Signedness
from gfloat import formats as named

import p3109_formula


class Witness(NamedTuple):
    spec: str
    info: FormatInfo

    @property
    def signed(self):
        return self.info.is_signed

    def decode_all(self):
        return decoded(self.spec)

    # Its array functions; the scalar ones take minutes for these numbers of values.
    def encode(self, values, mode=RoundMode.TiesToEven, saturate=False, random=None, random_bits=0):
        bits = None if random is None else np.full(len(values), random)
        with np.errstate(all="ignore"):
            rounded = gfloat.round_ndarray(self.info, values, mode, saturate, bits, random_bits)
            return gfloat.encode_ndarray(self.info, rounded).astype(np.int64)

    def with_one_nan(self, codes):
        """gfloat writes one NaN code whatever the NaN; codes with every NaN code turned into that one."""
        if self.info.num_nans == 0:
            return codes
        return np.where(np.isnan(self.decode_all())[codes], self.info.code_of_nan, codes)


def described(name, bits, precision, bias, *, signed=True, infinity=False, high_nans=0, negative_zero=True):
    return FormatInfo(name, bits, precision, bias=bias, is_signed=signed,
                      domain=Domain.Extended if infinity else Domain.Finite, has_nz=negative_zero,
                      num_high_nans=high_nans, has_subnormals=True, is_twos_complement=False)


OCP = [
    Witness("e4m3", named.format_info_ocp_e4m3),
    Witness("e5m2", named.format_info_ocp_e5m2),
    Witness("e3m2", named.format_info_ocp_e3m2),
    Witness("e2m3", named.format_info_ocp_e2m3),
    Witness("e2m1", named.format_info_ocp_e2m1),
    Witness("int8", named.format_info_ocp_int8),
]
E8M0 = Witness("e8m0", named.format_info_ocp_e8m0)
WIDE = [Witness("bf16", named.format_info_bfloat16), Witness("fp16", named.format_info_binary16)]
# Formats that gfloat has no name for, but can describe.
DESCRIBED = [
    Witness("e4m3_ieee", described("e4m3", 8, 4, 7, infinity=True, high_nans=7)),
    Witness("e3m4", described("e3m4", 8, 5, 3, infinity=True, high_nans=15)),
    Witness("e4m3fnuz", described("e4m3fnuz", 8, 4, 8, negative_zero=False)),
    Witness("e5m2fnuz", described("e5m2fnuz", 8, 3, 16, negative_zero=False)),
    Witness("e4m3b11fnuz", described("e4m3b11fnuz", 8, 4, 11, negative_zero=False)),
    Witness("e3m0", described("e3m0", 4, 1, 3)),
    Witness("ue4m3", described("ue4m3", 7, 4, 7, signed=False, high_nans=1, negative_zero=False)),
    Witness("ue5m3", described("ue5m3", 8, 4, 15, signed=False, high_nans=1, negative_zero=False)),
]


def p3109(f):
    return Witness(f.name, named.format_info_p3109(
        f.bits, f.precision, Signedness.Signed if f.is_signed else Signedness.Unsigned,
        Domain.Extended if f.is_extended else Domain.Finite))


@functools.cache
def decoded(spec):
    """By gfloat's scalar decoder, which is its specification."""
    info = next(w.info for w in OCP + [E8M0] + WIDE + DESCRIBED + P3109 if w.spec == spec)
    return np.array([gfloat.decode_float(info, code).fval for code in range(2**info.bits)])


P3109 = [p3109(f) for bits in range(3, 9) for f in p3109_formula.formats(bits)]

MODES = {  # gfloat's modes that take no random bits
    RoundMode.TiesToEven: "nearest_even",
    RoundMode.TiesToAway: "nearest_away",
    RoundMode.TowardZero: "toward_zero",
    RoundMode.TowardPositive: "up",
    RoundMode.TowardNegative: "down",
}
