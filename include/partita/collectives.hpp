// What all ranks do together with plain memory: broadcast, reduce, gather, exchange, scan; messages from one
// rank to another; ghost cells.
//
// Everything works on views: a pointer with dtype, extents and strides. Counts are extents, in elements, of
// 64 bits; any strides are fine. Where parts of several ranks stand in one view, they stand one after the
// other along dimension 0, by increasing rank. A view that a rank does not need (the destination of `reduce`
// on other ranks than the root) is not looked at and may be empty.
//
// Unless said otherwise a call is collective over the context and blocks until this rank may overwrite its
// source and read its destination. Source and destination must not overlap, but where "in place" is allowed.
// Ordinary memory always works; of views of 256 KiB and more, those on the symmetric heap (dense, row-major,
// at the same place on all ranks) are read or written in place by the ranks of the same node. The plan of a
// call is kept in the context, with its scratch, and found again when the same call comes.
//
// Errors are the same exception on every rank where all ranks come together in the call: ArgumentError (a
// view that does not fit, a root that does not exist, a reduction that is not defined for the dtype),
// DisagreementError (shape, dtype, root, reduction, kind of memory or operation differ), UnsupportedError
// (views in host memory and in device memory in one call, device memory in a context without a device),
// MemoryError. Where some ranks already execute a plan that others do not have, the context fails with
// DisagreementError. TimeoutError, LostPeerError, FailedContextError as everywhere. A context belongs to one
// thread at a time.
//
// Views in device memory: the work is put into `stream` (none given: the context's own), and the call
// returns. What the stream does next may overwrite the source and read the destination;
// `Context::synchronize` waits for it. The first call of a kind plans together with the other ranks and
// allocates, on the host; later ones wait for nothing and may be captured into a CUDA graph (not those that
// the vendor's library does: UnsupportedError), which keeps what it needs of the context until it is
// destroyed or the context closed. While the context's own stream is captured, a first call is an
// UnsupportedError, too. Sources may lie anywhere. A destination on the symmetric heap is written in place if
// it lies at the same place on all ranks; which ranks' do may change only together with shape, dtype or
// place, on all ranks at once: a rank on its own would wait until the deadline, and then throw. Large calls
// are the vendor's library's (NCCL) where that is faster and there is one; `deterministic` reductions are
// always ours. `send` and `receive` wait on the host, for the stream and for each other; `all_to_all_v`
// compares its counts on the host. In host memory there are no streams, and any that is given is refused.
#pragma once

#include <array>
#include <memory>
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

/// Returns when all ranks have called it.
PARTITA_API void barrier(const Context& context);
/// The same of streams: what `stream` (none given: the context's own) does next waits until the streams of
/// all ranks have come there. Returns at once. In a context without a device, where there are no streams, as
/// above.
PARTITA_API void barrier(const Context& context, Stream stream);

// --- one rank and all ranks

/// `view` of all ranks becomes that of `root`. Extents and dtype must be alike. Large views go in two steps,
/// as slices to all ranks and from them to all (van de Geijn's scatter and all-gather).
PARTITA_API void broadcast(const Context& context, const View& view, int root = 0, Stream stream = {});

/// How contributions are joined.
struct ReduceOptions {
  Reduction reduction = Reduction::sum;  ///< what joins two of them
  /// The result is bit for bit the same however the ranks sit on nodes, and in whatever memory: contributions
  /// are joined in rank order. Every way that there is today does so; the promise keeps it so.
  bool deterministic = false;
};
/// destination of `root` = all sources joined. In place allowed. The rest as `all_reduce`.
PARTITA_API void reduce(const Context& context, const View& source, const View& destination,
                        const ReduceOptions& options = {}, int root = 0, Stream stream = {});

/// destination of `root` = the sources of all ranks, one after the other. The root's own part may already be
/// in its place: then its source is that part of the destination.
PARTITA_API void gather(const Context& context, const View& source, const View& destination, int root = 0,
                        Stream stream = {});
/// The same of parts of `counts[rank]` indices along dimension 0; all ranks give all counts.
PARTITA_API void gather_v(const Context& context, const View& source, const View& destination,
                          std::span<const std::int64_t> counts, int root = 0, Stream stream = {});

/// The opposite: the source of `root`, cut along dimension 0, one part a rank. The root's own part may stay
/// in its place.
PARTITA_API void scatter(const Context& context, const View& source, const View& destination, int root = 0,
                         Stream stream = {});
PARTITA_API void scatter_v(const Context& context, const View& source, const View& destination,
                           std::span<const std::int64_t> counts, int root = 0, Stream stream = {});

