// Redistribution of any distribution into any other.
#pragma once

#include <memory>
#include <optional>
#include <partita/array.hpp>
#include <partita/names.hpp>
#include <partita/operand.hpp>
#include <partita/plan.hpp>
#include <partita/stream.hpp>
#include <string>
#include <vector>

namespace partita {

/// How ranks transfer regions; docs/algorithms.md has the steps.
enum class RedistributeMethod : std::uint8_t {
  automatic,
  direct,    ///< the destination reads the source in place (source on the heap, same node)
  pushed,    ///< the source writes into the destination's memory (destination on the heap, same node); the
             ///< choice on devices, except for small transfers, which use packets there
  pulled,    ///< the kernel copies the source for the destination (ordinary memory on both sides,
             ///< same node, long rows, and the kernel allows it: ContextOptions::cross_memory)
  staged,    ///< through a ring of small shared buffers that stay in cache (ordinary memory, same node)
  messages,  ///< packed non-blocking messages in bounded staging, also inside a node
  grouped,   ///< messages in rounds, each one group of sends and receives, for transports that enqueue a
             ///< group on a stream (NCCL); between all ranks, also inside a node. Used only on
             ///< request
};
template <>
struct OptionWords<RedistributeMethod> {
  static constexpr std::string_view what = "method of a redistribution";
  static constexpr std::string_view words[]{"automatic", "direct",   "pushed", "pulled",
                                            "staged",    "messages", "grouped"};
};

/// Behaviour first, performance after.
struct RedistributeOptions {
  /// If set, `redistribute` and `redistribute_into` are stream-ordered (<partita/stream.hpp>), of arrays in
  /// device memory, as `Redistribute::execute` with a stream.
  std::optional<Stream> stream = {};
  /// Dimension i of the result is dimension axes[i] of the source; empty: unchanged.
  std::vector<int> axes = {};
  Order order = Order::row_major;         ///< of a result that `redistribute` allocates
  Residency residency = Residency::heap;  ///< of a result that `redistribute` allocates
  std::optional<MemorySpace> space = {};  ///< of a result that `redistribute` allocates; unset: the source's
  RedistributeMethod method =
      RedistributeMethod::automatic;  ///< for peers that support it; others use another method
  std::int64_t staging_bytes = 0;     ///< bound on the scratch of one rank; 0: chosen by the planner
};

// --- planning: pure functions, for any rank of any number of ranks, without MPI

/// Both operands must have the same dtype and, after `options.axes`, the same global shape, and be bound to
/// `topology.ranks()` ranks; otherwise ArgumentError. Buffers: 0 source, 1 destination, 2 shared staging (if
/// any), 3 private staging (if any). The plan's index space is the source's.
PARTITA_API Plan plan_redistribute(const Operand& source, const Operand& destination,
                                   const Topology& topology, int rank,
                                   const RedistributeOptions& options = {});

/// What would move, as text, seen from rank 0 with the totals of all ranks. Throws ArgumentError where the
/// distribution does not fit.
PARTITA_API std::string explain_redistribute(const Layout& source, const Distribution& destination,
                                             Dtype dtype = Dtype::f64,
                                             const RedistributeOptions& options = {});

// --- carrying out

/// One line: the array in another distribution, in new memory on the symmetric heap. Collective over the
/// context of `source`; blocks until this rank's result is complete and its source may be overwritten, unless
/// `options.stream` is set. The plan is cached in the context. A partial source is reduced; a partial or
/// replicated destination is filled as its layout says. Errors: the same exception on every rank
/// (ArgumentError, DisagreementError, MemoryError, TimeoutError, ...).
PARTITA_API Array redistribute(const Array& source, const Distribution& destination,
                               const RedistributeOptions& options = {},
                               SourcePlace where = SourcePlace::current());

/// The same for a layout of the context's ranks, also one that gives nothing to some of them
/// (`Layout::embedded`).
PARTITA_API Array redistribute(const Array& source, const Layout& destination,
                               const RedistributeOptions& options = {},
                               SourcePlace where = SourcePlace::current());

/// The same into memory that the caller gives; `destination` must have the source's dtype and (permuted)
/// shape. The two must not overlap (ArgumentError).
PARTITA_API void redistribute_into(const Array& source, Array& destination,
                                   const RedistributeOptions& options = {});
/// By another name.
inline void redistribute(const Array& source, Array& destination, const RedistributeOptions& options = {}) {
  redistribute_into(source, destination, options);
}

/// Plan once, execute many times. Creation is collective; execute is collective and blocking (unless a stream
/// is given), allocates nothing, and when it returns the caller may overwrite the source, read the
/// destination and free either. Not copyable. One object must not be used from two threads at once.
class PARTITA_API Redistribute {
 public:
  /// Errors, the same on every rank, as of `redistribute`; also ArgumentError where dtypes or shapes differ,
  /// or `options.stream` is set.
  Redistribute(const Context& context, const Operand& source, const Operand& destination,
               const RedistributeOptions& options = {});
  ~Redistribute();
  Redistribute(Redistribute&&) noexcept;
  Redistribute& operator=(Redistribute&&) noexcept;

  /// Binds operands that execute() without arguments uses. The arrays must match the operands of the plan
  /// (layout, dtype, order; an array on the heap also serves where the plan expects ordinary memory).
  /// Local; the arrays must outlive their use.
  void reset(const Array& source, Array& destination);
  /// Of the arrays that are bound, or of these. ArgumentError where no arrays are bound, or they are not
  /// those of the plan.
  ///
  /// With a stream, for arrays in device memory: enqueues the work on `stream` (`Stream{}`: the context's
  /// own) and returns. The contract then holds in stream order: what the stream does next may overwrite the
  /// source, read the destination or free either. `Context::synchronize` waits, and throws what went wrong.
  /// Plans with messages wait for them here. UnsupportedError: an array in host memory.
  ///
  /// A stream that is being captured gets the work into its graph; nothing is done now. The graph may be
  /// started many times, by all ranks alike and in the same order as their other executions, and reads and
  /// writes the memory that the arrays have now: they must outlive it (this object need not), and it must not
  /// be started once the context is closed or gone. The stream in which it is started orders it;
  /// `Context::synchronize(stream)` waits for it within the deadline. UnsupportedError, the same on every
  /// rank: a plan with messages (between nodes), which cannot be captured.
  void execute(std::optional<Stream> stream = {});
  void execute(const Array& source, Array& destination, std::optional<Stream> stream = {});

  const Plan& plan() const;  ///< this rank's
  /// That in words. Local.
  std::string explain(const ExplainOptions& options = {}) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace partita
