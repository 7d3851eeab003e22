// Parts of arrays from one kind of memory to another.
#pragma once

#include <partita/view.hpp>

#include "context/context_state.hpp"
#include "kernels/host/copy.hpp"

namespace partita::arrays {

/// Of the elements, without gaps.
std::int64_t bytes_of(const View& view);

/// Whether the view has these strides. Strides along extents of one element are ignored.
bool lies_as(const View& view, const Strides& strides);
/// Whether the view is row-major without gaps.
inline bool lies_dense(const View& view) {
  return lies_as(view, dense_strides(view.extents));
}

/// A dense view of the same extents and dtype, in other memory.
View dense_at(void* memory, const View& like, MemorySpace space);

/// The nest over all elements of two views of the same extents; not simplified.
kernels::StridedCopy nest_over(const View& from, const View& to);

/// to = from, element by element: views of the same extents and dtype, each in host memory or in memory that
/// the context's device reaches. Local; done when it returns.
void copy_view(ContextState& context, const View& from, const View& to);

/// The same in the order of `stream` (none given: the context's own); where one side is host memory it is
/// done when this returns. One side at least is device memory.
void copy_view(ContextState& context, const View& from, const View& to, const std::optional<Stream>& stream);

/// Every element of a view in device memory becomes `element`, in the order of `stream` (none given: the
/// context's own). Local.
void fill_on_device(ContextState& context, const View& to, const void* element,
                    const std::optional<Stream>& stream);

/// to = from, converted. The views have the same extents and are in device memory. Stream-ordered.
void convert_on_device(ContextState& context, const View& from, const View& to,
                       const std::optional<Stream>& stream);

/// Throws UnsupportedError for a stream that is given for arrays in host memory.
void require_stream_of_device(std::string_view caller, bool is_device, const std::optional<Stream>& stream);

/// Throws UnsupportedError, the same on all ranks, where the context's own stream is being captured. At the
/// beginning of collective calls that wait for it: later a rank without elements might have nothing to wait
/// for. Nothing to do in a context without a device.
void require_no_capture_together(ContextState& context, std::string_view operation);

/// Throws ArgumentError for a view of device memory that names another device than the context's, and
/// UnsupportedError where the context has none.
void require_own_device(std::string_view caller, const ContextState& context, const View& view);
/// Throws ArgumentError where elements of device memory begin at no multiple of their size: a kernel that
/// touched them would leave the process without CUDA.
void require_aligned(std::string_view caller, const View& view, int rank);

}  // namespace partita::arrays