// --- all ranks and all ranks

/// destination = all sources joined, element by element, on every rank; the same bits on every rank. In place
/// allowed. Small views are read by everybody whole, large ones in two steps: each rank joins a slice, then
/// all read all slices (Rabenseifner's reduce-scatter and all-gather).
PARTITA_API void all_reduce(const Context& context, const View& source, const View& destination,
                            const ReduceOptions& options = {}, Stream stream = {});

/// destination = the sources of all ranks, one after the other, on every rank. The rank's own part may
/// already be in its place.
PARTITA_API void all_gather(const Context& context, const View& source, const View& destination,
                            Stream stream = {});
PARTITA_API void all_gather_v(const Context& context, const View& source, const View& destination,
                              std::span<const std::int64_t> counts, Stream stream = {});

/// destination = this rank's part of all sources joined. Extent 0 of a source is the sum of the parts'.
PARTITA_API void reduce_scatter(const Context& context, const View& source, const View& destination,
                                const ReduceOptions& options = {}, Stream stream = {});
PARTITA_API void reduce_scatter_v(const Context& context, const View& source, const View& destination,
                                  std::span<const std::int64_t> counts, const ReduceOptions& options = {},
                                  Stream stream = {});

/// Part q of the source of rank p becomes part p of the destination of rank q. Both have the same extents, of
/// at most 7 dimensions; extent 0 is a multiple of the ranks.
PARTITA_API void all_to_all(const Context& context, const View& source, const View& destination,
                            Stream stream = {});
/// The same with parts of `send_counts[q]` and `receive_counts[p]` indices along dimension 0. What one rank
/// sends another the other must expect: that is compared, in one exchange of the counts at every call.
PARTITA_API void all_to_all_v(const Context& context, const View& source, const View& destination,
                              std::span<const std::int64_t> send_counts,
                              std::span<const std::int64_t> receive_counts, Stream stream = {});

/// Whose contributions a scan joins.
enum class Scan : std::uint8_t {
  inclusive,  ///< of the ranks up to and with this one
  exclusive,  ///< of the ranks before this one; the identity of the reduction on rank 0
};
/// destination = the sources of the ranks up to this one joined in rank order. In place allowed. At most 7
/// dimensions. Each rank joins a slice of all sources and hands the results back.
PARTITA_API void scan(const Context& context, const View& source, const View& destination,
                      const ReduceOptions& options = {}, Scan kind = Scan::inclusive, Stream stream = {});

// --- from one rank to another: not collective

/// The elements of `view`, in row-major order, to `peer`. Messages of one sender and one tag arrive in the
/// order in which they were sent; of another tag they do not delay each other. Returns when `view` may be
/// overwritten: at once for up to 16 KiB and for strided views, which are copied; otherwise maybe not before
/// the receiver asks for it. Messages that were not received when the sender's context goes are lost. Not
/// collective; blocks within the deadline, and a passed deadline fails the
/// context. Errors on this rank only: ArgumentError (no such rank, a bad view), UnsupportedError,
/// TimeoutError, LostPeerError. Ranks of one node that wait in a ring for each other's receipts and so for
/// ever get a DisagreementError, which names them: `send_receive` is for rings.
PARTITA_API void send(const Context& context, const View& view, int peer, int tag = 0, Stream stream = {});

/// Waits for the oldest message of `peer` with this tag. It must have the dtype and the number of elements of
/// `view`, otherwise ArgumentError on this rank, and the message is gone. The rest as `send`.
PARTITA_API void receive(const Context& context, const View& view, int peer, int tag = 0, Stream stream = {});

/// Both at once, so that rings of ranks cannot block each other.
PARTITA_API void send_receive(const Context& context, const View& sent, int to, const View& received,
                              int from, int tag = 0, Stream stream = {});

// --- ghost cells

/// How far a rank's part is extended with what its neighbours own.
struct HaloOptions {
  Extents lower = {};  ///< ghost cells before the part, along each dimension; empty: none anywhere
  Extents upper = {};  ///< behind it; empty: as `lower`
  std::vector<bool> periodic = {};  ///< whether indices go round, along each dimension; empty: nowhere
};

/// The extents of rank's part with its ghost cells, also where they lie outside the array (dimensions that
/// are not periodic). A part without elements has no ghost cells. Pure. Throws ArgumentError as `Halo` does.
PARTITA_API Shape halo_shape(const Layout& layout, int rank, const HaloOptions& options);

