// Arrays and symmetric memory for other libraries in the same process: NumPy, PyTorch, CuPy, JAX, ...
#pragma once

#include <partita/array.hpp>
#include <partita/context.hpp>
#include <partita/memory.hpp>

/// Of <dlpack/dlpack.h>, which whoever looks into it includes. Its memory layout is the same in all releases
/// of DLPack from 0.6 on (1.0 and later call it the unversioned tensor).
extern "C" struct DLManagedTensor;

namespace partita {

/// This rank's part of the array: its memory itself, no copy, with strides in elements. On kDLCPU, or kDLCUDA
/// with the device's index. The caller owns the result and ends it by calling its `deleter`, from any thread,
/// also after the array and the context are gone: the memory is kept until then (as long as any other copy of
/// the array would keep it), but of a wrapped array it is the caller's, who keeps it.
///
/// Work that the context has put into a stream may still be writing: call `Context::synchronize` first, or
/// let the reader's stream wait for `Context::stream`. Local. ArgumentError: no array.
PARTITA_API DLManagedTensor* to_dlpack(const Array& array);

/// A dense array of `extents`, in row-major order, at the start of a block of symmetric memory, which the
/// result owns from here on: its deleter drops the block. `context` is that of the block. Local.
/// ArgumentError, and the block is dropped: no block, or it is too small.
PARTITA_API DLManagedTensor* to_dlpack(const Context& context, SymmetricMemory memory, Dtype dtype,
                                       const Shape& extents);

}  // namespace partita
