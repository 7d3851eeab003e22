// Whether two rules describe the same layout, and the same layout written as another rule.
#include <algorithm>
#include <map>
#include <numeric>

#include "base/check.hpp"
#include "distribution/boxes.hpp"
#include "distribution/layout_state.hpp"

namespace partita {
namespace {

using distribution::Arrangement;
using distribution::Cut;

bool same(const Region& a, const Region& b) {
  return a == b || (a.empty() && b.empty());
}

/// Where the two differ, in words; nothing where they do not.
std::string difference(const Layout& a, const Layout& b) {
  for (int rank = 0; rank < a.ranks(); ++rank) {
    const Region one = a.region(rank);
    const Region two = b.region(rank);
    if (!same(one, two)) {
      return fmt::format("rank {} owns {}, where {} gives it {}", rank, to_string(one),
                         b.distribution().to_string(), to_string(two));
    }
  }
  return {};
}

}  // namespace

bool Layout::equivalent(const Layout& other) const {
  if (*this == other) return true;
  if (shape() != other.shape() || ranks() != other.ranks() || partial() != other.partial()) return false;
  if (!difference(*this, other).empty()) return false;
  if (!partial()) return true;
  for (int rank = 0; rank < ranks(); ++rank) {
    if (region(rank).empty()) continue;
    if (state_->arrangement->replicas_of(rank) != other.state_->arrangement->replicas_of(rank)) return false;
  }
  return true;
}

namespace {

/// A process grid and a block that a layout may be made of.
struct GridForm {
  ProcessGrid grid;
  Extents block;
};

/// The grid that the layout's own rule speaks of.
std::optional<GridForm> own_grid(const Arrangement& arrangement) {
  if (arrangement.replicas() > 1 || arrangement.contributions() > 1) return std::nullopt;
  GridForm form;
  Extents extents;
  Extents first;
  for (const auto& dimension : arrangement.dimensions()) {
    const Cut& cut = dimension.cut;
    extents.push_back(cut.parts);
    first.push_back(cut.first);
    form.block.push_back(
        std::max<std::int64_t>(1, cut.kind == Cut::Kind::balanced ? cut.largest() : cut.block));
  }
  std::vector<int> ranks;
  const Strides strides = dense_strides(extents);
  for (std::int64_t i = 0; i < arrangement.size(); ++i) {
    std::int64_t number = 0;
    for (int k = 0; k < extents.size(); ++k) number += arrangement.step(k, i / strides[k] % extents[k]);
    ranks.push_back(arrangement.holders(number).front().front());
  }
  form.grid = ProcessGrid::of_ranks(extents, std::move(ranks), first);
  return form;
}

/// The grid formed by the ranks that own something, if they form one: the sets along a dimension are
/// distinguished by their smallest index.
std::optional<GridForm> grid_of_regions(const Layout& layout) {
  const int dimensions = layout.dimensions();
  std::vector<std::map<std::int64_t, std::int64_t>> coordinate(static_cast<std::size_t>(dimensions));
  std::map<std::vector<std::int64_t>, int> rank_at;  // by the smallest indices
  GridForm form{{}, Extents::filled(dimensions, 1)};
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    const Region region = layout.region(rank);
    if (region.empty()) continue;
    std::vector<std::int64_t> corner;
    for (int i = 0; i < dimensions; ++i) {
      const IndexSet& set = region.sets[static_cast<std::size_t>(i)];
      corner.push_back(set.front());
      coordinate[static_cast<std::size_t>(i)][set.front()] = 0;
      if (set.front() == 0) form.block[i] = set.intervals().front().length;
    }
    if (!rank_at.emplace(corner, rank).second) return std::nullopt;
  }
  Extents extents;
  for (auto& along : coordinate) extents.push_back(std::max<std::int64_t>(1, std::ssize(along)));
  if (rank_at.empty()) rank_at.emplace(std::vector<std::int64_t>(), 0);
  if (volume(extents) != std::ssize(rank_at)) return std::nullopt;
  std::vector<int> ranks;  // ordered by corner, which is the row-major order of the grid
  for (const auto& [corner, rank] : rank_at) ranks.push_back(rank);
  form.grid = ProcessGrid::of_ranks(extents, std::move(ranks));
  return form;
}

std::vector<GridForm> grid_forms(const Layout& layout, const Arrangement* arrangement) {
  std::vector<GridForm> forms;
  if (arrangement != nullptr) {
    if (auto form = own_grid(*arrangement)) forms.push_back(std::move(*form));
  }
  if (auto form = grid_of_regions(layout)) forms.push_back(std::move(*form));
  return forms;
}

/// A mesh with one axis for each dimension that is cut, in the order in which the ranks are numbered, or of
/// those that the grid lists.
Partitioned partitioned(const ProcessGrid& grid, Order order, Uneven uneven) {
  static constexpr std::array<const char*, max_dimensions> names{"x", "y", "z", "w", "v", "u", "t", "s"};
  std::vector<Mesh::Axis> axes;
  PartitionSpec spec;
  spec.uneven = uneven;
  for (int i = 0; i < grid.dimensions(); ++i) {
    spec.dimensions.emplace_back();
    if (grid.extents()[i] == 1) continue;
    spec.dimensions.back().push_back(names[static_cast<std::size_t>(i)]);
    axes.push_back({names[static_cast<std::size_t>(i)], static_cast<int>(grid.extents()[i])});
  }
  if (axes.empty()) axes.push_back({"x", 1});
  if (!grid.ranks().empty()) return {Mesh(std::move(axes), grid.ranks()), std::move(spec)};
  if (order == Order::column_major) std::reverse(axes.begin(), axes.end());
  return {Mesh(std::move(axes)), std::move(spec)};
}

std::vector<Distribution> as_box(const Layout& layout) {
  std::vector<Box::Bounds> boxes;
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    const Region region = layout.region(rank);
    Box::Bounds& box = boxes.emplace_back(distribution::empty_box(layout.dimensions()));
    for (int i = 0; i < layout.dimensions() && !region.empty(); ++i) {
      const IndexSet& set = region.sets[static_cast<std::size_t>(i)];
      check(set.is_range(), "rank {} owns {}, which is not one box", rank, to_string(region));
      box.lower[i] = set.front();
      box.upper[i] = set.back() + 1;
    }
  }
  if (layout.dimensions() == 0) boxes.resize(1);
  return {Box(std::move(boxes))};
}

