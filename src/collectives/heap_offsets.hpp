// The memory spaces of the views of a call, and their offsets on the symmetric heap.
#pragma once

#include <array>
#include <optional>
#include <partita/layout.hpp>
#include <partita/stream.hpp>
#include <partita/view.hpp>
#include <span>
#include <string_view>

#include "context/context_state.hpp"

namespace partita::collective {

/// Of the first view that has elements; without any, device memory if a view says so.
MemorySpace space_of(std::span<const View> views);

/// Throws UnsupportedError if the views are in host and device memory, in device memory of a context without
/// a device, or in host memory while a stream is given.
void check_space(const ContextState& context, std::string_view operation, std::span<const View> views,
                 MemorySpace space, const std::optional<Stream>& stream);

/// Offsets on the symmetric heap, of source and destination; negative: elsewhere, or no elements.
using HeapOffsets = std::array<std::int64_t, 2>;
/// In ordinary memory, or not dense.
inline constexpr std::int64_t nowhere = -1;
/// Dense in row-major order, but in ordinary memory, or at different places of the heap.
inline constexpr std::int64_t dense_elsewhere = -3;

/// Where this rank's view is stored.
std::int64_t own_heap_offset(const ContextState& context, const View& view);

/// The offsets of the views of all ranks, if they are the same; a view without elements matches any offset.
/// Collective, blocking.
HeapOffsets agreed_heap_offsets(ContextState& context, std::string_view operation, const HeapOffsets& own);

bool has_elements_everywhere(const Layout& layout);

}  // namespace partita::collective
