// Symmetric memory: the same allocation on every rank, readable by the peers of the same node.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <partita/context.hpp>
#include <partita/source_place.hpp>
#include <partita/stream.hpp>
#include <partita/view.hpp>

namespace partita {

/// A block of the context's symmetric heap, by hand (arrays do this by themselves). Owns the block: the
/// destructor never communicates and never throws; the block is released when all ranks have dropped it, at
/// the next allocate, plan creation, `collect()` or `close()`. Movable, not copyable.
///
/// The heap grows on demand, as far as the machine (or its control group) has memory; PARTITA_MEMORY_LIMIT
/// (in the environment when the context starts) is the most bytes that a rank's heap may have.
class PARTITA_API SymmetricMemory {
 public:
  /// `bytes` must be the same on all ranks; `make_symmetric` allows unequal sizes and allocates the largest
  /// on all. Collective, blocking. The memory is aligned to 4096 bytes and its contents are undefined.
  /// Errors, the same on every rank: DisagreementError (unequal sizes without make_symmetric), MemoryError
  /// (no memory left on a rank: names it), UnsupportedError (device memory in a context without a device),
  /// FailedContextError, TimeoutError. `space`: nothing: in the memory of the context's device, if it has
  /// one.
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

  void* data() const;          ///< this rank's; null: no block
  std::int64_t bytes() const;  ///< as allocated: the largest of all ranks
  MemorySpace space() const;   ///< ArgumentError: no block
  /// A dense array at the start of the block, for collectives, `copy` and `wrap`. Local. Throws ArgumentError
  /// where there is no block, or it is too small.
  View view(Dtype dtype, const Shape& extents, Order order = Order::row_major) const;
  /// The same place of the block on `rank`; null where that rank is on another node. Local. Who reads there
  /// while the rank writes must be ordered by the program: `Context::barrier`, say.
  void* peer(int rank) const;

  /// Releases now instead of later. Collective, blocking. MemoryError on every rank if any rank's block is
  /// already freed, or the ranks free different blocks.
  void free();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The C-like face, for pointers kept elsewhere; in the memory of the context's device, if it has one. Same
/// contract; `symmetric_free` gives MemoryError on every rank for a double free, a foreign pointer, or
/// different blocks.
PARTITA_API void* symmetric_allocate(const Context& context, std::int64_t bytes,
                                     SourcePlace where = SourcePlace::current());
PARTITA_API void symmetric_free(const Context& context, void* pointer);
/// The address of `pointer`'s place on `rank`; null on another node. MemoryError if the heap does not own it.
/// Local.
PARTITA_API void* symmetric_peer(const Context& context, const void* pointer, int rank);

/// destination = source, element by element, between plain memory and plain memory of the same extents and
/// dtype, each the host's or the device's, with any strides: what belongs to no array. The two may overlap:
/// the result is as if the source had been read first. Local. Blocks, or with a stream is stream-ordered
/// (<partita/stream.hpp>): then one side at least is in device memory, and where the other is not, or where
/// the two overlap, the host waits. Throws ArgumentError, and
/// UnsupportedError for device memory in a context without a device, for a stream where there is only the
/// host's memory, and for views that overlap in a stream that is being captured.
PARTITA_API void copy(const Context& context, const View& source, const View& destination,
                      std::optional<Stream> stream = {});

}  // namespace partita
