#include "experiments/clipping_config.h"

#include "formats/error.h"

namespace halfulp {
namespace {

constexpr const char* allowed = "none, {norm: 1.0}, {growing: 1.0}";
constexpr double smallest = 1e-300, largest = 1e300;  // of max_norm

}  // namespace

GradientClipping parse_clipping(YamlMap& parent, const std::string& key) {
  const YAML::Node node = parent.node(key);
  if (!node.IsDefined()) return {};
  if (node.IsScalar()) {
    if (node.Scalar() != "none") throw Error(parent.where(key), "no such clipping", node.Scalar(), allowed);
    return {};
  }
  YamlMap map = parent.map(key);
  const double norm = map.number("norm", 0, smallest, largest),
               growing = map.number("growing", 0, smallest, largest);
  map.check_all_known();
  if (map.has("norm") == map.has("growing"))
    throw Error(parent.where(key), "one kind of clipping is needed", map.has("norm") ? "both" : "neither",
                allowed);
  return map.has("norm") ? GradientClipping{ClippingKind::norm, norm}
                         : GradientClipping{ClippingKind::growing, growing};
}

nlohmann::ordered_json to_json(const GradientClipping& clipping) {
  switch (clipping.kind) {
    case ClippingKind::none:
      break;
    case ClippingKind::norm:
      return {{"norm", clipping.max_norm}};
    case ClippingKind::growing:
      return {{"growing", clipping.max_norm}};
  }
  return "none";
}

}  // namespace halfulp
