#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "formats/scalar_format.h"
#include "formats/spec/reader.h"

namespace halfulp {

/// A scalar format's spec: a name of the catalog or an alias, eXmY and ueXmY, p3109, binary8p4se, fixed, lns
/// or table, with its braces.
/// errors: refuses everything else; a block format too, whatever follows its name.
ScalarFormat read_scalar(SpecReader& reader);

/// The same where the name has been read already; nothing if it is no scalar format's.
std::optional<ScalarFormat> read_scalar_after(SpecReader& reader, const SpecWord& name);

/// Refuses a name that no format has.
[[noreturn]] void refuse_unknown_format(const SpecReader& reader, const SpecWord& name);

/// The catalog's name for a name or alias in any case; nothing without one.
std::optional<std::string_view> catalog_name(std::string_view name);

/// What eXmY is before its braces change it: the catalog's format of that name, else bias 2^(X-1) - 1, no
/// infinity, no NaN, subnormals, and both zeros (one if unsigned). Nothing if the name has another form.
/// in: name in lower case
std::optional<ScalarFormat> start_of_fields(std::string_view name);

/// eXmY or ueXmY.
std::string fields_name(const ScalarFormat& f);

/// What some settings bring with them where the spec says nothing else: an unsigned format and one whose NaN
/// stands at -0 have no -0, one without a zero has no subnormals.
void imply(ScalarFormat& f, bool says_signed, bool says_nan, bool says_zero) noexcept;

/// {bias=...,nan=...} after the name of a format of fields.
/// start: the format that the keys change.
ScalarFormat read_fields(SpecReader& reader, const SpecWord& name, const ScalarFormat& start);

}  // namespace halfulp
