#include "experiments/sweep_config.h"

#include <filesystem>

#include "experiments/record_file.h"
#include "experiments/tuning.h"
#include "formats/error.h"

namespace halfulp {
namespace {

using Assignment = std::vector<std::pair<std::string, std::string>>;

/// An error inside gets this place in front.
template <class F>
auto at(const std::string& where, F f) {
  try {
    return f();
  } catch (const Error& error) {
    throw Error::at(where, error);
  }
}

std::vector<std::string> values_of(const YAML::Node& node, const std::string& where) {
  std::vector<std::string> values;
  if (node.IsScalar()) values.push_back(node.Scalar());
  if (node.IsSequence())
    for (const YAML::Node& item : node) {
      if (!item.IsScalar()) throw Error(where, "a grid takes single values", YAML::Dump(item), "[a, b, ...]");
      values.push_back(item.Scalar());
    }
  if (values.empty())
    throw Error(where, "a grid needs values", YAML::Dump(node), "a value or a list of values");
  return values;
}

/// All combinations of one grid entry, the last key fastest.
std::vector<Assignment> product_of(const YAML::Node& entry, const std::string& where) {
  if (!entry.IsMap())
    throw Error(where, "a map is needed", YAML::Dump(entry), "{rule.eta: [1e-3, 1e-2], ...}");
  YamlMap unique(entry, where, "");  // refuses a key that stands twice
  std::vector<Assignment> all{{}};
  for (const auto& pair : entry) {
    const std::string key = pair.first.Scalar();
    std::vector<Assignment> longer;
    for (const Assignment& assignment : all)
      for (const std::string& value : values_of(pair.second, where + "." + key)) {
        longer.push_back(assignment);
        longer.back().emplace_back(key, value);
      }
    all = std::move(longer);
  }
  return all;
}

std::vector<Assignment> expand_grid(const YAML::Node& grid, const std::string& file) {
  if (!grid.IsDefined()) return {{}};
  if (!grid.IsSequence() || grid.size() == 0)
    throw Error(file + ", key grid", "a list of products is needed", YAML::Dump(grid), "- {key: values}");
  std::vector<Assignment> all;
  for (std::size_t i = 0; i < grid.size(); ++i)
    for (Assignment& assignment : product_of(grid[i], file + ", key grid[" + std::to_string(i) + "]"))
      all.push_back(std::move(assignment));
  return all;
}

}  // namespace

std::vector<RunConfig> parse_sweep_config(const std::string& file, const std::vector<std::string>& settings) {
  YamlMap root(load_yaml(file), file, "");
  const YAML::Node base = root.node("base"), seeds = root.node("seeds");
  if (base.IsDefined() && !base.IsMap())
    throw Error(root.where("base"), "a map is needed", YAML::Dump(base), "a run config");
  if (!base.IsDefined()) throw Error(root.where("base"), "a sweep needs a base", "", "base: {a run config}");
  const std::vector<Assignment> grid = expand_grid(root.node("grid"), file);
  const std::string tuned_by = root.text("tuned_by", "");
  root.check_all_known();

  std::vector<RunConfig> runs;
  std::set<std::uint64_t> all_seeds;
  for (const Assignment& assignment : grid) {
    YAML::Node node = YAML::Clone(base);
    for (const std::string& setting : settings) apply_setting(node, setting);
    for (const auto& [key, value] : assignment) set_yaml_key(node, key, value);
    RunConfig run = parse_run_config(node, file);
    for (const std::string& seed :
         seeds.IsDefined() ? values_of(seeds, root.where("seeds")) : std::vector{std::to_string(run.seed)}) {
      YAML::Node with_seed = YAML::Clone(node);
      set_yaml_key(with_seed, "seed", seed);
      run.seed = parse_run_config(with_seed, file).seed;
      all_seeds.insert(run.seed);
      runs.push_back(run);
    }
  }
  if (tuned_by.empty()) return runs;
  return at(root.where("tuned_by"), [&] {
    const std::filesystem::path folder = std::filesystem::path(file).parent_path() / tuned_by;
    const Winners winners = find_winners(read_records(folder.string()), all_seeds);
    for (RunConfig& run : runs) run.rule = winners.of(run);
    return runs;
  });
}

}  // namespace halfulp
