// Which rank works on which cell of a grid over batch, m, n and k.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "distribution/cut.hpp"
#include "matmul/choose/grid_search.hpp"
#include "matmul/problem.hpp"

namespace partita::multiplication {

/// A part along batch, m, n and k; -1 along a dimension: any.
using Coordinates = std::array<std::int64_t, 4>;
Coordinates coordinates_of(const Grid& grid, std::int64_t cell);

/// cells[rank]: the number of the rank's cell, ((batch * m + i) * n + j) * k + l, or -1: it works on none.
/// Every cell has one rank.
struct Assignment {
  std::string name;  ///< "m-n-k order", "by owner of D"
  std::vector<int> cells;
};

/// How a grid cuts batch, m, n and k.
using GridCuts = std::array<distribution::Cut, 4>;

/// Even cuts, but blocks that are dealt out in turn where D (or A, or B) lies so: a tile then is made of
/// whole parts of its owners. With p parts of the grid to q of the operand in blocks of b, those are blocks
/// of b q / p.
GridCuts cuts_of(const Problem& problem, const Grid& grid);

/// The leading dimension that a grid cuts: the longest; -1 where there is none.
int cut_batch(const Problem& problem);

/// The ways of giving a grid's cells to ranks: in the orders in which ranks can be counted through it; and
/// each rank where what it owns is needed (but not of very many ranks).
std::vector<std::vector<Assignment>> assignments(const Problem& problem, const std::vector<Grid>& grids);

}  // namespace partita::multiplication
