#include "matmul/choose/grid_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/round.hpp"

namespace partita::multiplication {
namespace {

/// Whether fewer parts would be as long: then the last ones are empty.
bool wasteful(std::int64_t extent, std::int64_t parts) {
  return parts > 1 && ceil_divide(extent, ceil_divide(extent, parts)) < parts;
}

/// The longest tile of a grid along each dimension.
struct Longest {
  std::int64_t batch, m, n, k;
  Longest(const GridQuestion& question, const Grid& grid)
      : batch(ceil_divide(question.batch, grid.batch)),
        m(ceil_divide(question.m, grid.m)),
        n(ceil_divide(question.n, grid.n)),
        k(ceil_divide(question.k, grid.k)) {}
};

double product(std::int64_t a, std::int64_t b, std::int64_t c = 1, std::int64_t d = 1) {
  return static_cast<double>(a) * static_cast<double>(b) * static_cast<double>(c) * static_cast<double>(d);
}

/// Calls visit(grid) for every choice of parts of batch, m and n, with as many parts of k as ranks are left.
template <class Visit>
void for_each_grid(const GridQuestion& question, const Visit& visit) {
  const auto parts_up_to = [](std::int64_t extent, std::int64_t ranks) {
    return std::max<std::int64_t>(1, std::min(extent, ranks));
  };
  const std::int64_t batches = parts_up_to(question.batch, question.ranks);
  for (std::int64_t batch = 1; batch <= batches; ++batch) {
    if (wasteful(question.batch, batch)) continue;
    const std::int64_t planes = question.ranks / batch;
    for (std::int64_t m = 1; m <= parts_up_to(question.m, planes); ++m) {
      if (wasteful(question.m, m)) continue;
      for (std::int64_t n = 1; n <= parts_up_to(question.n, planes / m); ++n) {
        if (wasteful(question.n, n)) continue;
        std::int64_t k = parts_up_to(question.k, planes / m / n);
        if (wasteful(question.k, k)) k = ceil_divide(question.k, ceil_divide(question.k, k));
        visit(Grid{batch, m, n, k});
      }
    }
  }
}

bool fits(const GridQuestion& question, const Grid& grid) {
  return question.scratch == 0 || least_scratch(question, grid) <= question.scratch;
}

template <class Admits>
double least_multiplications(const GridQuestion& question, const Admits& admits) {
  double least = std::numeric_limits<double>::infinity();
  for_each_grid(question, [&](const Grid& grid) {
    const double work = multiplications(question, grid);
    if (work < least && admits(grid)) least = work;
  });
  return least;
}

}  // namespace

std::string Grid::to_string() const {
  const std::string matrix = fmt::format("{}x{}x{}", m, n, k);
  return batch == 1 ? matrix : fmt::format("{} batches x {}", batch, matrix);
}

double received(const GridQuestion& question, const Grid& grid) {
  const Longest tile(question, grid);
  const double summed = static_cast<double>(grid.k - 1) / static_cast<double>(grid.k);
  const std::int64_t matrices = question.planes * tile.batch;
  return product(question.batched_a ? matrices : 1, tile.m, tile.k) +
         product(question.batched_b ? matrices : 1, tile.k, tile.n) +
         summed * product(matrices, tile.m, tile.n);
}

double multiplications(const GridQuestion& question, const Grid& grid) {
  const Longest tile(question, grid);
  return product(question.planes * tile.batch, tile.m, tile.n, tile.k);
}

std::int64_t least_scratch(const GridQuestion& question, const Grid& grid) {
  const Longest tile(question, grid);
  const std::int64_t matrices = question.planes * tile.batch;
  const std::int64_t product = matrices * tile.m * tile.n;
  const std::int64_t along_k =
      (question.batched_a ? matrices : 1) * tile.m + (question.batched_b ? matrices : 1) * tile.n;
  return product + std::min(product, question.piece) + along_k * question.round;
}

GridSearch::GridSearch(const GridQuestion& question, double most_uneven) {
  const auto admits = [&](const Grid& grid) { return fits(question, grid); };
  least_work_ = least_multiplications(question, admits);
  for_each_grid(question, [&](const Grid& grid) {
    const double work = multiplications(question, grid);
    if (work <= most_uneven * least_work_ && admits(grid)) {
      rated_.push_back({received(question, grid), work, grid});
    }
  });
  std::stable_sort(rated_.begin(), rated_.end(), [](const Rated& a, const Rated& b) {
    return a.elements != b.elements ? a.elements < b.elements : a.work < b.work;
  });
}

/// `uneven` is measured against all that fit.
template <class Suits>
std::vector<Grid> GridSearch::best_of(int count, double uneven, const Suits& suits) const {
  std::vector<Grid> grids;
  for (const Rated& rated : rated_) {
    if (static_cast<int>(grids.size()) == count) break;
    if (rated.work <= uneven * least_work_ && suits(rated.grid)) grids.push_back(rated.grid);
  }
  return grids;
}

std::vector<Grid> GridSearch::best(int count, double uneven) const {
  return best_of(count, uneven, [](const Grid&) { return true; });
}

std::vector<Grid> GridSearch::best_aligned(const Grid& parts_of_operands) const {
  const auto aligned = [](std::int64_t parts, std::int64_t owners) {
    return parts % owners == 0 || owners % parts == 0;
  };
  return best_of(1, slightly_uneven, [&](const Grid& grid) {
    return aligned(grid.m, parts_of_operands.m) && aligned(grid.n, parts_of_operands.n) &&
           aligned(grid.k, parts_of_operands.k);
  });
}

std::int64_t smallest_scratch(const GridQuestion& question) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for_each_grid(question, [&](const Grid& grid) { least = std::min(least, least_scratch(question, grid)); });
  return least;
}

}  // namespace partita::multiplication
