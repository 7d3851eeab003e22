// Steps of a plan that solve with triangles, in few launches of devices.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <partita/dtype.hpp>
#include <partita/op.hpp>
#include <vector>

namespace partita::planning {

/// Steps that the devices of a node may do in one launch for each pass, in which they give each other what
/// they have computed. Row and column k * width, .. of each triangle [n, n] is stored on rank k modulo
/// `ranks`: of the factors the columns, of the right-hand sides the rows.
struct SolveSteps {
  /// X = op(T)^-1 X.
  struct Pass {
    Op op = Op::none;
    bool upper = false, unit_diagonal = false;
  };

  std::size_t first = 0, behind = 0;         ///< the steps [first, behind)
  int factors = -1, sides = -1, words = -1;  ///< buffers; `words`: shared scratch of `bytes`
  /// Exchanges of the rows of `whole` [n, columns], by the pivots of all panels: with them the steps above
  /// begin, which then solve for what is there, or the steps [after, behind_after) are these, backward.
  /// `moves`: private scratch of bytes_of_moves. -1: there are none.
  int whole = -1, pivots = -1, moves = -1;
  std::size_t after = 0, behind_after = 0;
  std::vector<Pass> passes;
  std::int64_t n = 0, columns = 0, width = 0;
  int ranks = 1;

  bool exchanges_after() const { return behind_after > after; }
  bool exchanges_before() const { return pivots >= 0 && !exchanges_after(); }

  /// Rows that are solved for at a time; `width` is a multiple.
  static constexpr std::int64_t rows_at_once = 64;
  /// For one pass, of what all ranks give each other. Devices take up to four columns at once.
  static std::int64_t bytes(Dtype dtype, std::int64_t n, std::int64_t sides, int ranks) {
    constexpr std::int64_t head = 512, at_once = 4;
    const std::int64_t columns = sides == 1 ? 1 : (sides + at_once - 1) / at_once * at_once;
    const std::int64_t rows = (n + rows_at_once - 1) / rows_at_once * rows_at_once;
    return columns * (rows * (ranks + 1) * size_of(dtype) + head);
  }
  /// Of as many row exchanges.
  static std::int64_t bytes_of_moves(std::int64_t n) { return (n + 127) / 128 * 2048; }
};

}  // namespace partita::planning
