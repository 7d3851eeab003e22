#include "arithmetic/lines.hpp"

#include <algorithm>

#include "array/transfer.hpp"

namespace partita::arithmetic {

std::optional<SequenceCuts> blocks_along(const Layout& layout, int axis) {
  SequenceCuts cuts{0};
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    cuts.push_back(cuts.back());
    if (layout.local_size(rank) == 0) continue;
    const Region region = layout.region(rank);
    for (int d = 0; d < layout.dimensions(); ++d) {
      const IndexSet& set = region.sets[static_cast<std::size_t>(d)];
      if (d != axis && set.size() != layout.shape()[d]) return std::nullopt;
      if (d == axis && (!set.is_range() || set.front() != cuts.back())) return std::nullopt;
      if (d == axis) cuts.back() += set.size();
    }
  }
  return cuts;
}

SequenceCuts cuts_of(const std::vector<std::int64_t>& sizes) {
  SequenceCuts cuts{0};
  for (const std::int64_t size : sizes) cuts.push_back(cuts.back() + size);
  return cuts;
}

std::vector<std::int64_t> sizes_of(const SequenceCuts& cuts) {
  std::vector<std::int64_t> sizes;
  for (std::size_t rank = 0; rank + 1 < cuts.size(); ++rank) sizes.push_back(cuts[rank + 1] - cuts[rank]);
  return sizes;
}

View with_axis_last(View view, int axis) {
  std::rotate(view.extents.begin() + axis, view.extents.begin() + axis + 1, view.extents.end());
  std::rotate(view.strides.begin() + axis, view.strides.begin() + axis + 1, view.strides.end());
  return view;
}

DensePart::DensePart(ContextState& context, const View& part, Elements elements)
    : context_(context), part_(part), view_(part) {
  if (elements != Elements::changed && arrays::lies_dense(part)) return;
  own_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(arrays::bytes_of(part)));
  view_ = View::dense(own_.get(), part.dtype, part.extents);
  if (elements != Elements::written) arrays::copy_view(context, part, view_);
}

void DensePart::finish() const {
  if (own_) arrays::copy_view(context_, view_, part_);
}

}  // namespace partita::arithmetic
