// DLPack: arrays and symmetric memory shared with NumPy, PyTorch, CuPy, JAX, ... in the same process.
#pragma once

#include <partita/array.hpp>
#include <partita/context.hpp>
#include <partita/distribution.hpp>
#include <partita/memory.hpp>
#include <partita/stream.hpp>

/// Defined in <dlpack/dlpack.h>; include it to access members. The memory layout is the same in all releases
/// of DLPack since 0.6 (1.0 and later call it the unversioned tensor).
extern "C" struct DLManagedTensor;
/// The tensor of DLPack 1.0; accepted also if the installed header is older.
extern "C" struct DLManagedTensorVersioned;

namespace partita {

/// Exports the local part of the array without a copy, with strides in elements, as kDLCPU or kDLCUDA with
/// the device's index. The caller owns the result and calls its `deleter`, from any thread, also after the
/// array and the context are destroyed: the memory is kept until then. The memory of a wrapped array without
/// `owner` must be kept by the caller.
///
/// Work on the context's stream may still be writing: call `Context::synchronize` first, or pass the stream
/// of the reader, which then waits for that work on the device. This is the `stream` of `__dlpack__`: 1 and 2
/// are handles of CUDA, None is `Stream{nullptr}`; for -1 pass no stream. Local. ArgumentError: an empty
/// Array, or an array on read-only memory. UnsupportedError: the context's own stream is being captured.
PARTITA_API DLManagedTensor* to_dlpack(const Array& array);
PARTITA_API DLManagedTensor* to_dlpack(const Array& array, Stream reader);

/// Exports the start of a block of symmetric memory as a dense row-major tensor of `extents`. The result owns
/// the block: its deleter drops it. `context` is that of the block. Local. ArgumentError, after which the
/// block is dropped: no block, or a block that is too small.
PARTITA_API DLManagedTensor* to_dlpack(const Context& context, SymmetricMemory memory, Dtype dtype,
                                       const Shape& extents);

/// An array on the memory of other libraries' tensors, one per rank, without a copy: as `wrap` with an owner.
/// Each tensor is the local part of its rank; `distribution` and `shape` describe the whole array. The memory
/// is kDLCPU or kDLCUDAHost, or kDLCUDA or kDLCUDAManaged on the context's device. The call takes ownership
/// of `tensor`: it is deleted with the array, or if the call throws. Pass `Context::stream` as `stream` of
/// the producer's `__dlpack__`. The array of a read-only versioned tensor is read-only: calls that write to
/// it throw ArgumentError. Collective, blocking. Errors as for `wrap`; also ArgumentError, the same on every
/// rank: a null tensor, an element type without a dtype, too many dimensions.
PARTITA_API Array from_dlpack(const Context& context, DLManagedTensor* tensor,
                              const Distribution& distribution, const Shape& shape);
PARTITA_API Array from_dlpack(const Context& context, DLManagedTensorVersioned* tensor,
                              const Distribution& distribution, const Shape& shape);

}  // namespace partita
