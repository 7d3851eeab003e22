// Lines along an axis, how ranks divide them, and where a rank has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <partita/layout.hpp>
#include <partita/view.hpp>
#include <vector>

#include "context/context_state.hpp"

namespace partita::arithmetic {

/// Where elements of ranks begin and end in a sequence: one more than there are ranks.
using SequenceCuts = std::vector<std::int64_t>;

/// Where the blocks of the ranks begin and end if the ranks have, in their order, blocks of this axis alone;
/// else nothing.
std::optional<SequenceCuts> blocks_along(const Layout& layout, int axis);

/// Parts of these sizes one after the other.
SequenceCuts cuts_of(const std::vector<std::int64_t>& sizes);

/// The sizes of these parts.
std::vector<std::int64_t> sizes_of(const SequenceCuts& cuts);

/// The axis becomes the last dimension of the view; the others keep their order.
View with_axis_last(View view, int axis);

/// The longest of the dimensions that are `among` these; -1: none is.
template <class Among>
int longest_dimension(const Shape& shape, Among&& among) {
  int longest = -1;
  for (int d = 0; d < shape.size(); ++d) {
    if (among(d) && (longest < 0 || shape[d] > shape[longest])) longest = d;
  }
  return longest;
}

/// A part in host memory as a dense view: itself if it is dense, else memory of its own.
class DensePart {
 public:
  enum class Elements : std::uint8_t {
    read,     ///< as they are
    changed,  ///< in memory of its own in any case: the part keeps its elements
    written,  ///< only to the view, and by `finish` to the part
  };
  /// Throws MemoryError.
  DensePart(ContextState& context, const View& part, Elements elements = Elements::read);
  const View& view() const { return view_; }
  void finish() const;

 private:
  ContextState& context_;
  View part_, view_;
  std::unique_ptr<std::byte[]> own_;
};

}  // namespace partita::arithmetic
