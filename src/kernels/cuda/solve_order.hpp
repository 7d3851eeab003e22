// In which order rows of a triangle are solved for, and where they are.
#pragma once

#include <cstdint>

#include "kernels/cuda/everywhere.hpp"

namespace partita::kernels::cuda {

/// Rows at a time.
constexpr int solve_rows = 64;

/// How the rows of a triangle that one device has are numbered, in blocks of solve_rows. `begin`: the first
/// row of a block, in the order in which rows are solved for; `stored`: the same among the rows or columns
/// that this device has.
struct WholeOrder {
  static constexpr bool shared = false;
  std::int64_t n = 0;

  PARTITA_EVERYWHERE std::int64_t begin(int block) const { return std::int64_t{block} * solve_rows; }
  PARTITA_EVERYWHERE int size(int block) const {
    const std::int64_t left = n - begin(block);
    return static_cast<int>(left < solve_rows ? left : solve_rows);
  }
  PARTITA_EVERYWHERE std::int64_t stored(int block) const { return begin(block); }
  PARTITA_EVERYWHERE int owned(int number) const { return number; }       ///< the block of that number
  PARTITA_EVERYWHERE int owned_before(int block) const { return block; }  ///< how many there are
  PARTITA_EVERYWHERE bool owns(int) const { return true; }
};

/// The same, of blocks that are distributed cyclically, `of_panel` at a time. Backward, the first block has
/// what rows are left, so that blocks do not cross panels.
struct SharedOrder {
  static constexpr bool shared = true;
  std::int64_t n = 0;
  int rank = 0, ranks = 1, of_panel = 1;
  bool backward = false;

  PARTITA_EVERYWHERE int blocks() const { return static_cast<int>((n + solve_rows - 1) / solve_rows); }
  /// In the order of rows in memory, and back.
  PARTITA_EVERYWHERE int turned(int block) const { return backward ? blocks() - 1 - block : block; }
  PARTITA_EVERYWHERE int owner(int block) const { return turned(block) / of_panel % ranks; }
  PARTITA_EVERYWHERE bool owns(int block) const { return owner(block) == rank; }
  PARTITA_EVERYWHERE int size(int block) const {
    const std::int64_t left = n - std::int64_t{turned(block)} * solve_rows;
    return static_cast<int>(left < solve_rows ? left : solve_rows);
  }
  PARTITA_EVERYWHERE std::int64_t begin(int block) const {
    const std::int64_t first = std::int64_t{turned(block)} * solve_rows;
    return backward ? n - first - size(block) : first;
  }

  /// Of blocks in the order of memory, how many before this one `of` owns.
  PARTITA_EVERYWHERE int before_in_memory(int block, int of) const {
    const int round = of_panel * ranks, rest = block % round - of * of_panel;
    return block / round * of_panel + (rest < 0 ? 0 : rest < of_panel ? rest : of_panel);
  }
  PARTITA_EVERYWHERE int all_of(int of) const { return before_in_memory(blocks(), of); }
  PARTITA_EVERYWHERE int owned_before(int block, int of) const {
    return backward ? all_of(of) - before_in_memory(turned(block) + 1, of) : before_in_memory(block, of);
  }
  PARTITA_EVERYWHERE int owned_before(int block) const { return owned_before(block, rank); }
  PARTITA_EVERYWHERE int owned(int number) const {
    const int there = backward ? all_of(rank) - 1 - number : number;
    return turned((there / of_panel * ranks + rank) * of_panel + there % of_panel);
  }
  PARTITA_EVERYWHERE std::int64_t stored(int block) const {
    const std::int64_t first = std::int64_t{before_in_memory(turned(block), rank)} * solve_rows;
    return backward ? all_stored() - first - size(block) : first;
  }
  /// The last block alone may have fewer rows.
  PARTITA_EVERYWHERE std::int64_t all_stored() const {
    const int last = blocks() - 1;
    const std::int64_t all = std::int64_t{all_of(rank)} * solve_rows;
    return last / of_panel % ranks == rank ? all - (std::int64_t{blocks()} * solve_rows - n) : all;
  }
};

}  // namespace partita::kernels::cuda
