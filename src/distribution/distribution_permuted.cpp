// The rule of a transposed array.
#include <partita/distribution.hpp>

#include "base/check.hpp"
#include "distribution/permutation.hpp"

namespace partita {
namespace {

using distribution::permuted;

Distribution permuted_rule(const Slab& rule, std::span<const int> axes) {
  distribution::refuse_no_permutation(axes, static_cast<int>(axes.size()));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] == rule.axis) return Slab(static_cast<int>(i));
  }
  throw ArgumentError(fmt::format("slab:{} cuts an axis that an array of {} dimensions does not have",
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
