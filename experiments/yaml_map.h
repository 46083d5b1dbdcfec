#pragma once
#include <yaml-cpp/yaml.h>

#include <set>
#include <string>
#include <vector>

namespace halfulp {

/// A YAML map that is read key by key and must be read whole: a key that nobody asked for is an error that
/// names the nearest known one. Messages carry the file and the dotted path.
class YamlMap {
 public:
  /// errors: throws Error if `node` is neither a map nor absent (an absent node is an empty map).
  YamlMap(YAML::Node node, std::string file, std::string path);

  bool has(const std::string& key) const;
  /// The node of a key, undefined if absent; the key counts as known.
  YAML::Node node(const std::string& key);

  std::string text(const std::string& key, const std::string& otherwise);
  /// errors: throws Error unless the value is a finite number in [lowest, highest].
  double number(const std::string& key, double otherwise, double lowest, double highest);
  /// errors: throws Error unless the value is a whole number in [lowest, highest].
  std::uint64_t count(const std::string& key, std::uint64_t otherwise, std::uint64_t lowest,
                      std::uint64_t highest);
  /// errors: throws Error unless the value is one of `allowed`.
  std::string choice(const std::string& key, const std::string& otherwise,
                     const std::vector<std::string>& allowed);
  YamlMap map(const std::string& key);

  std::vector<std::string> keys() const;
  /// errors: throws Error on the first key that was never asked for.
  void check_all_known() const;

  const std::string& file() const { return file_; }
  std::string path_of(const std::string& key) const { return path_.empty() ? key : path_ + "." + key; }
  /// "FILE, key PATH": the `where` of an error about a key.
  std::string where(const std::string& key) const;

 private:
  std::string scalar(const std::string& key, const std::string& wanted);

  YAML::Node node_;
  std::string file_, path_;
  std::set<std::string> known_;
};

/// errors: throws Error with file, line and reason if it is missing or no YAML.
YAML::Node load_yaml(const std::string& file);

/// Sets a dotted key (rule.eta) to a value read as YAML, creating maps on the way.
/// errors: throws Error if the text is no YAML value or a part of the key is no map.
void set_yaml_key(YAML::Node root, const std::string& dotted_key, const std::string& value);

/// Splits KEY=VALUE and sets it.
/// errors: throws Error if there is no '='.
void apply_setting(YAML::Node root, const std::string& setting);

}  // namespace halfulp
