// What YAML may say about gradient clipping.
#include "experiments/clipping_config.h"

#include <doctest/doctest.h>

#include "formats/error.h"

namespace halfulp {
namespace {

GradientClipping parsed(const std::string& yaml) {
  YamlMap root(YAML::Load(yaml), "f.yaml", "");
  const GradientClipping clipping = parse_clipping(root, "clip");
  root.check_all_known();
  return clipping;
}

TEST_CASE("clipping config: none, a norm, a growing norm, and absence") {
  CHECK(parsed("{}") == GradientClipping{});
  CHECK(parsed("{clip: none}") == GradientClipping{});
  CHECK(parsed("{clip: {norm: 1.0}}") == GradientClipping{ClippingKind::norm, 1});
  CHECK(parsed("{clip: {norm: 0.25}}") == GradientClipping{ClippingKind::norm, 0.25});
  CHECK(parsed("{clip: {growing: 3}}") == GradientClipping{ClippingKind::growing, 3});
}

TEST_CASE("clipping config: written and read back") {
  CHECK(to_json(GradientClipping{}).dump() == R"("none")");
  CHECK(to_json(GradientClipping{ClippingKind::norm, 0.5}).dump() == R"({"norm":0.5})");
  CHECK(to_json(GradientClipping{ClippingKind::growing, 2}).dump() == R"({"growing":2.0})");
  for (const GradientClipping& clipping : {GradientClipping{}, GradientClipping{ClippingKind::norm, 0.1},
                                           GradientClipping{ClippingKind::growing, 1e-3}})
    CHECK(parsed("{clip: " + to_json(clipping).dump() + "}") == clipping);
}

TEST_CASE("clipping config: what is wrong is named, with file, key and choices") {
  const struct {
    std::string yaml, key, given;
  } wrong[] = {{"{clip: norm}", "clip", "norm"},
               {"{clip: 1.0}", "clip", "1.0"},
               {"{clip: [norm]}", "clip", "[norm]"},
               {"{clip: {}}", "clip", "neither"},
               {"{clip: ~}", "clip", "neither"},
               {"{clip: {norm: 1, growing: 1}}", "clip", "both"},
               {"{clip: {norm: 0}}", "clip.norm", "0"},
               {"{clip: {norm: -1}}", "clip.norm", "-1"},
               {"{clip: {growing: inf}}", "clip.growing", "inf"},
               {"{clip: {growing: fast}}", "clip.growing", "fast"},
               {"{clip: {norms: 1}}", "clip.norms", "norms"}};
  for (const auto& one : wrong) {
    CAPTURE(one.yaml);
    std::string message;
    try {
      parsed(one.yaml);
    } catch (const Error& error) {
      message = error.what();
    }
    INFO(message);
    CHECK(message.find("f.yaml, key " + one.key + ":") != std::string::npos);
    CHECK(message.find("given '" + one.given + "'") != std::string::npos);
    CHECK(message.find("allowed: ") != std::string::npos);
  }
}

}  // namespace
}  // namespace halfulp
