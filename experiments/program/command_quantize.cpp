#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "emulation/axis_order.h"
#include "emulation/quantize.h"
#include "experiments/program/arguments.h"
#include "experiments/program/command.h"
#include "experiments/program/number_input.h"
#include "experiments/program/table.h"
#include "experiments/program/tensor_text.h"
#include "formats/error.h"
#include "formats/preset.h"
#include "formats/spec.h"
#include "formats/special_values.h"

namespace halfulp {
namespace {

struct Options {
  std::string format, rounding = "nearest_even", overflow = "saturate", preset, seed, random, tensor_scale,
                      shape, axis;
  std::vector<std::string> values;
  bool json = false;
};

/// What the options make of the values: how they are rounded, and in which order blocks see them.
struct Request {
  BlockFormat format;
  Rounding rounding;
  SpecialValues special;
};

Request read_request(const Options& options) {
  const BlockFormat format = parse_format(options.format);
  if (options.preset.empty())
    return {format, parse_rounding(options.rounding), parse_special_values(options.overflow)};
  const Preset& preset = parse_preset(options.preset);
  return {under_preset(format, preset), rounding_under_preset(format, preset),
          special_under_preset(format, preset)};
}

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

/// An axis of the shape, counted from its end if negative; the last one without the option.
int read_axis(const std::string& text) {
  if (text.empty()) return -1;
  const bool from_end = text.front() == '-';
  const auto count = static_cast<int>(read_unsigned(from_end ? text.substr(1) : text, "--axis", 1000));
  return from_end ? -count : count;
}

/// Place of each given value in the tensor.
std::vector<std::size_t> places_of(const AxisOrder& order) {
  std::vector<std::size_t> places(order.from.size());
  for (std::size_t i = 0; i < places.size(); ++i) places[order.from[i]] = i;
  return places;
}

std::string json_of(const Tensor& tensor, const std::vector<std::size_t>& places) {
  nlohmann::ordered_json codes = nlohmann::json::array(), values = codes, scales = codes;
  const bool has_values = tensor.format().element.has_double_view();
  for (const std::size_t i : places) {
    codes.push_back(tensor.code(i));
    values.push_back(has_values ? json_real(tensor.value(i))
                                : nlohmann::ordered_json(number_text(tensor, i)));
  }
  for (std::size_t b = 0; tensor.format().has_scale() && b < tensor.block_count(); ++b)
    scales.push_back(tensor.scale_code(b));
  nlohmann::ordered_json second;
  if (tensor.tensor_scale_count() == 1) second = json_real(tensor.tensor_scale(0).decode);
  for (std::size_t i = 0; tensor.tensor_scale_count() > 1 && i < tensor.tensor_scale_count(); ++i)
    second.push_back(json_real(tensor.tensor_scale(i).decode));
  return nlohmann::ordered_json{{"format", to_spec(tensor.format())},
                                {"codes", codes},
                                {"values", values},
                                {"scales", scales},
                                {"tensor_scale", second}}
             .dump() +
         "\n";
}

/// One line a value: value, code, quantised value; then the scale code of its block and the tensor scale,
/// where there are such.
std::string lines_of(const std::vector<double>& values, const Tensor& tensor,
                     const std::vector<std::size_t>& places) {
  const BlockFormat& format = tensor.format();
  std::vector<std::vector<std::string>> rows;
  for (std::size_t given = 0; given < values.size(); ++given) {
    const std::size_t i = places[given];
    rows.push_back(
        {real_text(values[given]), code_text(tensor.code(i), format.element.bits()), number_text(tensor, i)});
    if (format.has_scale())
      rows.back().push_back(code_text(tensor.scale_code(tensor.block_of(i)), format.scale.bits()));
    if (format.has_tensor_scale())
      rows.back().push_back(real_text(tensor.tensor_scale(tensor.tensor_scale_index(i)).decode));
  }
  return aligned(rows);
}

void run_quantize(const Options& options) {
  const Request request = read_request(options);
  const BlockFormat& format = request.format;
  const ElementRandom random = read_random(options, request.rounding);
  std::optional<float> tensor_scale;
  if (!options.tensor_scale.empty()) tensor_scale = read_tensor_scale(options.tensor_scale, format);

  std::vector<double> values;
  const bool from_input = options.values.empty();
  for (const std::string& word : words_or_input(options.values, "values"))
    values.push_back(
        read_real(word, fmt::format("{}value {}", from_input ? "standard input, " : "", values.size() + 1)));
  const std::vector<std::size_t> shape = options.shape.empty() ? std::vector<std::size_t>{values.size()}
                                                               : read_shape_of(options.shape, values.size());
  const AxisOrder order = axis_last(shape, read_axis(options.axis));
  const std::vector<double> moved = reordered<double>(order, values);
  const Tensor tensor =
      quantize(moved, order.shape, format, request.rounding, request.special, random, tensor_scale);
  const std::vector<std::size_t> places = places_of(order);
  print_result(options.json ? json_of(tensor, places) : lines_of(values, tensor, places));
}

}  // namespace

void add_quantize_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("quantize", "Round values to a format: value, code and quantised value");
  const auto options = std::make_shared<Options>();
  command
      ->add_option("--format", options->format,
                   "format to round to: a name (`halfulp formats` lists them) or a spec such as e3m4{bias=5}")
      ->required();
  CLI::Option* rounding = command->add_option(
      "--rounding", options->rounding,
      "nearest_even (default), nearest_away, nearest_to_zero, toward_zero, away_from_zero, up, down, "
      "odd, stochastic, stochastic_a|b|c|odd[:N], stochastic_equal");
  CLI::Option* overflow = command->add_option(
      "--overflow", options->overflow,
      "saturate (default), ieee, ocp, p3109_finite, p3109_propagate, p3109_none, onnx; with switches: "
      "saturate{nan=zero,nan_sign=drop,nan_payload=keep_top,symmetric=yes,negative_zero=drop,"
      "subnormals=flush_results,zero_without_code=nan,negative_in_unsigned=magnitude}");
  command
      ->add_option("--preset", options->preset,
                   "rounding, special values and scale rule of an implementation: ocp, torchao, "
                   "transformer_engine, microxcaling, cuda, p3109")
      ->excludes(rounding)
      ->excludes(overflow);
  command->add_option("--shape", options->shape, "ROWSxCOLUMNS of the values (default: one row)");
  command->add_option("--axis", options->axis, "axis that blocks run along (default: the last, -1)");
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
      "  seq 1 32 | halfulp quantize --format mxfp4 --json\n"
      "  halfulp quantize --format 'e3m4{bias=5}' --preset cuda 0.1 nan\n"
      "  seq 1 64 | halfulp quantize --format 'block{e2m1,2x4,rule=rceil}' --shape 8x8");
  command->callback([options] { run_quantize(*options); });
}

}  // namespace halfulp
