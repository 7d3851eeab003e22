// Contexts: a group of ranks with its communication, memory, device and plan cache.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <partita/export.hpp>
#include <partita/language.hpp>
#include <partita/names.hpp>
#include <partita/stream.hpp>
#include <partita/topology.hpp>
#include <span>
#include <string>

namespace partita {

struct ContextState;
struct Machine;

/// The processor of a context.
struct Device {
  /// Kind of device; `any`: a GPU if the process has one, otherwise the CPU.
  enum class Kind : std::uint8_t { any, cpu, cuda } kind = Kind::any;  ///< requested or actual kind
  int index = -1;                                  ///< index of the GPU; -1: by the rank's number in its node
  static Device any() { return {}; }               ///< a GPU if this process has one, otherwise the CPU
  static Device cpu() { return {Kind::cpu, -1}; }  ///< no GPU
  static Device cuda(int index = -1) { return {Kind::cuda, index}; }  ///< a GPU, or UnsupportedError
};

/// The ranks of a context. Default: all processes of MPI_COMM_WORLD, or this process alone if no launcher
/// started it and MPI is not initialised. Made by `communicator(MPI_Comm)` in <partita/mpi.hpp> or by
/// `ThreadGroup::member`.
struct PARTITA_API Communicator {
  std::array<unsigned char, 16> handle{};  ///< the bytes of an MPI_Comm
  int handle_bytes = 0;                    ///< 0: no MPI communicator
  std::string implementation;              ///< "Open MPI 4", "MPICH 4": the MPI of the caller's mpi.h
  std::shared_ptr<void> thread_member;     ///< a member of a ThreadGroup
};

/// Minimum severity of log messages.
enum class LogLevel : std::uint8_t { trace, debug, info, warn, error, off };
template <>
struct OptionWords<LogLevel> {
  static constexpr std::string_view what = "log level";
  static constexpr std::string_view words[]{"trace", "debug", "info", "warn", "error", "off"};
};

/// Whether ranks of a node read each other's ordinary memory through the kernel (cross-memory attach,
/// process_vm_readv): one copy in place of two through shared buffers.
enum class CrossMemory : std::uint8_t {
  automatic,  ///< if the kernel allows it between all ranks of a node, which is tested
  off,        ///< never
  allow,      ///< as automatic; if Yama forbids it, this process allows all processes of its user to read
              ///< its memory until it exits (PR_SET_PTRACER_ANY)
};
template <>
struct OptionWords<CrossMemory> {
  static constexpr std::string_view what = "cross_memory";
  static constexpr std::string_view words[]{"automatic", "off", "allow"};
};

/// Memory of the symmetric heap of devices.
enum class DeviceHeap : std::uint8_t {
  automatic,  ///< the driver's; NVSHMEM's if peers cannot map that; otherwise messages are used
  driver,     ///< the driver's; messages are used if peers cannot map it
  nvshmem,    ///< NVSHMEM's; an error if it is not available
};
template <>
struct OptionWords<DeviceHeap> {
  static constexpr std::string_view what = "device_heap";
  static constexpr std::string_view words[]{"automatic", "driver", "nvshmem"};
};

/// Implementation of collectives on devices.
enum class DeviceCollectives : std::uint8_t {
  automatic,  ///< the faster one
  own,        ///< Partita's
  library,    ///< the vendor's library (NCCL) wherever it supports the call
};
template <>
struct OptionWords<DeviceCollectives> {
  static constexpr std::string_view what = "device_collectives";
  static constexpr std::string_view words[]{"automatic", "own", "library"};
};

/// Path of messages between devices of different nodes.
enum class DeviceMessages : std::uint8_t {
  automatic,  ///< the vendor's library (NCCL) on the stream if available; otherwise direct if the transport
              ///< accepts device memory; otherwise staged
  staged,     ///< packed into pinned host memory
  direct,     ///< packed in device memory, whose addresses are passed to the transport
};
template <>
struct OptionWords<DeviceMessages> {
  static constexpr std::string_view what = "device_messages";
  static constexpr std::string_view words[]{"automatic", "staged", "direct"};
};

/// How devices copy strided memory.
enum class CopyWay : std::uint8_t {
  automatic,
  engine,  ///< copy engine, one two-dimensional copy at a time: for long rows
  kernel,  ///< kernel with the widest accesses that both sides allow: short rows, few bytes, transpositions
};
template <>
struct OptionWords<CopyWay> {
  static constexpr std::string_view what = "copy_way";
  static constexpr std::string_view words[]{"automatic", "engine", "kernel"};
};

/// Options of a context. Environment variables override all members except the communicator, the device and
/// `on_wait`: PARTITA_ followed by the name in capitals (`report_settings` in <partita/settings.hpp> lists
/// them).
struct ContextOptions {
  Communicator communicator = {};
  /// Kinds must be the same on all ranks. With a GPU, new arrays are allocated in its memory by default.
  Device device = Device::cpu();
  /// Longest time without progress that a blocking wait may take. In the environment: seconds.
  std::chrono::milliseconds deadline{std::chrono::minutes(5)};
  /// Assume this number of ranks per node; 0: the actual one. The same on all ranks.
  int ranks_per_node = 0;
  /// Threads that BLAS and FFT may use in this rank; 0: the available cores divided by the ranks on
  /// them. Set while the context exists, restored when it ends.
  int threads = 0;
  /// The machine whose parameters determine the choice of algorithms: a shipped name ("cluster") or the path
  /// of a description, see `Machine::find`; empty: "laptop", and "node-8-gpu" on GPUs. Read
  /// once; the parameters must be the same on all ranks.
  std::string machine = {};
  /// Called on the rank's own thread, about every 10 ms, while a call of the context waits for other ranks or
  /// for its device, for example to check for Ctrl-C or to release an interpreter's lock. Waits of some
  /// microseconds do not call it, nor do destructors. It must not use the context (ArgumentError) and be
  /// short, because other ranks wait meanwhile. If it throws, the context has failed, also for the other
  /// ranks, and the exception leaves the call that waits. Sub-groups inherit it; in a ThreadGroup
  /// several threads call it.
  std::function<void()> on_wait = {};
  LogLevel log = LogLevel::warn;  ///< minimum level of log messages, on stderr
  std::int64_t memory_limit = 0;  ///< maximum size of this rank's symmetric heap in bytes; 0: unlimited
  /// Number of plans of one-line calls (`redistribute`, `matmul`, collectives, ...) that the context keeps
  /// with their scratch: the least recently used is freed first. The same on all ranks, at least 1. Plans
  /// captured into CUDA graphs are kept in addition, as long as the graphs.
  int plan_cache_size = 64;
  /// Total scratch of the kept plans in bytes, on the rank where it is largest; the plan used
  /// last is kept regardless of its size. 0: eight times the largest plan, at least 256 MiB. The same on all
  /// ranks. If an allocation fails for lack of memory, the least recently used plans are freed and it is
  /// retried.
  std::int64_t plan_cache_bytes = 0;
  CrossMemory cross_memory = CrossMemory::automatic;  ///< the same on all ranks
  // The following options concern devices only, and are the same on all ranks.
  DeviceHeap device_heap = DeviceHeap::automatic;
  DeviceCollectives device_collectives = DeviceCollectives::automatic;
  DeviceMessages device_messages = DeviceMessages::automatic;
  CopyWay copy_way = CopyWay::automatic;
  /// Streams that large plans may use in addition to the context's own, 0 to 7; the last is for local copies
  /// on the device.
  int device_lanes = 1;
};

/// A group of ranks with its heap, plan cache, deadlines and logger. Several may exist at once. A handle:
/// copies refer to the same context, which exists as long as any of them, or any array made in it. Only one
/// thread at a time may use a context and its copies; different contexts may be used by different
/// threads.
///
/// After an expired deadline or a lost peer the context has *failed*: every call on it throws
/// FailedContextError at once, memory with transfers in flight is kept until the process exits, and no
/// collective function is called again. For a child made by fork(), its parent's contexts have failed.
///
/// Arrays made in a context keep what they need of it alive: both may be destroyed in any order.
class PARTITA_API Context {
 public:
  explicit Context(std::shared_ptr<ContextState> state);  ///< for the library itself
  /// Releases local resources only, does not wait, never throws. The last handle of a context that was not
  /// closed notifies the others: ranks that wait for this one get a LostPeerError within a second. In a
  /// forked child it does nothing.
  ~Context();
  Context(Context&&) noexcept;
  Context& operator=(Context&&) noexcept;
  Context(const Context&);
  Context& operator=(const Context&);
  /// Whether both are the same context.
  friend bool operator==(const Context& a, const Context& b) { return a.state_ == b.state_; }

