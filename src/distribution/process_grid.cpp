#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <partita/process_grid.hpp>

#include "base/check.hpp"
#include "distribution/permutation.hpp"

namespace partita {
namespace {

/// Strides of the numbering of ranks, and of coordinates.
std::int64_t number_at(const Extents& coordinates, const Extents& extents, Order order) {
  const Strides strides = dense_strides(extents, order);
  std::int64_t number = 0;
  for (int i = 0; i < extents.size(); ++i) number += coordinates[i] * strides[i];
  return number;
}

Extents coordinates_of(std::int64_t number, const Extents& extents, Order order) {
  const Strides strides = dense_strides(extents, order);
  Extents coordinates = Extents::filled(extents.size(), 0);
  for (int i = 0; i < extents.size(); ++i) coordinates[i] = number / strides[i] % extents[i];
  return coordinates;
}

bool is_numbered_by(Order order, const Extents& extents, const std::vector<int>& ranks) {
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const Extents coordinates = coordinates_of(static_cast<std::int64_t>(i), extents, Order::row_major);
    if (number_at(coordinates, extents, order) != ranks[i]) return false;
  }
  return true;
}

void refuse_repeated(std::vector<int> ranks) {
  std::sort(ranks.begin(), ranks.end());
  check(ranks.empty() || ranks.front() >= 0, "a process grid names the negative rank {}",
        ranks.empty() ? 0 : ranks.front());
  const auto twice = std::adjacent_find(ranks.begin(), ranks.end());
  check(twice == ranks.end(), "a process grid names rank {} twice", twice == ranks.end() ? 0 : *twice);
}

}  // namespace

ProcessGrid::ProcessGrid(Extents extents, Order order, Extents first)
    : extents_(extents), first_(first.empty() ? Extents::filled(extents.size(), 0) : first), order_(order) {
  for (const std::int64_t extent : extents_)
    check(extent >= 1, "the process grid {} has an extent below 1", partita::to_string(extents_));
  check(volume(extents_) <= std::numeric_limits<int>::max(), "the process grid {} has too many processes",
        partita::to_string(extents_));
  check(first_.size() == extents_.size(), "the process grid {} has {} dimensions; its first process has {}",
        partita::to_string(extents_), extents_.size(), first_.size());
  for (int i = 0; i < first_.size(); ++i) {
    check(first_[i] >= 0 && first_[i] < extents_[i],
          "the first process {} along dimension {} is outside the process grid {}", first_[i], i,
          partita::to_string(extents_));
  }
  const auto several = [](std::int64_t extent) { return extent > 1; };
  if (std::count_if(extents_.begin(), extents_.end(), several) <= 1) order_ = Order::row_major;
}

ProcessGrid ProcessGrid::of_ranks(Extents extents, std::vector<int> ranks, Extents first) {
  ProcessGrid grid(extents, Order::row_major, first);
  check(static_cast<int>(ranks.size()) == grid.size(),
        "the process grid {} has {} processes; {} ranks are given", partita::to_string(extents), grid.size(),
        ranks.size());
  refuse_repeated(ranks);
  if (is_numbered_by(Order::row_major, extents, ranks)) return grid;
  if (is_numbered_by(Order::column_major, extents, ranks))
    return ProcessGrid(extents, Order::column_major, first);
  grid.ranks_ = std::move(ranks);
  return grid;
}

int ProcessGrid::size() const {
  return static_cast<int>(volume(extents_));
}

int ProcessGrid::rank_bound() const {
  return ranks_.empty() ? size() : *std::max_element(ranks_.begin(), ranks_.end()) + 1;
}

std::optional<Extents> ProcessGrid::coordinates(int rank) const {
  if (!ranks_.empty()) {
    const auto found = std::find(ranks_.begin(), ranks_.end(), rank);
    if (found == ranks_.end()) return std::nullopt;
    return coordinates_of(found - ranks_.begin(), extents_, Order::row_major);
  }
  if (rank < 0 || rank >= size()) return std::nullopt;
  return coordinates_of(rank, extents_, order_);
}

int ProcessGrid::rank_at(const Extents& coordinates) const {
  check(coordinates.size() == dimensions(), "{} coordinates in a process grid of {} dimensions",
        coordinates.size(), dimensions());
  for (int i = 0; i < dimensions(); ++i) {
    check(coordinates[i] >= 0 && coordinates[i] < extents_[i],
          "coordinate {} along dimension {} is outside the process grid {}", coordinates[i], i,
          partita::to_string(extents_));
  }
  if (ranks_.empty()) return static_cast<int>(number_at(coordinates, extents_, order_));
  return ranks_[static_cast<std::size_t>(number_at(coordinates, extents_, Order::row_major))];
}

std::string ProcessGrid::to_string() const {
  std::string text = partita::to_string(extents_);
  if (!ranks_.empty()) {
    text += fmt::format(":ranks={}", fmt::join(ranks_, ","));
  } else if (order_ == Order::column_major) {
    text += ":column";
  }
  if (first_ != Extents::filled(dimensions(), 0))
    text += fmt::format(":first={}", fmt::join(first_.begin(), first_.end(), ","));
  return text;
}

ProcessGrid ProcessGrid::permuted(std::span<const int> axes) const {
  const Extents extents = distribution::permuted(extents_, axes);
  std::vector<int> ranks;
  for (int i = 0; i < size(); ++i) {
    const Extents there = coordinates_of(i, extents, Order::row_major);
    Extents here = there;
    for (int k = 0; k < dimensions(); ++k) here[axes[static_cast<std::size_t>(k)]] = there[k];
    ranks.push_back(rank_at(here));
  }
  return of_ranks(extents, std::move(ranks), distribution::permuted(first_, axes));
}

ProcessGrid ProcessGrid::renumbered(const std::function<int(int)>& number) const {
  std::vector<int> ranks;
  for (int i = 0; i < size(); ++i)
    ranks.push_back(number(rank_at(coordinates_of(i, extents_, Order::row_major))));
  return of_ranks(extents_, std::move(ranks), first_);
}

namespace {

/// Writes `ranks` as a product of the remaining factors, none above the last one, the first ones as small as
/// possible. False: there is no such product.
bool divide_ranks(int ranks, int remaining, int largest, Extents& factors) {
  if (remaining == 0) return ranks == 1;
  for (int factor = 1; factor <= std::min(ranks, largest); ++factor) {
    if (ranks % factor != 0 || std::pow(factor, remaining) < ranks - 0.5) continue;
    factors.push_back(factor);
    if (divide_ranks(ranks / factor, remaining - 1, factor, factors)) return true;
    Extents shorter;
    for (int i = 0; i + 1 < factors.size(); ++i) shorter.push_back(factors[i]);
    factors = shorter;
  }
  return false;
}

}  // namespace

Extents dims_create(int ranks, int dimensions) {
  check(ranks >= 1, "dims_create: {} ranks", ranks);
  check(dimensions >= 1 && dimensions <= max_dimensions, "dims_create: {} dimensions; 1 to {} are possible",
        dimensions, max_dimensions);
  Extents factors;
  (void)divide_ranks(ranks, dimensions, ranks, factors);
  return factors;
}

}  // namespace partita
