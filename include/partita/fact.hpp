// Properties that ranks compare.
#pragma once

#include <partita/language.hpp>
#include <string>

namespace partita {

/// A property that must be the same on all ranks of a collective call: {"shape", "8192x8192"}. A value.
struct Fact {
  std::string name;
  std::string value;
  friend bool operator==(const Fact&, const Fact&) = default;
};

}  // namespace partita
