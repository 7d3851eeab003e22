// Collectives on ordinary memory: broadcast, reduce, gather, exchange, scan; messages from one
// rank to another; ghost cells.
//
// All functions operate on views: a pointer with dtype, extents and strides. Counts are extents, in elements,
// with 64 bits; any strides are supported. Parts of several ranks in one view are concatenated along
// dimension 0, by increasing rank. A view that a rank does not need (the destination of `reduce`
// on other ranks than the root) is ignored and may be empty.
//
// Unless stated otherwise a call is collective over the context and blocks until this rank may overwrite its
// source and read its destination. Source and destination must not overlap, unless "in place" is allowed.
// Ordinary memory always works. Views of 256 KiB and more on the symmetric heap (dense, row-major,
// at the same offset on all ranks) are read or written in place by the ranks of the same node. The plan of a
// call is kept in the context, with its scratch, and reused by later calls with the same arguments.
//
// Errors are the same exception on every rank if all ranks make the call: ArgumentError (a
// view of the wrong shape, a root that does not exist, a reduction that is not defined for the dtype),
// DisagreementError (shape, dtype, root, reduction, kind of memory or operation differ), UnsupportedError
// (views in host memory and in device memory in one call, device memory in a context without a device),
// MemoryError. If some ranks already execute a plan that others do not have, the context fails with
// DisagreementError. TimeoutError, LostPeerError, FailedContextError as for every call. Only one thread at a
// time may use a context.
//
// Views in device memory: the work is enqueued on the stream of the call (<partita/stream.hpp>; if
// unset, the context's own), and the call returns. Later work on the stream may overwrite the source and read
// the destination; `Context::synchronize` waits for it. The first call of a kind plans together with the
// other ranks and allocates, on the host; later ones do not wait and may be captured into a CUDA graph
// (except those that the vendor's library executes: UnsupportedError). The graph keeps what it needs of the
// context until it is destroyed or the context is closed. While the context's own stream is captured, a first
// call is an UnsupportedError. Sources may be in any memory. A destination on the symmetric heap is written
// in place if it has the same offset on all ranks; whether it has may change only together with shape, dtype
// or offset, on all ranks at once: a single rank would wait until the deadline and then throw. Large calls
// use the vendor's library (NCCL) if it is available and faster; `deterministic` reductions never
// do. `send` and `receive` wait on the host, for the stream and for each other; `all_to_all_v`
// compares its counts on the host. In host memory a given stream is an UnsupportedError.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <partita/array.hpp>
#include <partita/context.hpp>
#include <partita/plan.hpp>
#include <partita/reduction.hpp>
#include <partita/stream.hpp>
#include <partita/view.hpp>
#include <span>
#include <string>
#include <vector>

