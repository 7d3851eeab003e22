#pragma once

#include <partita/layout.hpp>

#include "distribution/arrangement.hpp"

namespace partita {

struct Layout::State {
  Distribution distribution;
  Shape shape;
  int ranks = 0;
  std::vector<int> members;                              ///< see Layout::members
  std::optional<distribution::Arrangement> arrangement;  ///< for every rule but Box

  const Box* box() const { return distribution.as<Box>(); }

  /// Checks everything that the constructor of Layout promises to check.
  static std::shared_ptr<const State> bind(Distribution distribution, Shape shape, int ranks,
                                           std::vector<int> members = {});
};

namespace distribution {

/// What no rank owns: an empty set along each dimension, and one for a scalar.
Region nothing(int dimensions);

}  // namespace distribution
}  // namespace partita
