// Redistribution of arrays from any distribution to any other.
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

/// Algorithms that transfer regions between ranks; docs/algorithms.md describes their steps.
enum class RedistributeMethod : std::uint8_t {
  automatic,
  direct,    ///< the destination reads the source in place (source on the heap, same node)
  pushed,    ///< the source writes into the destination's memory (destination on the heap, same node); the
             ///< choice on devices, except for small transfers, which use packets there
  pulled,    ///< the kernel copies the source (ordinary memory on both sides, same node, long rows, if
             ///< ContextOptions::cross_memory allows it); devices of threads read it in place
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

/// Options of a redistribution.
struct RedistributeOptions {
  /// If set, `redistribute` and `redistribute_into` are stream-ordered (<partita/stream.hpp>), for arrays in
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

/// The plan of one rank. Both operands must have the same dtype and, after `options.axes`, the same global
/// shape, and be bound to `topology.ranks()` ranks; otherwise ArgumentError. Buffers: 0 source, 1
/// destination, 2 shared staging (if any), 3 private staging (if any). The plan's index space is the
/// source's.
PARTITA_API Plan plan_redistribute(const Operand& source, const Operand& destination,
                                   const Topology& topology, int rank,
                                   const RedistributeOptions& options = {});

/// Describes the plan of rank 0 and the totals of all ranks. Pure. Throws ArgumentError if the distribution
/// does not fit.
PARTITA_API std::string explain_redistribute(const Layout& source, const Distribution& destination,
                                             Dtype dtype = Dtype::f64,
                                             const RedistributeOptions& options = {});

// --- execution

/// One-line call: returns the array in another distribution, in new memory on the symmetric heap unless the
/// options say otherwise. Collective over the context of `source`; blocks until this rank's result is
/// complete and its source may be overwritten, unless `options.stream` is set. The plan is cached in the
/// context. A partial source is reduced; a partial or replicated destination is filled as its layout says.
/// Errors, the same on every rank: ArgumentError, DisagreementError, MemoryError, TimeoutError.
PARTITA_API Array redistribute(const Array& source, const Distribution& destination,
                               const RedistributeOptions& options = {},
                               SourcePlace where = SourcePlace::current());

/// As above, for a layout of the context's ranks, including layouts that assign nothing to some of them
/// (`Layout::embedded`).
PARTITA_API Array redistribute(const Array& source, const Layout& destination,
                               const RedistributeOptions& options = {},
                               SourcePlace where = SourcePlace::current());

/// As above, into a given array of the source's dtype and (permuted) shape. The two must not overlap
/// (ArgumentError).
PARTITA_API void redistribute_into(const Array& source, Array& destination,
                                   const RedistributeOptions& options = {});
/// Alias of `redistribute_into`.
inline void redistribute(const Array& source, Array& destination, const RedistributeOptions& options = {}) {
  redistribute_into(source, destination, options);
}

/// Plan once, execute many times. Creation is collective; `execute` is collective and blocking (unless a
/// stream is given) and allocates nothing; when it returns the caller may overwrite the source, read the
/// destination and free either. Not copyable. One object must not be used from two threads at once.
class PARTITA_API Redistribute {
 public:
  /// Errors, the same on every rank, as for `redistribute`; also ArgumentError if dtypes or shapes differ, or
  /// `options.stream` is set.
  Redistribute(const Context& context, const Operand& source, const Operand& destination,
               const RedistributeOptions& options = {});
  /// For these arrays, which are bound, as by `reset`. ArgumentError if they belong to another context.
  Redistribute(const Context& context, const Array& source, Array& destination,
               const RedistributeOptions& options = {})
      : Redistribute(context, detail::operand_in(context, source, "Redistribute"),
                     detail::operand_in(context, destination, "Redistribute"), options) {
    reset(source, destination);
  }
  ~Redistribute();
  Redistribute(Redistribute&&) noexcept;
  Redistribute& operator=(Redistribute&&) noexcept;

  /// Binds arrays for execute() without arrays. They must match the operands of the plan (layout, dtype,
  /// order; an array on the heap also matches ordinary memory). Local; the arrays must outlive their use.
  void reset(const Array& source, Array& destination);
  /// Executes the plan on the bound or given arrays. ArgumentError if no arrays are bound, or if they do not
  /// match the plan.
  ///
  /// With a stream, for arrays in device memory: enqueues the work on `stream` (`Stream{}`: the context's
  /// own) and returns. The contract then holds in stream order: later work on the stream may overwrite the
  /// source, read the destination or free either. `Context::synchronize` waits, and throws errors of the
  /// execution. Plans with messages wait for them here. UnsupportedError: an array in host memory.
  ///
  /// On a stream that is being captured the work is added to its graph; nothing is executed now. The graph
  /// may be launched many times, by all ranks and in the same order relative to their other executions. It
  /// accesses the current memory of the arrays, which must outlive it (this object need not), and it must not
  /// be launched after the context is closed or destroyed. `Context::synchronize(stream)` waits for a launch
  /// on `stream` within the deadline. UnsupportedError, the same on every rank: a plan with messages (between
  /// nodes), which cannot be captured.
  void execute(std::optional<Stream> stream = {});
  void execute(const Array& source, Array& destination, std::optional<Stream> stream = {});

  const Plan& plan() const;  ///< the plan of this rank
  /// The plan as text. Local.
  std::string explain(const ExplainOptions& options = {}) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace partita
