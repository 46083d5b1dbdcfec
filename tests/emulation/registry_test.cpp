#include "emulation/registry.h"

#include <doctest/doctest.h>

#include <tuple>

#include "formats/error.h"

namespace halfulp {
namespace {

TEST_CASE("registry: ids count registrations and offsets count elements") {
  TensorRegistry registry;
  registry.add("a", {3, 4});
  registry.add("b", {5});
  registry.add("c", {2, 3, 4});
  REQUIRE(registry.tensors().size() == 3);
  const auto& [a, b, c] = std::tie(registry.tensors()[0], registry.tensors()[1], registry.tensors()[2]);
  CHECK((a.id == 0 && b.id == 1 && c.id == 2));
  CHECK((a.offset == 0 && b.offset == 12 && c.offset == 17));
  CHECK((a.size() == 12 && b.size() == 5 && c.size() == 24));
  CHECK((a.row_length() == 4 && b.row_length() == 5 && c.row_length() == 4));
  CHECK(registry.total_size() == 41);
}

TEST_CASE("registry: what add returns is the tensor registered") {
  TensorRegistry registry;
  CHECK(registry.add("first", {2}).name == "first");
  CHECK(registry.add("second", {3}).offset == 2);
}

TEST_CASE("registry: names are given and unique, extents positive") {
  TensorRegistry registry;
  registry.add("w", {2});
  CHECK_THROWS_AS(registry.add("w", {3}), Error);
  CHECK_THROWS_AS(registry.add("", {3}), Error);
  CHECK_THROWS_AS(registry.add("v", {}), Error);
  CHECK_THROWS_AS(registry.add("v", {3, 0}), Error);
  CHECK(registry.tensors().size() == 1);  // an error changes nothing
  CHECK(registry.total_size() == 2);
  registry.add("W", {1});  // names are case sensitive
  CHECK(registry.total_size() == 3);
}

}  // namespace
}  // namespace halfulp
