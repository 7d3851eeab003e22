// What ranks compare, in words.
#pragma once

#include <partita/language.hpp>
#include <string>

namespace partita {

/// Something that all ranks of a collective call must have alike: {"shape", "8192x8192"}. A value.
struct Fact {
  std::string name;
  std::string value;
  friend bool operator==(const Fact&, const Fact&) = default;
};

}  // namespace partita
