#include "formats/preset.h"

#include "formats/error.h"
#include "formats/nearest_name.h"

namespace halfulp {

const Preset& parse_preset(std::string_view name) {
  std::vector<std::string> names;
  for (const Preset& known : all_presets) {
    if (known.name == name) return known;
    names.emplace_back(known.name);
  }
  throw Error("preset", "no such preset (nearest is " + nearest_name(name, names) + ")", std::string(name),
              name_list(names));
}

}  // namespace halfulp
