#include "distribution/permutation.hpp"

#include <fmt/format.h>

#include <array>
#include <partita/distribution.hpp>

#include "base/check.hpp"

namespace partita {

namespace distribution {

void refuse_no_permutation(std::span<const int> axes, int dimensions) {
  std::array<bool, max_dimensions> seen{};
  bool valid = static_cast<int>(axes.size()) == dimensions;
  for (const int axis : axes) {
    valid = valid && axis >= 0 && axis < dimensions && !seen[static_cast<std::size_t>(axis)];
    if (valid) seen[static_cast<std::size_t>(axis)] = true;
  }
  check(valid, "({}) is not a permutation of {} dimensions", fmt::join(axes, ","), dimensions);
}

Extents permuted(const Extents& extents, std::span<const int> axes) {
  refuse_no_permutation(axes, extents.size());
  Extents result;
  for (const int axis : axes) result.push_back(extents[axis]);
  return result;
}

}  // namespace distribution

// --- the rule of a transposed array

namespace {

using distribution::permuted;

Distribution permuted_rule(const Slab& rule, std::span<const int> axes) {
  distribution::refuse_no_permutation(axes, static_cast<int>(axes.size()));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] == rule.axis) return Slab(static_cast<int>(i));
  }
  throw ArgumentError(fmt::format("slab:{} distributes an axis that an array of {} dimensions does not have",
                                  rule.axis, axes.size()));
}

Distribution permuted_rule(const Box& rule, std::span<const int> axes) {
  Box result = rule;
  for (Box::Bounds& box : result.boxes) box = {permuted(box.lower, axes), permuted(box.upper, axes)};
  return result;
}

Distribution permuted_rule(const BlockCyclic& rule, std::span<const int> axes) {
  return BlockCyclic(rule.grid.permuted(axes), permuted(rule.block, axes));
}

Distribution permuted_rule(const BlockNonCyclic& rule, std::span<const int> axes) {
  return BlockNonCyclic(rule.grid.permuted(axes),
                        rule.block.empty() ? rule.block : permuted(rule.block, axes));
}

Distribution permuted_rule(const Replicated& rule, std::span<const int> axes) {
  distribution::refuse_no_permutation(axes, static_cast<int>(axes.size()));
  return rule;
}

Distribution permuted_rule(const Partitioned& rule, std::span<const int> axes) {
  distribution::refuse_no_permutation(axes, static_cast<int>(rule.spec.dimensions.size()));
  Partitioned result = rule;
  for (std::size_t i = 0; i < axes.size(); ++i)
    result.spec.dimensions[i] = rule.spec.dimensions[static_cast<std::size_t>(axes[i])];
  return result;
}

}  // namespace

Distribution Distribution::permuted(std::span<const int> axes) const {
  return std::visit([&](const auto& rule) { return permuted_rule(rule, axes); }, rule_);
}

}  // namespace partita