/// The rank's part inside its extended part, of the same number of dimensions. Pure. Throws ArgumentError as
/// `Halo` does.
PARTITA_API View halo_interior(const View& extended, const Layout& layout, int rank,
                               const HaloOptions& options);

/// The parts of an array, each extended by ghost cells: plan once, execute many times. For every distribution
/// whose parts are boxes, even or not, empty ones among them; any width, also beyond the neighbour's part or
/// the whole of a periodic array. Corners are filled too. Ghost cells outside of the array are left alone.
/// Creation is collective; so are `execute`, `refresh` and `accumulate`, which allocate nothing, and `start`
/// and `finish`.
/// Not copyable, one thread at a time.
class PARTITA_API Halo {
 public:
  /// `operand` is that of the array, of at most 7 dimensions. Errors, the same on every rank: ArgumentError
  /// (a part that is not a box: names the rank; a partial array; widths that do not fit the dimensions or are
  /// negative), DisagreementError, MemoryError.
  Halo(const Context& context, const Operand& operand, const HaloOptions& options);
  ~Halo();
  Halo(Halo&&) noexcept;
  Halo& operator=(Halo&&) noexcept;

  Shape extended_shape() const;               ///< of this rank
  View interior(const View& extended) const;  ///< this rank's part inside the extended part

  /// The part of `source`, of the operand's layout, and its ghost cells into `extended`, memory of
  /// extended_shape(). Blocks until `extended` is complete and the source may be overwritten.
  void execute(const Array& source, const View& extended, Stream stream = {});
  void execute(const View& source, const View& extended, Stream stream = {});
  /// The ghost cells alone: the part is already in its place in `extended`.
  void refresh(const View& extended, Stream stream = {});

  /// The adjoint of `execute`, <execute(x), y> = <x, accumulate(y)>: `destination` becomes the part inside
  /// `extended`, and added to it what the ghost cells of all ranks hold of it (as PETSc's reverse scatter
  /// with ADD_VALUES): for what was deposited into ghost cells. Ghost cells are left as they are, and those
  /// outside of the array are ignored. Added in the order of the plan: the same bits in every execution.
  /// Blocks until `destination` is complete and `extended` may be overwritten. The first one of all plans and
  /// allocates together with all ranks. Errors as of `execute`, and ArgumentError on all ranks where the
  /// layout is replicated (the copies would be added up) or no sum is defined for the dtype.
  void accumulate(const View& extended, const Array& destination, Stream stream = {});
  void accumulate(const View& extended, const View& destination, Stream stream = {});
  /// The same in its place: the destination is the part inside `extended`; of `refresh`.
  void accumulate(const View& extended, Stream stream = {});

  /// `execute` in two halves, so that the interior is computed meanwhile. `start` copies what this rank gives
  /// and waits for nobody, but for the first one of all, which plans and allocates together with all ranks;
  /// `finish` waits for what the neighbours have given and puts it in its place. On the host nobody works in
  /// between but the peers: messages to other nodes travel as far as MPI carries them by itself.
  ///
  /// From `start` to `finish` the caller may read the source and the part inside `extended`, and must write
  /// neither, nor touch the ghost cells. Other calls on the context may come in between, other halos' too;
  /// what was started first is finished first. One that goes unfinished, by an exception, fails its context:
  /// the peers wait for it. Errors, on this rank: ArgumentError (a second start, or `execute` or `refresh`,
  /// before `finish`; `finish` without a start or out of turn), and as of `execute`.
  ///
  /// In device memory `start` puts the whole into `stream` (null: the context's own), where it may run beside
  /// what other streams do, and what the `stream` of `finish` is given afterwards comes behind it. Both may
  /// be captured. Between nodes messages that go through the host are waited for in `start`.
  void start(const Array& source, const View& extended, Stream stream = {});
  void start(const View& source, const View& extended, Stream stream = {});
  void start(const View& extended, Stream stream = {});  ///< of `refresh`
  void finish(Stream stream = {});
  /// `accumulate` in two halves, the second of which is `finish`. In between neither `extended` nor the
  /// destination may be written, nor the destination be read.
  void start_accumulate(const View& extended, const Array& destination, Stream stream = {});
  void start_accumulate(const View& extended, const View& destination, Stream stream = {});
  void start_accumulate(const View& extended, Stream stream = {});

  const Plan& plan() const;  ///< this rank's, of `execute`

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// One line: as `Halo::execute`, with the plan kept in the context.
PARTITA_API void halo_exchange(const Array& source, const View& extended, const HaloOptions& options,
                               Stream stream = {});

}  // namespace partita