  int rank() const;                  ///< this one: 0, 1, ... below size()
  int size() const;                  ///< number of ranks
  const Topology& topology() const;  ///< which ranks share a node
  int threads() const;               ///< that BLAS and FFT may use in this rank
  /// The machine whose parameters determine the choice of algorithms; see <partita/machine.hpp>. Exists as
  /// long as the context.
  const Machine& machine() const;

  /// A separate context of the ranks `ranks` of this context, in that order. Collective over those ranks
  /// only, blocking; the others do not call it. Errors, the same on every caller: ArgumentError (a rank named
  /// twice or out of range, the caller not in the list), DisagreementError.
  Context subgroup(std::span<const int> ranks) const;
  Context subgroup(std::initializer_list<int> ranks) const;
  /// A separate context of the ranks that pass the same `colour`, ordered by `key` and then by their
  /// ranks here: `context.split(context.rank() % 2)`. Empty for a rank whose colour is negative. Collective
  /// over all ranks, blocking.
  std::optional<Context> split(int colour, int key = 0) const;

  /// Returns when all ranks have called it. Collective, blocking.
  void barrier() const;

  /// Where the context computes: the CPU, or the GPU with its index.
  Device device() const;
  /// The stream on which the context enqueues its work on the device; none on the CPU. Owned by the context.
  Stream stream() const;
  /// Waits until the device has done all work of this rank in this context, and all work enqueued
  /// on `stream` before (such as a graph of captured executions), if one is given. Local, blocking within the
  /// deadline; returns at once on the CPU. Throws pending errors of the device, TimeoutError,
  /// DisagreementError, LostPeerError: then the context has failed, and results are undefined.
  void synchronize(std::optional<Stream> stream = {}) const;

