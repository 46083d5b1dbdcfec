#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "emulation/quantize.h"
#include "experiments/program/arguments.h"
#include "experiments/program/command.h"
#include "experiments/program/table.h"
#include "experiments/program/tensor_text.h"
#include "formats/error.h"
#include "formats/spec.h"

namespace halfulp {
namespace {

struct Options {
  std::string format, rounding = "nearest_even", overflow = "saturate", seed, random, tensor_scale;
  std::vector<std::string> values;
  bool json = false;
};

/// The random bits that the options ask for; a stochastic rounding must have some, the others only say that
/// they need none, because no number depends on it.
ElementRandom read_random(const Options& options, const Rounding& rounding) {
  const bool any = !options.seed.empty() || !options.random.empty();
  const std::string name = to_string(rounding);
  if (!is_stochastic(rounding.mode)) {
    if (any) print_message("note: " + name + " uses no random bits, so --seed and --random change nothing");
    return {};
  }
  if (!any)
    throw Error("--rounding", "stochastic rounding needs random bits", name,
                "--seed S with it, or --random BITS to give every element the same");
  if (!options.random.empty()) {
    const std::uint64_t largest = (std::uint64_t{1} << rounding.random_bits) - 1;
    return {std::nullopt, static_cast<std::uint32_t>(read_unsigned(options.random, "--random", largest))};
  }
  const std::uint64_t seed = read_unsigned(options.seed, "--seed", std::numeric_limits<std::uint64_t>::max());
  return {RandomStream{seed, 0, 0, 0, RandomPurpose::rounding, 0}, 0};
}

std::string json_of(const Tensor& tensor) {
  nlohmann::ordered_json codes = nlohmann::json::array(), values = codes, scales = codes;
  for (std::size_t i = 0; i < tensor.size(); ++i) {
    codes.push_back(tensor.code(i));
    values.push_back(json_real(tensor.value(i)));
  }
  for (std::size_t b = 0; tensor.format().has_scale() && b < tensor.block_count(); ++b)
    scales.push_back(tensor.scale_code(b));
  const bool scaled = tensor.format().tensor_scale;
  return nlohmann::ordered_json{{"format", to_spec(tensor.format())},
                                {"codes", codes},
                                {"values", values},
                                {"scales", scales},
                                {"tensor_scale", scaled ? json_real(tensor.tensor_scale()) : nullptr}}
             .dump() +
         "\n";
}

/// One line a value: value, code, quantised value; then the scale code of its block and the tensor scale,
/// where there are such.
std::string lines_of(const std::vector<double>& values, const Tensor& tensor) {
  const BlockFormat& format = tensor.format();
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < values.size(); ++i) {
    rows.push_back(
        {real_text(values[i]), code_text(tensor.code(i), format.element.bits()), real_text(tensor.value(i))});
    if (format.has_scale())
      rows.back().push_back(code_text(tensor.scale_code(tensor.block_of(i)), format.scale.bits()));
    if (format.tensor_scale) rows.back().push_back(real_text(tensor.tensor_scale()));
  }
  return aligned(rows);
}

void run_quantize(const Options& options) {
  const BlockFormat format = parse_format(options.format);
  const Rounding rounding = parse_rounding(options.rounding);
  const SpecialValues special = special_values(parse_overflow(options.overflow));
  const ElementRandom random = read_random(options, rounding);
  std::optional<float> tensor_scale;
  if (!options.tensor_scale.empty()) tensor_scale = read_tensor_scale(options.tensor_scale, format);

  std::vector<double> values;
  const bool from_input = options.values.empty();
  for (const std::string& word : words_or_input(options.values, "values"))
    values.push_back(
        read_real(word, fmt::format("{}value {}", from_input ? "standard input, " : "", values.size() + 1)));
  const Tensor tensor = quantize(values, {values.size()}, format, rounding, special, random, tensor_scale);
  print_result(options.json ? json_of(tensor) : lines_of(values, tensor));
}

}  // namespace

void add_quantize_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("quantize", "Round values to a format: value, code and quantised value");
  const auto options = std::make_shared<Options>();
  command->add_option("--format", options->format, "format to round to; `halfulp formats` lists them")
      ->required();
  command->add_option(
      "--rounding", options->rounding,
      "nearest_even (default), nearest_away, nearest_to_zero, toward_zero, away_from_zero, up, down, "
      "odd, stochastic, stochastic_a|b|c[:N]");
  command->add_option("--overflow", options->overflow,
                      "saturate (default), ieee, ocp, p3109_finite, p3109_propagate, p3109_none, onnx");
  CLI::Option* seed =
      command->add_option("--seed", options->seed, "seed of the random bits of stochastic rounding");
  command->add_option("--random", options->random, "one integer that is every element's N random bits")
      ->excludes(seed);
  command->add_option("--tensor-scale", options->tensor_scale,
                      "fp32 tensor scale of formats that have one, given instead of chosen");
  command->add_flag("--json", options->json, "one JSON object: format, codes, values, scales, tensor_scale");
  command->add_option(
      "VALUES", options->values,
      "decimal, hex float, inf, nan; read from standard input if there are none; a block format takes "
      "them as one row");
  command->footer(
      "Examples:\n"
      "  halfulp quantize --format e4m3 0.1 -0 464 nan 0x1.8p3\n"
      "  halfulp quantize --format bf16 --rounding stochastic --seed 1 1.001\n"
      "  seq 1 32 | halfulp quantize --format mxfp4 --json");
  command->callback([options] { run_quantize(*options); });
}

}  // namespace halfulp
