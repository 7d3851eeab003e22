#include <fmt/format.h>

#include <algorithm>
#include <partita/layout.hpp>

#include "base/check.hpp"
#include "base/hash.hpp"
#include "distribution/boxes.hpp"
#include "distribution/layout_state.hpp"

namespace partita {

using distribution::Arrangement;

Region distribution::nothing(int dimensions) {
  return {std::vector<IndexSet>(static_cast<std::size_t>(std::max(dimensions, 1)))};
}

namespace {

Region region_of(const Box::Bounds& box) {
  Region region;
  for (int i = 0; i < box.lower.size(); ++i)
    region.sets.push_back(IndexSet::range(box.lower[i], box.upper[i]));
  return region;
}

bool holds(const Box::Bounds& box, const Index& index) {
  for (int i = 0; i < index.size(); ++i) {
    if (index[i] < box.lower[i] || index[i] >= box.upper[i]) return false;
  }
  return true;
}

void refuse_dimensions(const Index& index, int dimensions) {
  check(index.size() == dimensions, "an index of {} dimensions into an array of {}", index.size(),
        dimensions);
}

/// A first look that makes no sets: the smallest box around `region` meets the box.
bool may_meet(const Box::Bounds& box, const Region& region) {
  if (distribution::is_empty(box)) return false;
  for (int i = 0; i < box.lower.size(); ++i) {
    const IndexSet& set = region.sets[static_cast<std::size_t>(i)];
    if (set.back() < box.lower[i] || set.front() >= box.upper[i]) return false;
  }
  return true;
}

}  // namespace

std::shared_ptr<const Layout::State> Layout::State::bind(Distribution distribution, Shape shape, int ranks,
                                                         std::vector<int> members) {
  check(ranks >= 1, "a layout needs at least one rank; it is given {}", ranks);
  (void)volume(shape);  // refuses negative and too large ones
  State state{std::move(distribution), shape, ranks, std::move(members), std::nullopt, std::nullopt};
  if (const Box* box = state.box()) {
    check(box->boxes.size() <= static_cast<std::size_t>(ranks), "{} boxes are given for {} ranks",
          box->boxes.size(), ranks);
    distribution::refuse_no_tiling(box->boxes, shape);
  } else {
    const int inner = state.members.empty() ? ranks : static_cast<int>(state.members.size());
    state.arrangement = Arrangement::of(state.distribution, shape, inner);
    if (!state.members.empty()) state.arrangement->embed(state.members);
  }
  return std::make_shared<const State>(std::move(state));
}

Layout::Layout(Distribution distribution, Shape shape, int ranks)
    : state_(State::bind(std::move(distribution), shape, ranks)) {}

Layout::Layout(std::shared_ptr<const State> state) : state_(std::move(state)) {}

const Distribution& Layout::distribution() const {
  return state_->distribution;
}

std::span<const int> Layout::members() const {
  return state_->members;
}

const Shape& Layout::shape() const {
  return state_->shape;
}

Index Layout::origin() const {
  return state_->window ? state_->window->lower : Extents::filled(dimensions(), 0);
}

const Shape& Layout::whole_shape() const {
  return state_->window ? state_->window->whole : state_->shape;
}

int Layout::ranks() const {
  return state_->ranks;
}

Region Layout::region(int rank) const {
  check(rank >= 0 && rank < ranks(), "rank {} of a layout over {} ranks", rank, ranks());
  if (const Box* box = state_->box()) {
    const bool listed = static_cast<std::size_t>(rank) < box->boxes.size();
    return listed ? region_of(box->boxes[static_cast<std::size_t>(rank)])
                  : distribution::nothing(dimensions());
  }
  const auto coordinates = state_->arrangement->coordinates(rank);
  if (!coordinates) return distribution::nothing(dimensions());
  Region region;
  for (int i = 0; i < dimensions(); ++i) {
    const auto& dimension = state_->arrangement->dimensions()[static_cast<std::size_t>(i)];
    region.sets.push_back(dimension.cut.set((*coordinates)[i]));
  }
  return region;
}

Shape Layout::local_shape(int rank) const {
  return region(rank).shape();
}

std::int64_t Layout::local_size(int rank) const {
  return region(rank).size();
}

std::int64_t Layout::State::largest() const {
  std::int64_t largest = 1;
  if (const Box* boxes = box()) {
    largest = 0;
    for (const Box::Bounds& bounds : boxes->boxes) largest = std::max(largest, region_of(bounds).size());
    return largest;
  }
  for (const auto& dimension : arrangement->dimensions()) largest *= dimension.cut.largest();
  return largest;
}

std::int64_t Layout::largest_local_size() const {
  const auto compute = [this] { return static_cast<std::uint64_t>(state_->largest()) + 1; };
  return static_cast<std::int64_t>(state_->largest_plus_1.get(compute)) - 1;
}

std::vector<int> Layout::owners(const Index& global) const {
  refuse_dimensions(global, dimensions());
  for (int i = 0; i < dimensions(); ++i) {
    check(global[i] >= 0 && global[i] < shape()[i], "index {} along dimension {} is outside the array {}",
          global[i], i, partita::to_string(shape()));
  }
  std::vector<int> owners;
  if (const Box* box = state_->box()) {
    const auto found = std::find_if(box->boxes.begin(), box->boxes.end(),
                                    [&](const Box::Bounds& bounds) { return holds(bounds, global); });
    owners.push_back(static_cast<int>(found - box->boxes.begin()));
    return owners;
  }
  std::int64_t number = 0;
  for (int i = 0; i < dimensions(); ++i) {
    const auto& cut = state_->arrangement->dimensions()[static_cast<std::size_t>(i)].cut;
    number += state_->arrangement->step(i, cut.owner(global[i]));
  }
  for (const auto& replicas : state_->arrangement->holders(number))
    owners.insert(owners.end(), replicas.begin(), replicas.end());
  std::sort(owners.begin(), owners.end());
  return owners;
}

std::optional<Index> Layout::to_local(int rank, const Index& global) const {
  refuse_dimensions(global, dimensions());
  const Region owned = region(rank);
  if (owned.empty()) return std::nullopt;
  Index local;
  for (int i = 0; i < dimensions(); ++i) {
    const IndexSet& set = owned.sets[static_cast<std::size_t>(i)];
    if (!set.contains(global[i])) return std::nullopt;
    local.push_back(set.position(global[i]));
  }
  return local;
}

Index Layout::to_global(int rank, const Index& local) const {
  refuse_dimensions(local, dimensions());
  const Region owned = region(rank);
  check(!owned.empty(), "rank {} owns nothing of the array {}", rank, partita::to_string(shape()));
  Index global;
  for (int i = 0; i < dimensions(); ++i)
    global.push_back(owned.sets[static_cast<std::size_t>(i)].at(local[i]));
  return global;
}

bool Layout::is_replicated() const {
  return !state_->box() && state_->arrangement->replicas() > 1 && state_->arrangement->contributions() == 1 &&
         volume(shape()) > 0;
}

std::optional<Partial> Layout::partial() const {
  if (state_->box() || state_->arrangement->contributions() == 1) return std::nullopt;
  return Partial{distribution().as<Partitioned>()->spec.partial_reduction};
}

namespace {

/// The parts of one dimension that meet a set: what they hold of it, and their share of the process number.
struct Intersection {
  std::int64_t step = 0;
  IndexSet common;
};

std::vector<Intersection> intersections(const Arrangement& arrangement, int i, const IndexSet& set) {
  const distribution::Cut& cut = arrangement.dimensions()[static_cast<std::size_t>(i)].cut;
  std::vector<Intersection> result;
  for (const std::int64_t coordinate : cut.candidates(set.front(), set.back())) {
    IndexSet common = intersect(set, cut.set(coordinate));
    if (!common.empty()) result.push_back({arrangement.step(i, coordinate), std::move(common)});
  }
  return result;
}

/// The product over the dimensions, the last one fastest.
std::vector<Layout::Cell> grid_cells(const Arrangement& arrangement, const Region& region) {
  std::vector<std::vector<Intersection>> overlaps;
  std::size_t count = 1;
  for (std::size_t i = 0; i < region.sets.size(); ++i) {
    overlaps.push_back(intersections(arrangement, static_cast<int>(i), region.sets[i]));
    count *= overlaps.back().size();
  }
  std::vector<Layout::Cell> cells;
  cells.reserve(count);
  for (std::size_t k = 0; k < count; ++k) {
    Layout::Cell cell;
    cell.region.sets.resize(overlaps.size());
    std::int64_t number = 0;
    std::size_t rest = k;
    for (std::size_t i = overlaps.size(); i-- > 0; rest /= overlaps[i].size()) {
      const Intersection& part = overlaps[i][rest % overlaps[i].size()];
      number += part.step;
      cell.region.sets[i] = part.common;
    }
    cell.contributions = arrangement.holders(number);
    cells.push_back(std::move(cell));
  }
  return cells;
}

}  // namespace

std::vector<Layout::Cell> Layout::cells(const Region& region) const {
  if (region.empty()) return {};
  check(static_cast<int>(region.sets.size()) == dimensions(), "a region of {} dimensions in an array of {}",
        region.sets.size(), dimensions());
  if (!state_->box()) return grid_cells(*state_->arrangement, region);
  std::vector<Cell> cells;
  const auto& boxes = state_->box()->boxes;
  for (std::size_t rank = 0; rank < boxes.size(); ++rank) {
    if (!may_meet(boxes[rank], region)) continue;
    Region common = intersect(region, region_of(boxes[rank]));
    if (!common.empty()) cells.push_back({std::move(common), {{static_cast<int>(rank)}}});
  }
  return cells;
}

namespace {

/// The sum of the number's digits in the given base: modulo the base, it takes every value once over any
/// `base` consecutive numbers, and over those that differ in one digit.
std::size_t digit_sum(std::size_t number, std::size_t base) {
  if (base < 2) return 0;
  std::size_t sum = 0;
  for (; number > 0; number /= base) sum += number % base;
  return sum;
}

}  // namespace

int Layout::choose_replica(std::span<const int> replicas, int reader, const Topology& topology) {
  check(!replicas.empty(), "there is no replica to choose");
  if (std::find(replicas.begin(), replicas.end(), reader) != replicas.end()) return reader;
  std::vector<int> near;
  for (const int rank : replicas) {
    if (topology.same_node(rank, reader)) near.push_back(rank);
  }
  const std::span<const int> eligible = near.empty() ? replicas : std::span<const int>(near);
  return eligible[digit_sum(static_cast<std::size_t>(reader), eligible.size()) % eligible.size()];
}

std::string Layout::to_string() const {
  const auto& members = state_->members;
  std::string text =
      fmt::format("{} {} over {} ranks", partita::to_string(shape()), distribution().to_string(),
                  members.empty() ? static_cast<std::size_t>(ranks()) : members.size());
  if (const auto& window = state_->window) {
    text += fmt::format(", from {} of {}", fmt::join(window->lower.begin(), window->lower.end(), ","),
                        partita::to_string(window->whole));
  }
  if (!members.empty()) text += fmt::format(", on ranks {} of {}", fmt::join(members, ","), ranks());
  return text;
}

std::uint64_t Layout::hash() const {
  return state_->hash.get([this] { return std::max<std::uint64_t>(scramble(hash_of(to_string())), 1); });
}

bool operator==(const Layout& a, const Layout& b) {
  const Layout::State& one = *a.state_;
  const Layout::State& two = *b.state_;
  return &one == &two || (one.shape == two.shape && one.ranks == two.ranks && one.members == two.members &&
                          one.window == two.window && one.distribution == two.distribution);
}

}  // namespace partita
