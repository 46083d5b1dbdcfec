#include "formats/spec.h"

#include "formats/catalog.h"
#include "formats/error.h"
#include "formats/nearest_name.h"

namespace halfulp {

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const NamedScalarFormat& known : all_scalar_formats) names.emplace_back(known.name);
  for (const NamedBlockFormat& known : all_block_formats) names.emplace_back(known.name);
  return names;
}

BlockFormat parse_format(std::string_view spec) {
  std::string_view name = spec;
  for (const FormatAlias& known : all_format_aliases)
    if (known.alias == spec) name = known.name;
  for (const NamedScalarFormat& known : all_scalar_formats)
    if (known.name == name) return unscaled(known.format);
  for (const NamedBlockFormat& known : all_block_formats)
    if (known.name == name) return known.format;
  const std::vector<std::string> names = format_names();
  throw Error("format", "no such format (nearest is " + nearest_name(spec, names) + ")", std::string(spec),
              name_list(names));
}

ScalarFormat parse_scalar_format(std::string_view spec) {
  const BlockFormat format = parse_format(spec);
  if (format.has_scale())
    throw Error("format", "a block format stands where one number is stored", std::string(spec),
                "a scalar format");
  return format.element;
}

std::string to_spec(const BlockFormat& format) {
  for (const NamedScalarFormat& known : all_scalar_formats)
    if (unscaled(known.format) == format) return std::string(known.name);
  for (const NamedBlockFormat& known : all_block_formats)
    if (known.format == format) return std::string(known.name);
  return "unnamed";
}

}  // namespace halfulp
