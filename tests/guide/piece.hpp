// A piece of the guide, and what must hold at its end.
#pragma once

#include <partita/context.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace guide {

struct Piece {
  std::string name;
  void (*run)(const partita::Context& context);
};
extern const std::vector<Piece> pieces;

inline void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(std::string("does not hold: ") + what);
}

}  // namespace guide
