// The machine descriptions that are compiled in, so that they are there whatever was installed where.
#pragma once

#include <array>
#include <string_view>

namespace partita::planning {

struct ShippedMachine {
  std::string_view name;
  std::string_view json;  ///< the text of machines/NAME.json
};

extern const std::array<ShippedMachine, 4> shipped_machines;

}  // namespace partita::planning
