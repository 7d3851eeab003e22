// Redistributions of everything into everything.
#pragma once

#include <algorithm>
#include <partita/redistribute.hpp>
#include <string>

#include "context/context_state.hpp"
#include "support/models/random_layouts.hpp"

namespace partita::testing {

struct RandomRedistribution {
  Layout source;
  Layout destination;
  Dtype dtype = Dtype::f64;
  int source_kind = 0;  ///< as `make_array` counts them
  int destination_kind = 0;
  RedistributeOptions options;
};

/// Whether the context's ranks read each other's ordinary memory, in which its arrays may be.
inline bool may_pull(const Context& context) {
  return context.state()->topology(context.state()->default_space()).has_cross_memory();
}

/// Extents up to 40, of more than two dimensions up to 9, times `factor`.
inline RandomRedistribution random_redistribution(RandomLayouts& random, const Context& context,
                                                  int factor = 1) {
  const int ranks = context.size();
  const auto suits = [](const Layout& layout, Dtype dtype) {
    return !layout.partial() || is_defined(layout.partial()->reduction, dtype);
  };
  const int dimensions = random.number(1, 4);
  // Of four dimensions about as many elements as of three: ranks that hold none of them wait for those that
  // do.
  const int longest = factor * (dimensions > 2 ? 9 : 40);
  const Shape shape = random.shape(dimensions, dimensions > 3 ? std::min(longest, 25) : longest);
  RedistributeOptions options;
  Shape result = shape;
  if (random.maybe(0.4)) {
    options.axes = random.permutation(dimensions);
    for (int i = 0; i < dimensions; ++i) result[i] = shape[options.axes[static_cast<std::size_t>(i)]];
  }
  if (random.maybe(0.3)) options.staging_bytes = random.number(1, 4) * 4096;
  RandomRedistribution choice{
      random.layout(shape, ranks), random.layout(result, ranks), Dtype::f64, 0, 0, options};
  do {
    choice.dtype = static_cast<Dtype>(random.number(0, dtype_count - 1));
  } while (!suits(choice.source, choice.dtype) || !suits(choice.destination, choice.dtype));
  choice.source_kind = random.number(0, 3);
  choice.destination_kind = random.number(0, 3);
  const bool whole = !choice.source.partial();
  const bool ordinary = choice.source_kind == 1 || choice.source_kind == 2;
  choice.options.method = random.method(choice.source_kind == 0, choice.destination_kind == 0 && whole,
                                        ordinary && whole && may_pull(context));
  return choice;
}

inline std::string describe(const RandomRedistribution& choice) {
  std::string text = choice.source.to_string() + " -> " + choice.destination.to_string() + " " +
                     std::string(name(choice.dtype)) + " kinds " + std::to_string(choice.source_kind) + "," +
                     std::to_string(choice.destination_kind) + " method " +
                     std::to_string(static_cast<int>(choice.options.method)) + " axes";
  for (const int axis : choice.options.axes) text += " " + std::to_string(axis);
  return text;
}

}  // namespace partita::testing
