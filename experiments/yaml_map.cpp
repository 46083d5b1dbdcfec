#include "experiments/yaml_map.h"

#include <charconv>
#include <filesystem>
#include <fstream>

#include "formats/error.h"
#include "formats/nearest_name.h"

namespace halfulp {
namespace {

/// Well-formed by the table of RFC 3629: lead byte, then as many continuation bytes as it says; no overlong forms,
/// surrogates, or numbers beyond 10FFFF.
bool is_utf8(const std::string& text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  for (std::size_t i = 0; i < text.size();) {
    const unsigned lead = byte(i), next = byte(i + 1);
    const std::size_t more = lead < 0x80                    ? 0
                             : lead >= 0xc2 && lead <= 0xdf ? 1
                             : lead >= 0xe0 && lead <= 0xef ? 2
                             : lead >= 0xf0 && lead <= 0xf4 ? 3
                                                            : 9;
    if (more == 9 || (lead == 0xe0 && next < 0xa0) || (lead == 0xed && next > 0x9f) ||
        (lead == 0xf0 && next < 0x90) || (lead == 0xf4 && next > 0x8f))
      return false;
    for (std::size_t k = 1; k <= more; ++k)
      if ((byte(i + k) & 0xc0) != 0x80) return false;
    i += more + 1;
  }
  return true;
}

std::string shortest(double value) {
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

}  // namespace

YamlMap::YamlMap(YAML::Node node, std::string file, std::string path)
    : node_(std::move(node)), file_(std::move(file)), path_(std::move(path)) {
  if (node_.IsDefined() && !node_.IsNull() && !node_.IsMap())
    throw Error(where(""), "a map is needed", YAML::Dump(node_), "key: value pairs");
  std::set<std::string> seen;
  if (node_.IsMap())
    for (const auto& pair : node_) {
      if (!pair.first.IsScalar())
        throw Error(where(""), "a key is no text", YAML::Dump(pair.first), "key: value pairs");
      if (!seen.insert(pair.first.Scalar()).second)
        throw Error(where(pair.first.Scalar()), "the key stands twice", pair.first.Scalar(), "each key once");
    }
}

std::string YamlMap::where(const std::string& key) const {
  const std::string path = key.empty() ? path_ : path_of(key);
  return path.empty() ? file_ : file_ + ", key " + path;
}

bool YamlMap::has(const std::string& key) const { return node_.IsMap() && node_[key].IsDefined(); }

YAML::Node YamlMap::node(const std::string& key) {
  known_.insert(key);
  return has(key) ? node_[key] : YAML::Node(YAML::NodeType::Undefined);
}

std::string YamlMap::scalar(const std::string& key, const std::string& wanted) {
  const YAML::Node value = node(key);
  if (!value.IsScalar()) throw Error(where(key), "a single value is needed", YAML::Dump(value), wanted);
  return value.Scalar();
}

std::string YamlMap::text(const std::string& key, const std::string& otherwise) {
  known_.insert(key);
  return has(key) ? scalar(key, "a text") : otherwise;
}

double YamlMap::number(const std::string& key, double otherwise, double lowest, double highest) {
  known_.insert(key);
  if (!has(key)) return otherwise;
  const std::string wanted = "a number in [" + shortest(lowest) + ", " + shortest(highest) + "]";
  const std::string given = scalar(key, wanted);
  double value = 0;
  const auto [end, status] = std::from_chars(given.data(), given.data() + given.size(), value);
  if (status != std::errc{} || end != given.data() + given.size())
    throw Error(where(key), "no number", given, wanted);
  if (!(value >= lowest && value <= highest)) throw Error(where(key), "out of range", given, wanted);
  return value;
}

std::uint64_t YamlMap::count(const std::string& key, std::uint64_t otherwise, std::uint64_t lowest,
                             std::uint64_t highest) {
  known_.insert(key);
  if (!has(key)) return otherwise;
  const std::string wanted =
      "a whole number in [" + std::to_string(lowest) + ", " + std::to_string(highest) + "]";
  const std::string given = scalar(key, wanted);
  std::uint64_t value = 0;
  const auto [end, status] = std::from_chars(given.data(), given.data() + given.size(), value);
  if (status != std::errc{} || end != given.data() + given.size() || value < lowest || value > highest)
    throw Error(where(key), "no such number", given, wanted);
  return value;
}

std::string YamlMap::choice(const std::string& key, const std::string& otherwise,
                            const std::vector<std::string>& allowed) {
  const std::string given = text(key, otherwise);
  for (const std::string& name : allowed)
    if (name == given) return given;
  throw Error(where(key), "no such choice (nearest is " + nearest_name(given, allowed) + ")", given,
              name_list(allowed));
}

YamlMap YamlMap::map(const std::string& key) { return {node(key), file_, path_of(key)}; }

std::vector<std::string> YamlMap::keys() const {
  std::vector<std::string> names;
  if (node_.IsMap())
    for (const auto& pair : node_) names.push_back(pair.first.Scalar());
  return names;
}

void YamlMap::check_all_known() const {
  const std::vector<std::string> known(known_.begin(), known_.end());
  for (const std::string& key : keys())
    if (!known_.contains(key))
      throw Error(where(key), "unknown key (nearest is " + nearest_name(key, known) + ")", key, name_list(known));
}

YAML::Node load_yaml(const std::string& file) {
  const auto refuse = [&](const std::string& what) {
    throw Error("config", what, file, "a readable YAML file");
  };
  if (std::filesystem::is_directory(file)) refuse("a folder, not a file");
  std::ifstream in(file, std::ios::binary);
  if (!in) refuse("no such file, or not readable");
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!is_utf8(text)) refuse("not UTF-8");
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.size() > 1)
      throw Error(file, "more than one YAML document", std::to_string(documents.size()), "one document");
    return documents.empty() || documents.front().IsNull() ? YAML::Node(YAML::NodeType::Map)
                                                           : documents.front();
  } catch (const YAML::Exception& error) {
    throw Error(file + ", line " + std::to_string(error.mark.line + 1) + ", column " +
                    std::to_string(error.mark.column + 1),
                "malformed YAML", error.msg, "well-formed YAML");
  }
}

void set_yaml_key(YAML::Node root, const std::string& dotted_key, const std::string& value) {
  if (root.IsDefined() && !root.IsNull() && !root.IsMap())
    throw Error("setting " + dotted_key, "there is no map to set it in", YAML::Dump(root),
                "key: value pairs");
  YAML::Node node;
  node.reset(root);
  std::size_t begin = 0;
  for (std::size_t dot = dotted_key.find('.'); dot != std::string::npos; dot = dotted_key.find('.', begin)) {
    const std::string part = dotted_key.substr(begin, dot - begin);
    if (node[part].IsDefined() && !node[part].IsMap() && !node[part].IsNull())
      throw Error("setting " + dotted_key, "part of the key is no map", part, "a key whose parts are maps");
    node.reset(node[part]);
    begin = dot + 1;
  }
  try {
    node[dotted_key.substr(begin)] = YAML::Load(value);
  } catch (const YAML::Exception& error) {
    throw Error("setting " + dotted_key, "malformed value: " + error.msg, value, "a YAML value");
  }
}

void apply_setting(YAML::Node root, const std::string& setting) {
  const std::size_t equals = setting.find('=');
  if (equals == std::string::npos || equals == 0)
    throw Error("--set", "no KEY=VALUE", setting, "for example rule.eta=1e-3");
  set_yaml_key(root, setting.substr(0, equals), setting.substr(equals + 1));
}

}  // namespace halfulp
