// Arrays and symmetric memory for other libraries in the same process: NumPy, PyTorch, CuPy, JAX, ...
#pragma once

#include <partita/array.hpp>
#include <partita/context.hpp>
#include <partita/distribution.hpp>
#include <partita/memory.hpp>
#include <partita/stream.hpp>

/// Of <dlpack/dlpack.h>, which whoever looks into it includes. Its memory layout is the same in all releases
/// of DLPack from 0.6 on (1.0 and later call it the unversioned tensor).
extern "C" struct DLManagedTensor;
/// Of DLPack 1.0; read where the installed header is older, too.
extern "C" struct DLManagedTensorVersioned;

namespace partita {

/// This rank's part of the array: its memory itself, no copy, with strides in elements. On kDLCPU, or kDLCUDA
/// with the device's index. The caller owns the result and ends it by calling its `deleter`, from any thread,
/// also after the array and the context are gone: the memory is kept until then (as long as any other copy of
/// the array would keep it), but of a wrapped array it is the caller's, who keeps it.
///
/// Work that the context has put into a stream may still be writing: call `Context::synchronize` first, or
/// name the stream of the reader, which from here on waits for that work (on the device; the host does not).
/// That is the `stream` of `__dlpack__`: 1 and 2 are CUDA's own handles, None is `Stream{nullptr}`, -1 is to
/// name none. Local. ArgumentError: no array, or one on read-only memory. UnsupportedError: the context's own
/// stream is being captured.
PARTITA_API DLManagedTensor* to_dlpack(const Array& array);
PARTITA_API DLManagedTensor* to_dlpack(const Array& array, Stream reader);

/// A dense array of `extents`, in row-major order, at the start of a block of symmetric memory, which the
/// result owns from here on: its deleter drops the block. `context` is that of the block. Local.
/// ArgumentError, and the block is dropped: no block, or it is too small.
PARTITA_API DLManagedTensor* to_dlpack(const Context& context, SymmetricMemory memory, Dtype dtype,
                                       const Shape& extents);

/// An array on the memory of other libraries' tensors, one a rank, without a copy: as `wrap` with an owner.
/// Each is the rank's part; what it is of, and how it is spread, only the caller knows. On kDLCPU or
/// kDLCUDAHost, or on kDLCUDA or kDLCUDAManaged with the index of the context's device. `tensor` belongs to
/// the call, which ends it where it throws; else the array does. The producer must have been given
/// `Context::stream` as the `stream` of its `__dlpack__`. Memory that a versioned tensor calls read-only may
/// only be read: calls that write to the array throw ArgumentError. Collective, blocking. Errors as of
/// `wrap`; also ArgumentError, the same on every rank: no tensor, elements that are no dtype's, too many
/// dimensions.
PARTITA_API Array from_dlpack(const Context& context, DLManagedTensor* tensor,
                              const Distribution& distribution, const Shape& shape);
PARTITA_API Array from_dlpack(const Context& context, DLManagedTensorVersioned* tensor,
                              const Distribution& distribution, const Shape& shape);

}  // namespace partita
