#include <fmt/format.h>

#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "emulation/tensor.h"
#include "experiments/program/arguments.h"
#include "experiments/program/command.h"
#include "experiments/program/table.h"
#include "experiments/program/tensor_text.h"
#include "formats/error.h"
#include "formats/spec.h"

namespace halfulp {
namespace {

struct Options {
  std::string format, tensor_scale;
  std::vector<std::string> codes, scales;
  bool json = false;
};

std::uint32_t read_code(const std::string& text, const std::string& where, const ScalarFormat& f) {
  return static_cast<std::uint32_t>(read_unsigned(text, where, f.code_count() - 1));
}

/// Codes without their scales are not numbers, so a block format must be given one scale a block.
void set_scales(Tensor& tensor, const Options& options) {
  const BlockFormat& format = tensor.format();
  const std::size_t needed = format.has_scale() ? tensor.block_count() : 0;
  if (options.scales.size() != needed)
    throw Error("--scale",
                to_spec(format) + (needed == 0 ? " has no scales" : " needs one scale code a block"),
                fmt::format("{} scale codes", options.scales.size()), fmt::format("{}", needed));
  for (std::size_t b = 0; b < needed; ++b)
    tensor.set_scale_code(b, read_code(options.scales[b], fmt::format("scale {}", b + 1), format.scale));
  if (!options.tensor_scale.empty())
    tensor.set_tensor_scale(0, read_tensor_scale(options.tensor_scale, format));
  else if (format.has_tensor_scale())
    throw Error("--tensor-scale", to_spec(format) + " needs the tensor scale", "nothing",
                "a positive fp32 number");
}

void run_decode(const Options& options) {
  const BlockFormat format = parse_format(options.format);
  const std::vector<std::string> words = words_or_input(options.codes, "codes");
  Tensor tensor(format, {words.size()});
  for (std::size_t i = 0; i < words.size(); ++i)
    tensor.set_code(i, read_code(words[i], fmt::format("code {}", i + 1), format.element));
  set_scales(tensor, options);

  std::vector<std::vector<std::string>> rows;
  nlohmann::ordered_json codes = nlohmann::json::array(), values = codes;
  for (std::size_t i = 0; i < tensor.size(); ++i) {
    rows.push_back({code_text(tensor.code(i), format.element.bits()), number_text(tensor, i)});
    codes.push_back(tensor.code(i));
    values.push_back(format.element.has_double_view() ? json_real(tensor.value(i))
                                                      : nlohmann::ordered_json(number_text(tensor, i)));
  }
  const nlohmann::ordered_json object{{"format", to_spec(format)}, {"codes", codes}, {"values", values}};
  print_result(options.json ? object.dump() + "\n" : aligned(rows));
}

}  // namespace

void add_decode_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("decode", "Values of codes, exact");
  const auto options = std::make_shared<Options>();
  command
      ->add_option(
          "--format", options->format,
          "format of the codes: a name (`halfulp formats` lists them) or a spec such as e3m4{bias=5}")
      ->required();
  command->add_option("--scale", options->scales, "scale codes of a block format, one a block: A,B,C")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--tensor-scale", options->tensor_scale, "fp32 tensor scale of formats that have one");
  command->add_flag("--json", options->json, "one JSON object: format, codes, values");
  command->add_option("CODES", options->codes,
                      "integers: decimal, 0x hex or 0b binary; from standard input if none");
  command->footer(
      "Examples:\n"
      "  halfulp decode --format e4m3 0x7e 0b1 127\n"
      "  halfulp decode --format mxfp4 --scale 0x7f 1 2 3 15");
  command->callback([options] { run_decode(*options); });
}

}  // namespace halfulp
