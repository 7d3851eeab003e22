#include "arithmetic/reduced_layouts.hpp"

#include <algorithm>
#include <optional>

#include "base/check.hpp"
#include "base/contains.hpp"
#include "collectives/layouts.hpp"
#include "distribution/dimensions.hpp"

namespace partita::arithmetic {
namespace {

/// As over a mesh, where it can be written so. What has cut reduced dimensions then holds contributions.
std::optional<ReducedLayouts> over_mesh(const Layout& layout, const ReducedAxes& reduced) {
  std::optional<Partitioned> rule;
  try {
    const Layout written = layout.as(DistributionKind::partitioned);
    if (!written.members().empty() || !(written.whole_shape() == written.shape())) return std::nullopt;
    rule = *written.distribution().as<Partitioned>();
  } catch (const ArgumentError&) {
    return std::nullopt;
  }
  PartitionSpec spec;
  spec.uneven = rule->spec.uneven;
  spec.partial_reduction = reduced.reduction;
  for (std::size_t d = 0; d < rule->spec.dimensions.size(); ++d) {
    const std::vector<std::string>& names = rule->spec.dimensions[d];
    if (!reduced.contains(static_cast<int>(d))) {
      spec.dimensions.push_back(names);
      continue;
    }
    if (reduced.keep_dimensions) spec.dimensions.emplace_back();
    std::ranges::copy(names, std::back_inserter(spec.partial_axes));
  }
  PartitionSpec left = spec;
  left.partial_axes.clear();
  const Shape shape = reduced.shape(layout.shape());
  return ReducedLayouts{{Partitioned{rule->mesh, spec}, shape, layout.ranks()},
                        false,
                        {Partitioned{rule->mesh, left}, shape, layout.ranks()}};
}

}  // namespace

void check_axes(std::string_view operation, const Shape& shape, const std::vector<int>& axes) {
  check(!axes.empty(), "{}: no axes are named; without a list of axes all elements are reduced", operation);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    check(axes[i] >= 0 && axes[i] < shape.size(), "{}: an array of {} dimensions has no axis {}", operation,
          shape.size(), axes[i]);
    check(std::find(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(i), axes[i]) ==
              axes.begin() + static_cast<std::ptrdiff_t>(i),
          "{}: axis {} is named twice", operation, axes[i]);
  }
}

bool ReducedAxes::contains(int dimension) const {
  return partita::contains(axes, dimension);
}

std::vector<int> ReducedAxes::kept(int dimensions) const {
  std::vector<int> result;
  for (int d = 0; d < dimensions; ++d) {
    if (!contains(d)) result.push_back(d);
  }
  return result;
}

Shape ReducedAxes::shape(const Shape& whole) const {
  return distribution::without_dimensions(whole, axes, keep_dimensions ? std::optional(1) : std::nullopt);
}

ReducedLayouts reduced_layouts(const Layout& layout, const ReducedAxes& reduced) {
  if (const auto left = distribution::without_dimensions(layout, reduced.axes, reduced.keep_dimensions))
    return {*left, false, *left};
  if (auto mesh = over_mesh(layout, reduced)) return *mesh;
  const Shape shape = reduced.shape(layout.shape());
  return {collective::contributions(shape, reduced.reduction, layout.ranks()), true,
          collective::everywhere(shape, layout.ranks())};
}

bool has_whole_lines(const Layout& layout, int axis) {
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    if (layout.local_size(rank) > 0 && layout.local_shape(rank)[axis] != layout.shape()[axis]) return false;
  }
  return true;
}

Layout wanted_layout(std::string_view operation, const ReduceAxesOptions& options, const Layout& left) {
  const Shape& shape = left.shape();
  const int ranks = left.ranks();
  check(!options.root || !options.distribution, "{}: the result has either a root or a distribution",
        operation);
  if (options.root) {
    check(*options.root >= 0 && *options.root < ranks, "{}: the root {} is not one of the {} ranks",
          operation, *options.root, ranks);
    return collective::at_root(shape, *options.root, ranks);
  }
  if (!options.distribution) return left;
  Layout layout(*options.distribution, shape, ranks);
  check(!layout.partial(), "{}: the result's layout {} is partial", operation, layout.to_string());
  return layout;
}

}  // namespace partita::arithmetic

namespace partita {

Layout reduced_layout(const Layout& layout, const Axes& axes, bool keep_dimensions) {
  arithmetic::check_axes("reduced_layout", layout.shape(), axes.list);
  check(!layout.partial(),
        "reduced_layout: the layout {} is partial: its sums are added first, by redistribute",
        layout.to_string());
  return arithmetic::reduced_layouts(layout, {axes.list, keep_dimensions}).left;
}

}  // namespace partita
