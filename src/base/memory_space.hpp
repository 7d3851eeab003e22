// Kinds of memory, in words.
#pragma once

#include <partita/view.hpp>
#include <string_view>

namespace partita {

constexpr std::string_view name(MemorySpace space) {
  return space == MemorySpace::device ? "device" : "host";
}

}  // namespace partita
