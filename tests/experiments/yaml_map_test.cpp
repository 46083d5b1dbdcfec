// Reading YAML key by key: every wrong value says where, what, given and allowed.
#include "experiments/yaml_map.h"

#include <doctest/doctest.h>

#include "tests/experiments/toy_configs.h"

namespace halfulp {
namespace {

using test::contains;
using test::error_of;

YamlMap map_of(const std::string& yaml) { return {YAML::Load(yaml), "f.yaml", ""}; }

std::string number_error(const std::string& yaml) {
  return error_of([&] { map_of(yaml).number("x", 0, -1, 10); });
}
std::string count_error(const std::string& yaml) {
  return error_of([&] { map_of(yaml).count("x", 0, 1, 10); });
}

TEST_CASE("yaml map: values, defaults, and keys counted as known") {
  YamlMap map = map_of("{x: 1.5, n: 7, t: hello, c: b, m: {y: 2}}");
  CHECK(map.number("x", 0, -10, 10) == 1.5);
  CHECK(map.number("absent", 3, -10, 10) == 3);
  CHECK(map.count("n", 0, 0, 10) == 7);
  CHECK(map.text("t", "") == "hello");
  CHECK(map.choice("c", "a", {"a", "b"}) == "b");
  CHECK(map.choice("also_absent", "a", {"a", "b"}) == "a");
  YamlMap inner = map.map("m");
  CHECK(inner.where("y") == "f.yaml, key m.y");
  CHECK(contains(error_of([&] { inner.check_all_known(); }), {"f.yaml, key m.y", "unknown key"}));
  CHECK(inner.number("y", 0, 0, 10) == 2);
  inner.check_all_known();
  map.check_all_known();
  CHECK_FALSE(map.map("no_map").has("z"));
}

TEST_CASE("yaml map: numbers are whole words, finite and in range") {
  for (const char* good : {"{x: 10}", "{x: -1}", "{x: 1e1}", "{x: .5}", "{x: '2'}", "{x: -0.0}"})
    CHECK(number_error(good) == "");
  for (const char* bad : {"{x: abc}", "{x: 1x}", "{x: ''}", "{x: 1 2}", "{x: 0x10}", "{x: 1e400}",
                          "{x: true}", "{x: .nan}", "{x: nan}", "{x: inf}", "{x: 11}", "{x: -1.001}"}) {
    CAPTURE(std::string(bad));
    CHECK(contains(number_error(bad), {"f.yaml, key x", "given '", "allowed: a number in [-1, 10]"}));
  }
  for (const char* bad : {"{x: [1]}", "{x: {a: 1}}", "{x: }", "{x: ~}"}) {
    CAPTURE(std::string(bad));
    CHECK(contains(number_error(bad), {"f.yaml, key x", "a single value is needed"}));
  }
}

TEST_CASE("yaml map: counts are whole numbers in range") {
  CHECK(count_error("{x: 10}") == "");
  for (const char* bad : {"{x: 0}", "{x: 11}", "{x: -1}", "{x: 2.0}", "{x: 1e1}", "{x: '+3'}", "{x: ' 3'}",
                          "{x: 99999999999999999999}", "{x: abc}"}) {
    CAPTURE(std::string(bad));
    CHECK(contains(count_error(bad), {"f.yaml, key x", "given '", "allowed: a whole number in [1, 10]"}));
  }
}

TEST_CASE("yaml map: an unknown key and a wrong choice name the nearest known one") {
  YamlMap map = map_of("{stpes: 3, schedule: cosin}");
  map.count("steps", 1, 1, 9);
  CHECK(contains(error_of([&] {
                   map.choice("schedule", "constant", {"constant", "cosine"});
                 }),
                 {"f.yaml, key schedule", "nearest is cosine", "given 'cosin'", "constant, cosine"}));
  CHECK(contains(error_of([&] { map.check_all_known(); }),
                 {"f.yaml, key stpes", "nearest is steps", "given 'stpes'", "schedule, steps"}));
}

TEST_CASE("yaml map: lists, scalars, keys that stand twice and keys that are no text are refused") {
  CHECK(contains(error_of([] { map_of("[1, 2]"); }), {"f.yaml", "a map is needed", "[1, 2]"}));
  CHECK(contains(error_of([] { map_of("hello"); }), {"f.yaml", "a map is needed", "hello"}));
  CHECK(contains(error_of([] { map_of("{a: 1, a: 2}"); }), {"f.yaml, key a", "twice"}));
  CHECK(contains(error_of([] { map_of("{m: {b: 1, b: 1}}").map("m"); }), {"f.yaml, key m.b", "twice"}));
  CHECK(contains(error_of([] { map_of("{[a, b]: 1}"); }), {"f.yaml"}));
  CHECK(contains(error_of([] { map_of("{m: 5}").map("m"); }), {"f.yaml, key m", "a map is needed"}));
  CHECK(map_of("").keys().empty());
}

TEST_CASE("yaml files: missing, a folder, malformed, several documents, no UTF-8") {
  const test::TemporaryFolder folder;
  const auto load = [&](const std::string& text) {
    test::write(folder / "f.yaml", text);
    return error_of([&] { load_yaml(folder / "f.yaml"); });
  };
  CHECK(contains(error_of([&] { load_yaml(folder / "none.yaml"); }), {"none.yaml", "no such file"}));
  CHECK(contains(error_of([&] { load_yaml(folder / ""); }), {"given '", "allowed: "}));
  CHECK(contains(load("a: [1\nb: }"), {"f.yaml, line 2", "malformed"}));
  CHECK(contains(load("a:\n\tb: 1\n"), {"f.yaml, line 2", "malformed"}));
  CHECK(contains(load("a: 1\n---\na: 2\n"), {"f.yaml", "more than one"}));
  CHECK(contains(load("a: \xff\n"), {"f.yaml", "UTF-8"}));
  CHECK(load("a: \xc3\xa9\n") == "");
  CHECK(load("") == "");
  // An empty file is an empty map: settings alone may fill it.
  const YAML::Node empty = load_yaml(folder / "f.yaml");
  apply_setting(empty, "a.b=1");
  CHECK(empty["a"]["b"].as<int>() == 1);
}

TEST_CASE("settings: dotted keys make maps, the value is YAML") {
  YAML::Node root = YAML::Load("{a: {b: 1}, c: 2}");
  apply_setting(root, "a.b=3");
  apply_setting(root, "a.d.e=[1, 2]");
  apply_setting(root, "c=x=y");
  CHECK(root["a"]["b"].as<int>() == 3);
  CHECK(root["a"]["d"]["e"].size() == 2);
  CHECK(root["c"].as<std::string>() == "x=y");
  const YAML::Node empty = YAML::Load("{}");
  apply_setting(empty, "a.b=1");
  CHECK(empty["a"]["b"].as<int>() == 1);
}

TEST_CASE("settings: no '=', no key, through a scalar or a list, malformed values") {
  const auto error = [](const std::string& yaml, const std::string& setting) {
    return error_of([&] { apply_setting(YAML::Load(yaml), setting); });
  };
  CHECK(contains(error("{a: 1}", "a"), {"--set", "given 'a'", "allowed: "}));
  CHECK(contains(error("{a: 1}", "=1"), {"--set", "given '=1'"}));
  CHECK(contains(error("{a: 1}", ""), {"--set"}));
  CHECK(contains(error("{a: 1}", "a.b=1"), {"setting a.b", "given 'a'", "maps"}));
  CHECK(contains(error("{a: [1]}", "a.b=1"), {"setting a.b", "given 'a'"}));
  CHECK(contains(error("{a: 1}", "a=[1"), {"setting a", "malformed", "given '[1'"}));
  CHECK(contains(error("[1, 2]", "a=1"), {"setting a", "given '[1, 2]'", "allowed: "}));
  CHECK(contains(error("hello", "a=1"), {"setting a", "given 'hello'", "allowed: "}));
}

}  // namespace
}  // namespace halfulp