namespace partita {

/// Returns when all ranks have called it. With a stream it returns at once: later work on the stream waits
/// until the streams of all ranks have reached the barrier. In a context without a device, which has no
/// streams, it blocks with `Stream{}`, too.
PARTITA_API void barrier(const Context& context, std::optional<Stream> stream = {});

// --- one rank and all ranks

/// Copies `view` of `root` to `view` of all ranks. Extents and dtype must be equal. Large views use two
/// steps: slices to all ranks, then all slices to all ranks (van de Geijn's scatter and all-gather).
PARTITA_API void broadcast(const Context& context, const View& view, int root = 0,
                           std::optional<Stream> stream = {});

/// As above, of the elements of a contiguous C++ container (of the same size on all ranks), or of one number.
template <class Memory>
requires(detail::Elements<Memory&> ||
         detail::is_number<Memory>) void broadcast(const Context& context, Memory& memory, int root = 0) {
  broadcast(context, view(memory), root);
}

/// How contributions are reduced.
struct ReduceOptions {
  std::optional<Stream> stream = {};     ///< for views in device memory; if unset, the context's own
  Reduction reduction = Reduction::sum;  ///< combines two contributions
  /// The result has the same bits for every assignment of ranks to nodes, and in any memory: contributions
  /// are reduced in rank order. All current algorithms do so; the option guarantees it for future ones.
  bool deterministic = false;
};
/// destination of `root` = the reduction of all sources. In place allowed. Otherwise as `all_reduce`.
PARTITA_API void reduce(const Context& context, const View& source, const View& destination,
                        const ReduceOptions& options = {}, int root = 0);

/// destination of `root` = the concatenated sources of all ranks. The root's own part may already be
/// in its place: then its source is that part of the destination.
PARTITA_API void gather(const Context& context, const View& source, const View& destination, int root = 0,
                        std::optional<Stream> stream = {});
/// The same for parts of `counts[rank]` indices along dimension 0; all ranks pass all counts.
PARTITA_API void gather_v(const Context& context, const View& source, const View& destination,
                          std::span<const std::int64_t> counts, int root = 0,
                          std::optional<Stream> stream = {});

/// The opposite of `gather`: the source of `root` is divided along dimension 0 into one part per rank. The
/// root's own part may stay in its place.
PARTITA_API void scatter(const Context& context, const View& source, const View& destination, int root = 0,
                         std::optional<Stream> stream = {});
PARTITA_API void scatter_v(const Context& context, const View& source, const View& destination,
                           std::span<const std::int64_t> counts, int root = 0,
                           std::optional<Stream> stream = {});

// --- all ranks and all ranks

/// destination = the reduction of all sources, element by element, with the same bits on every rank. In place
/// allowed. Small views are read completely by all ranks, large ones use two steps: each rank reduces a
/// slice, then all read all slices (Rabenseifner's reduce-scatter and all-gather).
PARTITA_API void all_reduce(const Context& context, const View& source, const View& destination,
                            const ReduceOptions& options = {});

/// As above, with another reduction than the sum.
inline void all_reduce(const Context& context, const View& source, const View& destination,
                       Reduction reduction) {
  all_reduce(context, source, destination, ReduceOptions{.reduction = reduction});
}
/// In place, of the elements of a contiguous C++ container, with the same size on all ranks:
/// `all_reduce(context, numbers)`.
template <class Memory>
requires detail::Elements<Memory&>
void all_reduce(const Context& context, Memory& memory, const ReduceOptions& options = {}) {
  all_reduce(context, view(memory), view(memory), options);
}
/// The reduction of one number of each rank: `total = all_reduce(context, mine)`.
template <class T>
requires detail::is_number<T>
[[nodiscard]] T all_reduce(const Context& context, T number, const ReduceOptions& options = {}) {
  all_reduce(context, view(number), view(number), options);
  return number;
}

/// destination = the concatenated sources of all ranks, on every rank. The rank's own part may
/// already be in its place. A source without dimensions, such as `view(number)`, is one element of the
/// destination.
PARTITA_API void all_gather(const Context& context, const View& source, const View& destination,
                            std::optional<Stream> stream = {});
PARTITA_API void all_gather_v(const Context& context, const View& source, const View& destination,
                              std::span<const std::int64_t> counts, std::optional<Stream> stream = {});

/// destination = this rank's part of the reduction of all sources, whose extent 0 is the sum of the parts'.
PARTITA_API void reduce_scatter(const Context& context, const View& source, const View& destination,
                                const ReduceOptions& options = {});
PARTITA_API void reduce_scatter_v(const Context& context, const View& source, const View& destination,
                                  std::span<const std::int64_t> counts, const ReduceOptions& options = {});

/// Part q of the source of rank p becomes part p of the destination of rank q. Both have the same extents and
/// at most 7 dimensions; extent 0 is a multiple of the number of ranks.
PARTITA_API void all_to_all(const Context& context, const View& source, const View& destination,
                            std::optional<Stream> stream = {});
/// The same with parts of `send_counts[q]` and `receive_counts[p]` indices along dimension 0. The counts of
/// sender and receiver must match: they are compared, in one exchange at every call.
PARTITA_API void all_to_all_v(const Context& context, const View& source, const View& destination,
                              std::span<const std::int64_t> send_counts,
                              std::span<const std::int64_t> receive_counts,
                              std::optional<Stream> stream = {});

/// Which contributions a scan reduces.
enum class Scan : std::uint8_t {
  inclusive,  ///< those of the ranks up to and including this one
  exclusive,  ///< those of the ranks before this one; the identity of the reduction on rank 0
};
/// destination = the sources of the ranks up to this one, reduced in rank order. In place allowed. At most 7
/// dimensions. Each rank accumulates a slice of all sources and returns the results to their ranks.
PARTITA_API void scan(const Context& context, const View& source, const View& destination,
                      const ReduceOptions& options = {}, Scan kind = Scan::inclusive);

// --- from one rank to another: not collective

/// Sends the elements of `view`, in row-major order, to `peer`. Messages with one sender and one tag arrive
/// in the order of sending; messages with another tag do not delay them. Returns when `view` may be
/// overwritten: at once for up to 16 KiB and for strided views, which are copied; otherwise possibly only
/// when the receiver asks for it. Messages that were not received when the sender's context ends are lost.
/// Not collective; blocks within the deadline, and an expired deadline fails the
/// context. Errors on this rank only: ArgumentError (invalid rank or view), UnsupportedError,
/// TimeoutError, LostPeerError. Ranks that wait in a cycle for each other's receipts
/// get a DisagreementError that names them: use `send_receive` for rings.
PARTITA_API void send(const Context& context, const View& view, int peer, int tag = 0,
                      std::optional<Stream> stream = {});

/// Waits for the oldest message of `peer` with this tag. It must have the dtype and the number of elements of
/// `view`, otherwise ArgumentError on this rank, and the message is discarded. Otherwise as `send`.
PARTITA_API void receive(const Context& context, const View& view, int peer, int tag = 0,
                         std::optional<Stream> stream = {});

/// Both concurrently, so that ranks in a ring cannot block each other.
PARTITA_API void send_receive(const Context& context, const View& sent, int to, const View& received,
                              int from, int tag = 0, std::optional<Stream> stream = {});

// --- ghost cells

/// How far a rank's part is extended by elements of its neighbours.
struct HaloOptions {
  /// For `halo_exchange` in device memory; if unset, the context's own. `Halo` takes it with each call.
  std::optional<Stream> stream = {};
  Extents lower = {};  ///< ghost cells before the part, along each dimension; empty: none anywhere
  Extents upper = {};  ///< after it; empty: as `lower`
  std::vector<bool> periodic = {};  ///< whether indices wrap around, along each dimension; empty: nowhere
};

/// The extents of the rank's part with its ghost cells, including cells outside the array (dimensions that
/// are not periodic). A part without elements has no ghost cells. Pure. Throws ArgumentError as `Halo` does.
PARTITA_API Shape halo_shape(const Layout& layout, int rank, const HaloOptions& options);

/// The rank's part inside its extended part, with the same number of dimensions. Pure. Throws ArgumentError
/// as `Halo` does.
PARTITA_API View halo_interior(const View& extended, const Layout& layout, int rank,
                               const HaloOptions& options);

/// The parts of an array, each extended by ghost cells: plan once, execute many times. For every distribution
/// whose parts are boxes, even, uneven or empty; any width, also beyond the neighbour's part or
/// the whole of a periodic array. Corners are filled too. Ghost cells outside of the array are not written.
/// Creation is collective; so are `execute`, `refresh` and `accumulate`, which allocate nothing, and `start`
/// and `finish`.
/// Not copyable; one thread at a time.
class PARTITA_API Halo {
 public:
  /// `operand` describes the array, with at most 7 dimensions. Errors, the same on every rank: ArgumentError
  /// (a part that is not a box: names the rank; a partial array; widths that are negative or do not match the
  /// dimensions; a stream in the options), DisagreementError, MemoryError.
  Halo(const Context& context, const Operand& operand, const HaloOptions& options);
  /// For arrays like this one. ArgumentError if it belongs to another context.
  Halo(const Context& context, const Array& array, const HaloOptions& options)
      : Halo(context, detail::operand_in(context, array, "Halo"), options) {}
  Halo(const Array& array, const HaloOptions& options) : Halo(array.context(), array, options) {}
  ~Halo();
  Halo(Halo&&) noexcept;
  Halo& operator=(Halo&&) noexcept;

