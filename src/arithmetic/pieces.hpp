// One dimension of a part compared with an array that has every index of it.
#pragma once

#include <cstdint>
#include <functional>
#include <partita/index_set.hpp>
#include <vector>

#include "kernels/host/elementwise.hpp"

namespace partita::arithmetic {

/// The indices index + i * period + j, i < count, j < length, at positions position + i * length + j.
struct Piece {
  std::int64_t position = 0;
  std::int64_t index = 0;
  std::int64_t length = 0;
  std::int64_t period = 0;
  std::int64_t count = 1;
};

/// All of a set, in as few pieces as its intervals allow.
std::vector<Piece> pieces_of(const IndexSet& set);
/// Positions only: one piece.
std::vector<Piece> one_piece(std::int64_t extent);

/// How a part advances along a dimension.
struct Step {
  std::int64_t stride = 0;  ///< in elements
  bool by_index = false;    ///< its elements are ordered by index, else by position
  std::int64_t origin = 0;  ///< the index of its first element

  std::int64_t offset(const Piece& piece) const {
    return (by_index ? piece.index - origin : piece.position) * stride;
  }
  std::int64_t next(const Piece& piece) const { return (by_index ? piece.period : piece.length) * stride; }
};

/// A dimension and how three parts go along with it.
struct Dimension {
  std::vector<Piece> pieces;
  std::array<Step, 3> steps;
};

/// Calls body(offsets, loops) for each combination of pieces.
using Nest = std::vector<kernels::ElementwiseLoop>;
using Offsets = std::array<std::int64_t, 3>;
void for_each_nest(const std::vector<Dimension>& dimensions,
                   const std::function<void(const Offsets&, const Nest&)>& body);

}  // namespace partita::arithmetic
