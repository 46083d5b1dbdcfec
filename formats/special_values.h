#pragma once
#include <string>
#include <string_view>

#include "formats/overflow.h"

namespace halfulp {

/// Special values of a text: an overflow policy, optionally with switches, as in saturate{nan=zero,nan_sign=drop}:
///   nan=max_finite_signed|max_finite_positive|zero|negative_zero   where there is no NaN code
///   nan_sign=keep|drop   nan_payload=canonical|keep_top|all_ones   symmetric=no|yes (fixed point without its lowest code)
///   negative_zero=keep|drop_source|drop   subnormals=keep|flush_results|flush_sources
///   zero_without_code=smallest|nan   negative_in_unsigned=nan|zero|magnitude
/// errors: throws Error naming what is allowed.
SpecialValues parse_special_values(std::string_view text);

/// Text that parse_special_values reads back: the policy, and the switches that differ from its plain use.
std::string to_string(const SpecialValues& special);

}  // namespace halfulp
