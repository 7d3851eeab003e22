// What reductions that consist of others share.
#pragma once

#include <partita/array_reductions.hpp>
#include <string_view>

namespace partita::arithmetic {

/// Of a composed reduction, whose dtypes and elements are those of `like`. `axes`: null for all elements.
struct Composed {
  std::string_view operation;
  ArrayReduction like;
  const Axes* axes = nullptr;
  std::optional<Stream> stream = {};
};

/// Checks the arguments under the name of the call, and waits for the stream: the steps are enqueued on the
/// context's own. Which array it is must be compared here: the temporary arrays of the steps are equal on all
/// ranks, whatever they are made from. Collective.
void begin(const Composed& call, const Array& array);

/// Elements that become one.
std::int64_t count_along(const Array& array, const Axes& axes);

/// In the dtype of its mean: itself if it has it. Collective.
Array averaged(const Array& array);

/// |x|^2 of a temporary array. Collective.
Array squared(Array deviations);

/// A result on a device is complete.
Array finished(Array result);

}  // namespace partita::arithmetic
