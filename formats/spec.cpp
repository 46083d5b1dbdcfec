#include "formats/spec.h"

#include "formats/spec/block_spec.h"
#include "formats/catalog.h"
#include "formats/error.h"
#include "formats/spec/scalar_spec.h"

namespace halfulp {

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const NamedScalarFormat& known : all_scalar_formats) names.emplace_back(known.name);
  for (const NamedBlockFormat& known : all_block_formats) names.emplace_back(known.name);
  return names;
}

BlockFormat parse_format(std::string_view spec) {
  SpecReader reader(spec);
  const SpecWord name = reader.word();
  std::optional<BlockFormat> format = read_block_after(reader, name);
  if (!format)
    if (const auto scalar = read_scalar_after(reader, name)) format = unscaled(*scalar);
  if (!format) refuse_unknown_format(reader, name);
  reader.expect_end();
  return *format;
}

ScalarFormat parse_scalar_format(std::string_view spec) {
  SpecReader reader(spec);
  const ScalarFormat format = read_scalar(reader);
  reader.expect_end();
  return format;
}

void require_double_view(const BlockFormat& format, std::string_view where) {
  if (format.element.has_double_view() && format.scale.has_double_view()) return;
  throw Error(std::string(where), "numbers beyond double's range", to_spec(format),
              "a format of numbers between 2^-1074 and 2^1024");
}

}  // namespace halfulp
