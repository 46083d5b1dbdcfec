#include <fmt/format.h>

#include <memory>

#include "experiments/program/arguments.h"
#include "experiments/program/command.h"
#include "experiments/program/format_text.h"
#include "experiments/program/table.h"
#include "experiments/program/tensor_text.h"
#include "formats/catalog.h"
#include "formats/error.h"
#include "formats/spec.h"

namespace halfulp {
namespace {

struct Options {
  std::string spec;
  bool json = false, table = false;
};

/// A table of 2^20 rows is still a file one can work with; the codes of fp32 would fill a disk.
constexpr int widest_table_bits = 20;

std::string catalog_text() {
  std::vector<std::vector<std::string>> scalars{
      {"name", "bits", "e", "m", "bias", "max", "min_normal", "min_subnormal", "inf", "nan", "zeros"}};
  for (const NamedScalarFormat& known : all_scalar_formats) {
    const ScalarFormat& f = known.format;
    const bool floating = !f.is_fixed_point;
    scalars.push_back({std::string(known.name), std::to_string(f.bits()),
                       floating ? std::to_string(f.exponent_bits) : "-", std::to_string(f.fraction_bits),
                       floating ? std::to_string(f.bias) : "-", real_text(f.max_finite()),
                       floating ? real_text(f.min_normal()) : "-", subnormal_text(f), infinity_text(f),
                       nan_text(f), zeros_text(f)});
  }
  std::vector<std::vector<std::string>> blocks{
      {"name", "element", "scale", "rule", "tensor_scale", "bits_per_element", "block"}};
  for (const NamedBlockFormat& known : all_block_formats) {
    const BlockFormat& f = known.format;
    blocks.push_back({std::string(known.name), to_spec(unscaled(f.element)), to_spec(unscaled(f.scale)),
                      std::string(name_of(f.rule)), tensor_scale_text(f), cost_text(f), shape_text(f.shape)});
  }
  return aligned(scalars) + "\n" + aligned(blocks);
}

std::string catalog_json() {
  nlohmann::ordered_json array = nlohmann::json::array();
  for (const std::string& name : format_names()) array.push_back(format_json(name, parse_format(name)));
  return array.dump(2) + "\n";
}

std::string layout_text(const ScalarFormat& f) {
  if (f.is_table()) return fmt::format("table of {} numbers, ascending", f.table_size);
  if (f.is_fixed_point)
    return fmt::format("two's complement, in steps of 2^{}", 1 - f.bias - f.fraction_bits);
  return fmt::format("{}{} exponent, {} fraction", f.is_signed ? "1 sign, " : "", f.exponent_bits,
                     f.fraction_bits);
}

std::vector<std::vector<std::string>> scalar_rows(const ScalarFormat& f) {
  const int bits = f.bits();
  const bool floating = !f.is_fixed_point && !f.is_table();
  std::vector<std::vector<std::string>> rows{{"bits", std::to_string(bits)}, {"layout", layout_text(f)}};
  if (floating) rows.push_back({"bias", std::to_string(f.bias)});
  const auto both = [&](const Dyadic& x) {
    return f.has_double_view() ? real_text(double_of(x)) + "  " + hex_text(double_of(x)) : number_text(x);
  };
  const DyadicEnds ends = ends_of(f);
  rows.push_back({"max", both(ends.max) + "  code " + code_text(ends.max_code, bits)});
  rows.push_back({"lowest", both(ends.lowest)});
  if (ends.min_normal) rows.push_back({"min_normal", both(*ends.min_normal)});
  if (f.is_table())
    rows.push_back({"min_positive", both(ends.min_positive)});
  else
    rows.push_back({f.is_fixed_point ? "step" : "min_subnormal",
                    ends.min_subnormal ? both(*ends.min_subnormal) : "none"});
  rows.push_back({"inf", infinity_text(f)});
  rows.push_back({"nan", nan_text(f) + (f.has_nan() ? "  codes " + nan_codes_text(f) : "")});
  rows.push_back({"zeros", zeros_text(f)});
  return rows;
}

std::string properties_text(const std::string& name, const BlockFormat& format) {
  std::vector<std::vector<std::string>> rows{{"name", name}};
  if (format.has_scale()) {
    rows.push_back({"block", shape_text(format.shape)});
    rows.push_back({"scale", to_spec(unscaled(format.scale))});
    rows.push_back({"rule", std::string(name_of(format.rule))});
    rows.push_back({"tensor_scale", tensor_scale_text(format)});
    rows.push_back({"bits_per_element", cost_text(format)});
    rows.push_back({"element", to_spec(unscaled(format.element))});
  }
  for (const auto& row : scalar_rows(format.element))
    rows.push_back({(format.has_scale() ? "element " : "") + row[0], row[1]});
  std::string aliases;
  for (const std::string& alias : aliases_of(name)) aliases += (aliases.empty() ? "" : ", ") + alias;
  rows.push_back({"aliases", aliases.empty() ? "none" : aliases});
  return aligned(rows);
}

void require_small(const std::string& name, const ScalarFormat& f) {
  if (f.bits() > widest_table_bits)
    throw Error("--table", "too many codes", fmt::format("{} ({} bits)", name, f.bits()),
                fmt::format("formats of up to {} bits", widest_table_bits));
}

std::string table_text(const ScalarFormat& f) {
  std::vector<std::vector<std::string>> rows{{"code", "fields", "value", "hex"}};
  for (std::uint64_t code = 0; code < f.code_count(); ++code) {
    const auto c = static_cast<std::uint32_t>(code);
    const Dyadic number = decode_dyadic(f, c);
    rows.push_back({code_text(c, f.bits()), fields_text(f, c), number_text(number),
                    f.has_double_view() ? hex_text(double_of(number)) : number_text(number)});
  }
  return aligned(rows);
}

nlohmann::ordered_json table_json(const ScalarFormat& f) {
  nlohmann::ordered_json codes = nlohmann::json::array();
  for (std::uint64_t code = 0; code < f.code_count(); ++code) {
    const auto c = static_cast<std::uint32_t>(code);
    const Dyadic number = decode_dyadic(f, c);
    if (f.has_double_view())
      codes.push_back({{"code", c},
                       {"fields", fields_text(f, c)},
                       {"value", json_real(double_of(number))},
                       {"hex", hex_text(double_of(number))}});
    else
      codes.push_back({{"code", c}, {"fields", fields_text(f, c)}, {"value", number_text(number)}});
  }
  return codes;
}

void run_formats(const Options& options) {
  if (options.spec.empty()) {
    if (options.table) throw Error("--table", "needs a format", "nothing", "halfulp formats SPEC --table");
    print_result(options.json ? catalog_json() : catalog_text());
    if (!options.json)
      print_message(
          "any other format is a spec: e3m4{bias=5}, binary8p4se (P3109), fixed{bits=8,fraction=6}, "
          "lns{8,gamma=8}, table{FILE}, block{e2m1,16,scale=ue4m3,rule=rceil,tensor_scale=fp32}, "
          "nvfp4{four_over_six=mae}; formats/spec.h is the grammar");
    return;
  }
  const BlockFormat format = parse_format(options.spec);
  const std::string name = to_spec(format);
  if (name != options.spec) print_message("note: " + options.spec + " is " + name);
  if (options.table) require_small(name, format.element);
  if (options.json) {
    nlohmann::ordered_json object = format_json(name, format);
    if (options.table) object["codes"] = table_json(format.element);
    return print_result(object.dump(2) + "\n");
  }
  if (options.table && format.has_scale())
    print_message("note: the codes of " + to_spec(unscaled(format.element)) +
                  ", the element, without a scale");
  print_result(options.table ? table_text(format.element) : properties_text(name, format));
}

}  // namespace

void add_formats_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("formats", "All formats, or the properties and code points of one");
  const auto options = std::make_shared<Options>();
  command->add_option("SPEC", options->spec, "a format; all of them if left out");
  command->add_flag("--json", options->json, "for scripts");
  command->add_flag("--table", options->table, "every code: hex, fields, exact value, hex float");
  command->footer(
      "Examples:\n"
      "  halfulp formats\n"
      "  halfulp formats nvfp4\n"
      "  halfulp formats e2m1 --table");
  command->callback([options] { run_formats(*options); });
}

}  // namespace halfulp
