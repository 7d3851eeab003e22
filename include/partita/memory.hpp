// Symmetric memory: the same allocation on every rank, which peers of the same node can access.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <partita/context.hpp>
#include <partita/source_place.hpp>
#include <partita/stream.hpp>
#include <partita/view.hpp>

namespace partita {

/// A block of the context's symmetric heap, for direct use (arrays allocate their own). Owns the block: the
/// destructor never communicates and never throws; the block is released when all ranks have dropped it, at
/// the next allocation, plan creation, `collect()` or `close()`. Movable, not copyable.
///
/// The heap grows on demand up to the memory of the machine or its control group; PARTITA_MEMORY_LIMIT (read
/// when the context is made) limits the bytes of each rank's heap.
class PARTITA_API SymmetricMemory {
 public:
  /// Allocates a block. `bytes` must be the same on all ranks; `make_symmetric` accepts different sizes and
  /// allocates the largest on all ranks. Collective, blocking. The memory is aligned to 4096 bytes and its
  /// contents are undefined. `space`: if unset, the memory of the context's device, or the host's without
  /// one. Errors, the same on every rank: DisagreementError (different sizes), MemoryError (names the rank
  /// without memory), UnsupportedError (device memory in a context without a device), FailedContextError,
  /// TimeoutError.
  static SymmetricMemory allocate(const Context& context, std::int64_t bytes,
                                  std::optional<MemorySpace> space = {},
                                  SourcePlace where = SourcePlace::current());
  static SymmetricMemory make_symmetric(const Context& context, std::int64_t bytes,
                                        std::optional<MemorySpace> space = {},
                                        SourcePlace where = SourcePlace::current());
  SymmetricMemory();
  ~SymmetricMemory();
  SymmetricMemory(SymmetricMemory&&) noexcept;
  SymmetricMemory& operator=(SymmetricMemory&&) noexcept;

  void* data() const;          ///< address on this rank; null if there is no block
  std::int64_t bytes() const;  ///< allocated size: the largest of all ranks
  MemorySpace space() const;   ///< ArgumentError if there is no block
  /// A dense view of the start of the block, for collectives, `copy` and `wrap`. Local. Throws ArgumentError
  /// if there is no block, or if it is too small.
  View view(Dtype dtype, const Shape& extents, Order order = Order::row_major) const;
  /// The address of the block on `rank`; null if that rank is on another node. Local. The program must order
  /// accesses with those of that rank, for example by `Context::barrier`.
  void* peer(int rank) const;

  /// Releases the block immediately. Collective, blocking. MemoryError on every rank if any rank's block is
  /// already freed, or if the ranks free different blocks.
  void free();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The same as functions on pointers; allocates in the memory of the context's device if it has one,
/// otherwise the host's. `symmetric_free` throws MemoryError on every rank for a double free, a foreign
/// pointer, or different blocks.
PARTITA_API void* symmetric_allocate(const Context& context, std::int64_t bytes,
                                     SourcePlace where = SourcePlace::current());
PARTITA_API void symmetric_free(const Context& context, void* pointer);
/// The address on `rank` that corresponds to `pointer`; null if that rank is on another node. Local.
/// MemoryError if the heap does not own the pointer.
PARTITA_API void* symmetric_peer(const Context& context, const void* pointer, int rank);

/// destination = source, element by element, for memory outside of arrays: two views of the same extents and
/// dtype, each in host or device memory, with any strides. Overlapping views are copied as if the source were
/// read first. Local. Blocks, or is stream-ordered (<partita/stream.hpp>): then at least one side must be in
/// device memory, and the host waits if the other is not or if the two overlap. Throws ArgumentError if
/// extents or dtypes differ; UnsupportedError for device memory in a context without a device, for a stream
/// with host memory only, and for overlapping views while the stream is being captured.
PARTITA_API void copy(const Context& context, const View& source, const View& destination,
                      std::optional<Stream> stream = {});

}  // namespace partita
