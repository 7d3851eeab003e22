#include "collectives/heap_offsets.hpp"

#include <algorithm>
#include <cstring>

#include "array/transfer.hpp"
#include "base/check.hpp"
#include "runtime/checks/agree.hpp"

namespace partita::collective {
namespace {

constexpr std::int64_t empty = -2;  // suits every place

bool has_elements(const View& view) {
  return view.data != nullptr && volume(view.extents) > 0;
}

std::int64_t joined(std::int64_t a, std::int64_t b) {
  if (a == b || b == empty) return a;
  if (a == empty) return b;
  return a != nowhere && b != nowhere ? dense_elsewhere : nowhere;
}

}  // namespace

MemorySpace space_of(std::span<const View> views) {
  for (const View& view : views) {
    if (has_elements(view)) return view.space;
  }
  const bool some = std::ranges::any_of(views, [](const View& v) { return v.space == MemorySpace::device; });
  return some ? MemorySpace::device : MemorySpace::host;
}

void check_space(const ContextState& context, std::string_view operation, std::span<const View> views,
                 MemorySpace space, const std::optional<Stream>& stream) {
  for (const View& view : views) {
    check<UnsupportedError>(!has_elements(view) || view.space == space,
                            "{}: one view is in host memory and another in device memory; copy one of them",
                            operation);
  }
  if (space == MemorySpace::device) {
    for (const View& view : views) arrays::require_own_device(operation, context, view);
  } else {
    arrays::require_stream_of_device(operation, false, stream);
  }
}

std::int64_t own_heap_offset(const ContextState& context, const View& view) {
  if (!has_elements(view)) return empty;
  if (view.space == MemorySpace::device && context.device == nullptr) return nowhere;  // and refused
  const bool suits = view.strides.size() == view.extents.size() && arrays::lies_dense(view);
  if (!suits) return nowhere;
  const std::int64_t offset = context.heap_in(view.space).offset_of(view.data);
  return offset < 0 ? dense_elsewhere : offset;
}

HeapOffsets agreed_heap_offsets(ContextState& context, std::string_view operation, const HeapOffsets& own) {
  HeapOffsets agreed{empty, empty};
  for (const HeapOffsets& theirs : runtime::exchange_values(context, operation, own)) {
    for (std::size_t i = 0; i < agreed.size(); ++i) agreed[i] = joined(agreed[i], theirs[i]);
  }
  // Ranks that disagree about who has elements take the plan that they would take otherwise, and are found
  // out as they are elsewhere.
  std::ranges::replace(agreed, empty, dense_elsewhere);
  return agreed;
}

bool has_elements_everywhere(const Layout& layout) {
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    if (layout.region(rank).empty()) return false;
  }
  return true;
}

}  // namespace partita::collective