  /// Releases heap blocks whose arrays have been destroyed on all ranks. Collective, blocking.
  void collect();

  /// Collective end: releases all blocks that no rank refers to, reports (as the returned text, one line per
  /// block, empty if none; and to the log, if `logged`) blocks that were never freed and where they were
  /// allocated, and marks the context as closed. Arrays that still exist can be read locally.
  std::string close(bool logged = true);

  /// Marks the context as failed because of `why`, one line: for a rank whose program cannot continue while
  /// the context is still in use. Ranks that wait for this one get a LostPeerError with that text. In
  /// a closed context it does nothing. Local.
  void fail(const std::string& why) const noexcept;
  bool failed() const noexcept;  ///< as far as this rank knows. Local
  std::string failure() const;   ///< the first failure's text; empty: none

  const std::shared_ptr<ContextState>& state() const { return state_; }  ///< for the library itself

 private:
  std::shared_ptr<ContextState> state_;
};

/// Makes a context. Collective over the communicator, blocking, within the deadline. Without a communicator
/// its ranks are those that `partita run --threads` has connected, or those of MPI_COMM_WORLD under an MPI
/// launcher or if MPI is initialised, or this process alone. <partita/mpi_report.hpp> reports the MPI, which
/// is opened here. Initialises MPI (with MPI_THREAD_MULTIPLE) if necessary; then MPI is finalised at
/// process exit, unless a context failed. Errors, the same on every rank: ArgumentError (a
/// communicator of another MPI than the process's, an invalid environment variable, an unknown machine),
/// FileError (a machine that cannot be read), DisagreementError (options that differ), UnsupportedError (a
/// device that this build or machine does not have; an MPI without a module), TimeoutError or
/// LostPeerError (ranks that did not arrive).
PARTITA_API Context initialize(const ContextOptions& options = {});

/// Collective: calls `body` on rank 0 while the others wait, within the deadline: output appears once, and an
/// exception of rank 0 is thrown by every rank (others than Partita's as an Error with their text). Calls in
/// `body` that would wait for ranks that wait here (of the context, of one split from it, or of its
/// parent) throw ArgumentError before they do anything; local calls, and contexts of rank 0 alone, are
/// allowed. A context of another `initialize` is not recognised: it waits for its deadline. Blocking.
PARTITA_API void rank_zero(const Context& context, const std::function<void()>& body);

/// All ranks as threads of this process: no MPI needed. A ThreadGroup must outlive its members' contexts'
/// creation, not the contexts.
class PARTITA_API ThreadGroup {
 public:
  explicit ThreadGroup(int ranks);  ///< throws ArgumentError below 1
  /// The communicator of one rank; each is to be used by a separate thread.
  Communicator member(int rank) const;
  /// Starts one thread per rank, makes a context in each, calls `body`, and waits for them: blocking. The
  /// first exception of the lowest rank that threw is rethrown here.
  static void run(int ranks, const std::function<void(Context&)>& body, const ContextOptions& options = {});

 private:
  std::shared_ptr<void> shared_;
  int ranks_;
};

/// Through which MPI this process talks to others, or would now, and why: "Open MPI v4.1.4, ...: the process
/// has loaded it", "none: ...". Local, thread-safe; opens nothing.
PARTITA_API std::string mpi_description();

}  // namespace partita