  Shape extended_shape() const;               ///< of this rank
  View interior(const View& extended) const;  ///< this rank's part inside the extended part

  /// Copies the part of `source`, of the operand's layout, and its ghost cells into `extended`, memory of
  /// extended_shape(). Blocks until `extended` is complete and the source may be overwritten.
  void execute(const Array& source, const View& extended, std::optional<Stream> stream = {});
  void execute(const View& source, const View& extended, std::optional<Stream> stream = {});
  /// The ghost cells only: the part is already in its place in `extended`.
  void refresh(const View& extended, std::optional<Stream> stream = {});

  /// The adjoint of `execute`, <execute(x), y> = <x, accumulate(y)>: `destination` becomes the part inside
  /// `extended`, plus the values of all ranks' ghost cells for its elements (as PETSc's reverse scatter
  /// with ADD_VALUES), for example deposits into ghost cells. Ghost cells are unchanged, and those
  /// outside of the array are ignored. The plan fixes the order of sums: the same bits in every execution.
  /// Blocks until `destination` is complete and `extended` may be overwritten. The first call plans and
  /// allocates together with all ranks. Errors as for `execute`, and ArgumentError on all ranks if the
  /// layout is replicated (the copies would be added up) or no sum is defined for the dtype.
  void accumulate(const View& extended, const Array& destination, std::optional<Stream> stream = {});
  void accumulate(const View& extended, const View& destination, std::optional<Stream> stream = {});
  /// In place: the destination is the part inside `extended`; the adjoint of `refresh`.
  void accumulate(const View& extended, std::optional<Stream> stream = {});

