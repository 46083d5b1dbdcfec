#include "formats/conformance/conversion.h"

#include "formats/encode.h"

namespace halfulp {

Conversion conversion_of(const ScalarFormat& f, const std::string& name) {
  Conversion conversion{
      .name = name,
      .decode = [f](std::uint32_t code) { return decode(f, code); },
      .convert = [f](double x, Rounding rounding, const SpecialValues& special,
                     std::uint32_t random) { return convert(x, f, rounding, special, random); }};
  if (f.has_double_view()) return conversion;
  conversion.decode_wide = [f](std::uint32_t code) { return decode_dyadic(f, code); };
  conversion.convert_wide = [f](const Dyadic& x, Rounding rounding, const SpecialValues& special,
                                std::uint32_t random) {
    return convert_dyadic(x, f, rounding, special, random);
  };
  return conversion;
}

}  // namespace halfulp
