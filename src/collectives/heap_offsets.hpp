// In which memory the views of a call lie, and where on the symmetric heap.
#pragma once

#include <partita/layout.hpp>
#include <partita/stream.hpp>
#include <partita/view.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "context/context_state.hpp"

namespace partita::collective {

/// Of the first view that has elements; without any, device memory if a view says so.
MemorySpace space_of(std::span<const View> views);

/// Throws UnsupportedError where the views lie in memory of both kinds, in device memory of a context without
/// a device, or in host memory while a stream is given.
void check_space(const ContextState& context, std::string_view operation, std::span<const View> views,
                 MemorySpace space, Stream stream);

/// Offsets on the symmetric heap, one a view; negative: elsewhere, or no elements.
using HeapOffsets = std::vector<std::int64_t>;
/// Dense in row-major order, but in ordinary memory, or at different places of the heap.
inline constexpr std::int64_t dense_elsewhere = -3;

/// Where this rank's views lie.
HeapOffsets own_heap_offsets(const ContextState& context, std::span<const View> views);

/// Where the views of all ranks lie, if at the same place; a view without elements suits every place.
/// Collective, blocking.
HeapOffsets agreed_heap_offsets(ContextState& context, std::string_view operation, const HeapOffsets& own);

bool has_elements_everywhere(const Layout& layout);

}  // namespace partita::collective
