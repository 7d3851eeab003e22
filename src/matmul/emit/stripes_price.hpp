// How many stripes are best, and whether turns over the pieces of k are.
#pragma once

#include <optional>
#include <vector>

#include "matmul/emit/stripes.hpp"

namespace partita::multiplication {

/// As measured on two H100 (docs/performance.md): each product more ends with a wave of tiles, which leaves
/// multiprocessors idle for as long as its k takes.
inline constexpr double idle_seconds_of_k = 1e-9;
/// All of that wave: a tile of 128 x 256 in 16 bits on one multiprocessor of an H100. A product in less time
/// leaves some idle.
inline constexpr double wave_seconds_of_k = 1e-8;

/// Of a pass over sums that a product makes, what its multiplications do not hide. Two products of 8192^3 on
/// two H100 took 0.78 ms where one took 0.756, and moved 0.11 ms of sums more.
inline constexpr double not_hidden = 0.25;

/// Whether shares of so many lines are of one size, where they can be: one shape is tried for all, and none
/// has a wave of tiles more than the others, which would take the device as long as all of them.
bool are_alike(std::int64_t lines, int count);

/// Follows the slowest rank through its stripes, with T seconds of its product by the dtype's rate, the own
/// share f of k, and W(s) what its link takes until the s-th stripe's share of A and B is there:
///
///     begun        f T / count each, one after the other
///     their rest   when all has come: (1 - f) T / count, the sums read and written once more, and rounded
///     the others   when all has come, and an engine has copied the own part into the panels: T / count
///     D            where others hold it, too: each stripe behind what has to go over the link before it
///
/// and no product takes less than its factors take to be read. Turns: each piece of k when it has come whole,
/// each a pass over the sums, which are rounded behind the last; then D. Nothing: those take no longer, but
/// for what the model can tell apart.
std::optional<Stripes> cheapest_stripes(const Problem& problem, const std::vector<Tile>& tiles);

}  // namespace partita::multiplication