  /// `execute` in two halves, so that the interior can be computed in between. `start` copies what this rank
  /// sends and does not wait, except for the first call, which plans and allocates together with all ranks;
  /// `finish` waits for the neighbours' data and copies it to its place. On the host only the peers make
  /// progress in between: messages to other nodes advance as far as MPI moves them by itself.
  ///
  /// From `start` to `finish` the caller may read the source and the part inside `extended`, and must write
  /// neither, nor access the ghost cells. Other calls on the context are allowed in between, also of other
  /// halos; halos are finished in the order of their starts. One that is destroyed unfinished, by an
  /// exception, fails its context: the peers wait for it. Errors, on this rank: ArgumentError (a second
  /// start, `execute` or `refresh` before `finish`; `finish` without a start or out of order), as `execute`.
  ///
  /// In device memory `start` enqueues the whole exchange on `stream` (if unset, the context's own), where it
  /// may overlap with other streams, and later work on the `stream` of `finish` follows it. Both may be
  /// captured. Between nodes `start` waits for messages that pass through the host.
  void start(const Array& source, const View& extended, std::optional<Stream> stream = {});
  void start(const View& source, const View& extended, std::optional<Stream> stream = {});
  void start(const View& extended, std::optional<Stream> stream = {});  ///< for `refresh`
  void finish(std::optional<Stream> stream = {});
  /// `accumulate` in two halves, the second of which is `finish`. In between neither `extended` nor the
  /// destination may be written, nor the destination read.
  void start_accumulate(const View& extended, const Array& destination, std::optional<Stream> stream = {});
  void start_accumulate(const View& extended, const View& destination, std::optional<Stream> stream = {});
  void start_accumulate(const View& extended, std::optional<Stream> stream = {});

  const Plan& plan() const;  ///< this rank's, of `execute`

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// One-line call of `Halo::execute`; the plan is cached in the context.
PARTITA_API void halo_exchange(const Array& source, const View& extended, const HaloOptions& options);

}  // namespace partita
