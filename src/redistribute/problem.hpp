// One redistribution, checked and written in one index space: what every part of the planner reads.
#pragma once

#include <optional>
#include <partita/redistribute.hpp>
#include <string>
#include <vector>

namespace partita::redistribution {

// The buffers of every redistribution's plan, by number.
inline constexpr int source_buffer = 0;
inline constexpr int destination_buffer = 1;
inline constexpr int shared_buffer = 2;
inline constexpr int private_buffer = 3;

/// The destination is permuted into the source's index space: S(p) and D(q) speak of the same indices.
struct Problem {
  Operand source;
  Operand destination;
  Topology topology;
  int rank = 0;
  RedistributeOptions options;
  bool same_layout = false;  ///< every rank already owns its elements, in the state in which it wants it
  bool accumulates = false;  ///< the source is partial and has to be reduced

  std::int64_t item_bytes() const { return size_of(source.dtype); }
  std::int64_t bytes(const Region& region) const { return region.size() * item_bytes(); }
  /// How contribution c is reduced with those before it in the destination: not at all if it is the first.
  std::optional<Reduction> reduction(int contribution) const {
    if (!accumulates || contribution == 0) return std::nullopt;
    return source.layout.partial()->reduction;
  }
  /// (to - from) mod P: how far round the ring of ranks.
  int distance(int from, int to) const { return (to - from + topology.ranks()) % topology.ranks(); }
};

/// Throws ArgumentError (the same text for every valid rank) where the operands do not fit each other.
Problem make_problem(const Operand& source, const Operand& destination, const Topology& topology, int rank,
                     const RedistributeOptions& options);

/// Calls `visit(name, value)` with each option that a plan depends on.
template <class Visit>
void for_each_option(const RedistributeOptions& options, Visit&& visit) {
  visit("axes", options.axes);
  visit("method", options.method);
  visit("staging", options.staging_bytes);
}

/// The plan's identity.
std::vector<Fact> facts(const Operand& source, const Operand& destination,
                        const RedistributeOptions& options);

/// inverse[axes[i]] = i; the identity of `dimensions` axes if `axes` is empty. Throws ArgumentError if `axes`
/// is not a permutation.
std::vector<int> inverse_axes(const std::vector<int>& axes, int dimensions);

}  // namespace partita::redistribution