std::vector<Distribution> as_partitioned(const Layout& layout, const std::vector<GridForm>& forms) {
  std::vector<Distribution> result;
  for (const GridForm& form : forms) {
    for (const Order order : {Order::row_major, Order::column_major}) {
      for (const Uneven uneven : {Uneven::ceil, Uneven::balanced})
        result.push_back(partitioned(form.grid, order, uneven));
    }
  }
  PartitionSpec whole;
  whole.dimensions.resize(static_cast<std::size_t>(layout.dimensions()));
  result.push_back(Partitioned{Mesh({{"x", layout.ranks()}}), std::move(whole)});
  return result;
}

/// Rules of the kind that may describe the layout, the likeliest first.
std::vector<Distribution> candidates(const Layout& layout, const Arrangement* arrangement,
                                     DistributionKind kind) {
  std::vector<Distribution> result;
  if (kind == DistributionKind::replicated) return {Replicated{}};
  if (kind == DistributionKind::box) return as_box(layout);
  if (kind == DistributionKind::slab) {
    for (int axis = 0; axis < layout.dimensions(); ++axis) result.push_back(Slab(axis));
    return result;
  }
  const std::vector<GridForm> forms = grid_forms(layout, arrangement);
  if (kind == DistributionKind::partitioned) return as_partitioned(layout, forms);
  for (const GridForm& form : forms) {
    if (kind == DistributionKind::block_cyclic) result.push_back(BlockCyclic(form.grid, form.block));
    if (kind == DistributionKind::block_non_cyclic) result.push_back(BlockNonCyclic(form.grid, form.block));
  }
  return result;
}

}  // namespace

Layout Layout::as(DistributionKind kind) const {
  if (distribution().kind() == kind) return *this;
  std::string reason = partial() ? "its ranks hold contributions that have not been reduced" : "";
  try {
    const Arrangement* arrangement = state_->arrangement ? &*state_->arrangement : nullptr;
    for (const Distribution& candidate : candidates(*this, arrangement, kind)) {
      try {
        Layout written(candidate, shape(), ranks());
        if (equivalent(written)) return written;
        if (reason.empty()) reason = difference(*this, written);
      } catch (const ArgumentError& error) {
        if (reason.empty()) reason = error.what();
      }
    }
  } catch (const ArgumentError& error) {
    if (reason.empty()) reason = error.what();
  }
  if (reason.empty()) reason = "its parts do not form a grid";
  throw ArgumentError(fmt::format("{} cannot be written as {}: {}", to_string(), name(kind), reason));
}

}  // namespace partita
