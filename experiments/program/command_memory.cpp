#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "experiments/models/transformer_shapes.h"
#include "experiments/plan_config.h"
#include "experiments/program/arguments.h"
#include "experiments/program/command.h"
#include "experiments/program/table.h"
#include "experiments/rule_config.h"
#include "formats/error.h"
#include "formats/nearest_name.h"
#include "formats/spec.h"
#include "optimizers/memory.h"

namespace halfulp {
namespace {

struct MemoryOptions {
  std::string model, batch, length, activations = "bf16";
  std::vector<std::string> rules, plans;
  bool json = false;
};

/// One line of the table, as it is asked for.
struct Recipe {
  std::string rule, plan;
};

/// "none" for a rule: a model that is not trained.
constexpr const char* no_rule = "none";

/// What the table holds where nothing is asked for: the weights alone, then training in the ways that halfulp
/// knows. bf16 recipes keep gradients in bf16 too.
const std::vector<Recipe> usual_recipes{
    {no_rule, "fp16/fp32"},
    {no_rule, "mxfp6_e2m3/fp32"},
    {"adamw", "fp32"},
    {"adamw", "{scheme: bf16/bf16, gradient: {format: bf16}}"},
    {"adamw", "{scheme: bf16/bf16, gradient: {format: bf16}, compensation: kahan}"},
    {"adamw", "{scheme: bf16/bf16, gradient: {format: bf16}, compensation: collage_plus}"},
    {"adamw", "{scheme: bf16/fp8, gradient: {format: bf16}}"},
    {"adamw", "{scheme: mxfp6_e2m3/bf16, gradient: {format: bf16}}"},
    {"lmd", "{scheme: mxfp6_e2m3/bf16, gradient: {format: bf16}}"},
    {"m_adam", "{scheme: bf16/bf16, gradient: {format: bf16}}"},
    {"m_adam_apollo_e", "{scheme: bf16/bf16, gradient: {format: bf16}}"},
    {"m_adam", "{scheme: nvfp4/fp8, gradient: {format: bf16}}"},
    {"apollo", "{scheme: bf16/bf16, gradient: {format: bf16}}"},
    {"apollo_mini", "{scheme: bf16/bf16, gradient: {format: bf16}}"},
};

std::vector<Recipe> read_recipes(const MemoryOptions& options) {
  if (options.rules.empty() && options.plans.empty()) return usual_recipes;
  const std::size_t rows = std::max(options.rules.size(), options.plans.size());
  const auto at = [&](const std::vector<std::string>& given, const char* option, std::size_t i) {
    if (given.size() != 1 && given.size() != rows)
      throw Error(option, "one for each line, or one for all of them", std::to_string(given.size()),
                  "1 or " + std::to_string(rows));
    return given[given.size() == 1 ? 0 : i];
  };
  std::vector<Recipe> recipes;
  for (std::size_t i = 0; i < rows; ++i)
    recipes.push_back({at(options.rules, "--rule", i), at(options.plans, "--plan", i)});
  return recipes;
}

/// Bytes of the whole model, without activations.
StoredBytes bytes_of(const Recipe& recipe, const TensorRegistry& tensors) {
  YAML::Node root(YAML::NodeType::Map);
  const bool is_trained = recipe.rule != no_rule;
  set_yaml_key(root, "rule", is_trained ? recipe.rule : "adamw");
  set_yaml_key(root, "plan", recipe.plan);
  YamlMap map(root, "options", "");
  const AnyRule rule = parse_rule(map);
  const Plan plan = parse_plan(map, "plan", default_rounding(rule));
  StoredBytes all;
  for (const TensorInfo& tensor : tensors.tensors())
    all += stored_bytes(rule, plan.of(tensor), tensor, plan.scheme == "fp64" ? 8 : 4);
  return is_trained ? all : StoredBytes{.weights = all.weights};
}

struct Activations {
  BlockFormat format;
  std::size_t batch, length, bytes;  ///< bytes: of all layers
};

std::optional<Activations> read_activations(const MemoryOptions& options, const TransformerShape& shape) {
  if (options.batch.empty()) {
    if (!options.length.empty())
      throw Error("--length", "activations need a batch too", options.length, "--batch B");
    return std::nullopt;
  }
  Activations a{parse_format(options.activations), read_unsigned(options.batch, "--batch", 1 << 20),
                shape.context, 0};
  const std::size_t longest = shape.family == TransformerShape::Family::gpt2 ? shape.context : 1 << 20;
  if (!options.length.empty()) a.length = read_unsigned(options.length, "--length", longest);
  if (a.batch == 0) throw Error("--batch", "an empty batch", options.batch, "1 or more");
  if (a.length == 0) throw Error("--length", "an empty sequence", options.length, "1 or more");
  a.bytes = shape.layers * activation_bytes_of_layer(shape, a.format, a.batch, a.length);
  return a;
}

std::vector<std::string> footnotes(const MemoryOptions& options, const TransformerShape& shape,
                                   const std::optional<Activations>& activations) {
  std::vector<std::string> notes{
      "none: the weights of a model that is not trained. States include low-rank ones; gradients one number "
      "for each "
      "weight slot (lmd has two), and their sum as well where a step has several samples. Views of noisy "
      "weights are not counted; bytes per parameter are without activations."};
  if (activations)
    notes.push_back(
        fmt::format("Activations: batch {}, length {}, stored as {}; kept for the backward pass by {} "
                    "layers, without embeddings, "
                    "last norm, logits, loss, temporaries; recomputation and fused attention keep less.",
                    activations->batch, activations->length, to_spec(activations->format), shape.layers));
  if (options.rules.empty() && shape.name == "gpt2_1.5b")
    notes.push_back(
        "An article on LMD gives this model 3 GB in FP16 and 1.125 GB in MXFP6: 16 and 6 bits of each of "
        "1.5e9 weights. "
        "The model has 1,557,611,200 parameters; MXFP6 stores 6.25 bits of each, since every 32 share a "
        "scale of 8; and "
        "that is the weights alone. LMD stores a weight as the difference of two (m_plus, m_minus), so 12.5 "
        "bits, and "
        "beside them two states, gradients and activations.");
  return notes;
}

nlohmann::ordered_json json_of(const Recipe& recipe, const StoredBytes& bytes, std::size_t activations,
                               std::size_t parameters) {
  return {{"rule", recipe.rule},
          {"plan", recipe.plan},
          {"weights", bytes.weights},
          {"states", bytes.states + bytes.low_rank},
          {"low_rank", bytes.low_rank},
          {"compensation", bytes.compensation},
          {"gradients", bytes.gradient + bytes.accumulator},
          {"bytes_per_parameter", static_cast<double>(bytes.total()) / static_cast<double>(parameters)},
          {"activations", activations},
          {"total", bytes.total() + activations}};
}

std::vector<std::string> line_of(const nlohmann::ordered_json& row, bool with_activations) {
  std::vector<std::string> line{row["rule"]};
  const auto add = [&](const char* key) {
    line.push_back(fmt::format("{:.3f}", row[key].get<double>() / 1e9));
  };
  for (const char* key : {"weights", "states", "compensation", "gradients"}) add(key);
  line.push_back(fmt::format("{:.4f}", row["bytes_per_parameter"].get<double>()));
  if (with_activations) add("activations");
  add("total");
  line.push_back(row["plan"]);
  return line;
}

void memory_command(const MemoryOptions& options) {
  const TransformerShape& shape = find_transformer(options.model);
  const TensorRegistry tensors = tensors_of(shape);
  const std::optional<Activations> activations = read_activations(options, shape);
  const std::size_t parameters = tensors.total_size();

  std::vector<std::vector<std::string>> table{
      {"rule", "weights", "states", "compensation", "gradients", "bytes/parameter", "total", "plan"}};
  if (activations) table[0].insert(table[0].begin() + 6, "activations");
  nlohmann::ordered_json rows = nlohmann::json::array();
  for (const Recipe& recipe : read_recipes(options)) {
    const std::size_t kept = activations && recipe.rule != no_rule ? activations->bytes : 0;
    rows.push_back(json_of(recipe, bytes_of(recipe, tensors), kept, parameters));
    table.push_back(line_of(rows.back(), activations.has_value()));
  }
  const std::vector<std::string> notes = footnotes(options, shape, activations);
  if (options.json) {
    nlohmann::ordered_json json{
        {"model", shape.name}, {"parameters", parameters}, {"rows", rows}, {"notes", notes}};
    return print_result(json.dump() + "\n");
  }
  std::string text = fmt::format("{}: {} parameters in {} tensors; GB (10^9 bytes)\n", shape.name, parameters,
                                 tensors.tensors().size()) +
                     aligned(table);
  for (const std::string& note : notes) text += "\n" + note + "\n";
  print_result(text);
}

std::string model_names() {
  std::vector<std::string> names;
  for (const TransformerShape& shape : transformer_shapes()) names.emplace_back(shape.name);
  return name_list(names);
}

}  // namespace

void add_memory_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("memory", "What training a model keeps in memory, by rule and plan");
  const auto options = std::make_shared<MemoryOptions>();
  command->add_option("--model", options->model, model_names())->required();
  command
      ->add_option("--rule", options->rules,
                   "a rule, {name: apollo, rank: 128}, or none; again for more lines. Default: a list of "
                   "usual recipes")
      ->allow_extra_args(false);
  command
      ->add_option("--plan", options->plans,
                   "of that rule, as under `plan` in a config: bf16/bf16, {scheme: ...}")
      ->allow_extra_args(false);
  command->add_option("--batch", options->batch,
                      "sequences in a batch; without it no activations are counted");
  command->add_option("--length", options->length,
                      "tokens in a sequence (default: the context of the model)");
  command->add_option("--activations", options->activations,
                      "format that activations are kept in (default bf16)");
  command->add_flag("--json", options->json, "bytes as one line of JSON");
  command->footer(
      "Examples:\n"
      "  halfulp memory --model gpt2_1.5b --batch 8 --length 1024\n"
      "  halfulp memory --model llama_1b --rule adamw --plan bf16/bf16 --rule '{name: apollo, rank: 512}' "
      "--plan bf16/bf16");
  command->callback([options] { memory_command(*options); });
}

}  // namespace halfulp
