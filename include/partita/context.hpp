// The ranks that work together, and everything that an operation needs beside its arrays.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <partita/export.hpp>
#include <partita/language.hpp>
#include <partita/stream.hpp>
#include <partita/topology.hpp>
#include <span>
#include <string>

namespace partita {

struct ContextState;
struct Machine;

/// Where a context computes.
struct Device {
  /// Which sort of device; `any`: a GPU where there is one.
  enum class Kind : std::uint8_t { any, cpu, cuda } kind = Kind::any;  ///< which sort is wanted, or is
  int index = -1;                                  ///< of a GPU; -1: chosen by the rank's place in its node
  static Device any() { return {}; }               ///< a GPU if this process has one, else the CPU
  static Device cpu() { return {Kind::cpu, -1}; }  ///< the host alone
  static Device cuda(int index = -1) { return {Kind::cuda, index}; }  ///< a GPU, else UnsupportedError
};

/// Whom a context is made of. Default: all processes of MPI_COMM_WORLD, or this process alone when neither a
/// launcher started it nor MPI runs in it. Made by
/// `communicator(MPI_Comm)` in <partita/mpi.hpp> or by `ThreadGroup::member`.
struct PARTITA_API Communicator {
  std::array<unsigned char, 16> handle{};  ///< the bytes of an MPI_Comm
  int handle_bytes = 0;                    ///< 0: none given
  std::string implementation;  ///< "Open MPI 4", "MPICH 4": of the caller's mpi.h, or as its MPI calls itself
  std::shared_ptr<void> thread_member;  ///< a place in a ThreadGroup
};

/// What is logged: this, and what is graver.
enum class LogLevel : std::uint8_t { trace, debug, info, warn, error, off };

/// Whether ranks of a node read each other's ordinary memory through the kernel (cross-memory attach:
/// process_vm_readv), one copy in place of two through shared buffers.
enum class CrossMemory : std::uint8_t {
  automatic,  ///< where the kernel lets every rank of a node read every other one: found out by trying
  off,        ///< never
  allow,      ///< as automatic, and where Yama would forbid it, this process lets any other of its user read
              ///< its memory, from now until it ends (PR_SET_PTRACER_ANY)
};

/// What the symmetric heap of devices lies in.
enum class DeviceHeap : std::uint8_t {
  automatic,  ///< memory of the driver; NVSHMEM's where peers cannot map that; else messages
  driver,     ///< memory of the driver; else messages
  nvshmem,    ///< NVSHMEM's memory; else an error
};

/// Who carries out collectives on devices.
enum class DeviceCollectives : std::uint8_t {
  automatic,  ///< whichever is faster
  own,        ///< Partita
  library,    ///< the vendor's library (NCCL) wherever it can
};

/// How messages of device memory go.
enum class DeviceMessages : std::uint8_t {
  automatic,  ///< by the vendor's library (NCCL) in the stream where there is one; else direct where the
              ///< transport says that it takes device memory; else staged
  staged,     ///< packed into pinned host memory
  direct,     ///< packed in the device's memory, whose addresses the transport gets
};

/// How devices copy.
enum class CopyWay : std::uint8_t {
  automatic,
  engine,  ///< the copy engine, one two-dimensional copy at a time: long rows
  kernel,  ///< a kernel with accesses as wide as both sides allow: short rows, few bytes, transpositions
};

/// Behaviour first, performance after. But for the communicator, the device and `on_wait` the environment may
/// set each of these, too, and wins: PARTITA_ and the name in capitals (`report_settings` in
/// <partita/settings.hpp> lists them).
struct ContextOptions {
  Communicator communicator = {};
  /// Kinds must be the same on all ranks. On a GPU, new arrays lie in its memory unless they say otherwise.
  Device device = Device::cpu();
  /// Longest time without progress that a blocking wait allows. In the environment: seconds.
  std::chrono::milliseconds deadline{std::chrono::minutes(5)};
  /// Treat the ranks as if so many sat on a node; 0: as they are. The same on all ranks.
  int ranks_per_node = 0;
  /// Threads that BLAS and FFT may use in this rank; 0: the cores that the rank may use over the ranks on
  /// them. Set while the context lives, restored when it goes.
  int threads = 0;
  /// The machine whose figures operations choose their algorithms by: a shipped name ("cluster") or the path
  /// of a description, see `Machine::find`; empty: "laptop", and "node-8-gpu" where it computes on GPUs. Read
  /// once, and the figures must be the same on all ranks.
  std::string machine = {};
  /// Called on the rank's own thread, every 10 ms or so, while a call of the context waits for other ranks or
  /// for its device: so that a program may look for Ctrl-C, or hand on an interpreter's lock. Waits of some
  /// microseconds do not call it, nor do destructors. It must not use the context (ArgumentError), and be
  /// short, for other ranks wait meanwhile. It may throw: then the context has failed, for the other ranks
  /// too, and what was thrown comes out of the call that waits. Sub-groups take it over; in a ThreadGroup
  /// several threads call it.
  std::function<void()> on_wait = {};
  LogLevel log = LogLevel::warn;  ///< what is logged, on stderr
  std::int64_t memory_limit = 0;  ///< bytes that this rank's symmetric heap may have; 0: unlimited
  /// How many plans of one-line calls (`redistribute`, `matmul`, collectives, ...) the context keeps with
  /// their scratch: the least recently used goes first. The same on all ranks, at least 1. What has been
  /// captured into CUDA graphs stays beside these, as long as the graphs.
  int plan_cache_size = 64;
  /// Bytes of scratch that the kept plans may have in all, of the rank where they have most; the one used
  /// last stays however large it is. 0: eight times the largest plan, at least 256 MiB. The same on all
  /// ranks. Where an allocation fails for lack of memory, the least recently used plans are freed and it is
  /// tried again.
  std::int64_t plan_cache_bytes = 0;
  CrossMemory cross_memory = CrossMemory::automatic;  ///< the same on all ranks
  // What follows matters on devices only, and is the same on all ranks.
  DeviceHeap device_heap = DeviceHeap::automatic;
  DeviceCollectives device_collectives = DeviceCollectives::automatic;
  DeviceMessages device_messages = DeviceMessages::automatic;
  CopyWay copy_way = CopyWay::automatic;
  /// Streams that large plans may use beside the context's own, 0 to 7; the last is for what stays on the
  /// device.
  int device_lanes = 1;
};

/// A group of ranks with its heap, plan cache, deadlines and logger. Several may live side by side. A handle:
/// copies are the same context, which lives as long as any of them, or any array that was made in it. A
/// context with all its copies belongs to one thread at a time; different contexts may be used by different
/// threads.
///
/// After a passed deadline or a lost peer the context is *failed*: every call on it throws FailedContextError
/// at once, memory with transfers in flight is kept until the process exits, and nothing collective is called
/// again. For a child that fork() has made, its parent's contexts have failed.
///
/// Arrays made in a context keep what they need of it alive, so contexts and arrays may go in any order.
class PARTITA_API Context {
 public:
  explicit Context(std::shared_ptr<ContextState> state);  ///< for the library itself
  /// Releases only what is local, waits for nobody, never throws. The last of a context that was not closed
  /// says so: ranks that wait for this one get a LostPeerError within a second. In a forked child it does
  /// nothing.
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
  /// Whose figures operations choose their algorithms by; see <partita/machine.hpp>. Lives as long as the
  /// context.
  const Machine& machine() const;

  /// The ranks `ranks` of this context (in that order) as a context of its own. Collective over those ranks
  /// only, blocking; the others do not call. Errors, the same on every caller: ArgumentError (a rank named
  /// twice or out of range, the caller not in the list), DisagreementError.
  Context subgroup(std::span<const int> ranks) const;
  Context subgroup(std::initializer_list<int> ranks) const;
  /// The ranks that give the same `colour` as a context of their own, ordered by `key` and then by their
  /// ranks here: `context.split(context.rank() % 2)`. Nothing for a rank whose colour is negative. Collective
  /// over all ranks, blocking.
  std::optional<Context> split(int colour, int key = 0) const;

  /// Returns when all ranks have called it. Collective, blocking.
  void barrier() const;

  /// Where the context computes: the CPU, or the GPU with its index.
  Device device() const;
  /// The stream into which the context puts its work on the device; none on the CPU. Owned by the context.
  Stream stream() const;
  /// Waits until the device has done all that this rank gave it through this context, and all that was put
  /// into `stream` before (a graph of captured executions, say), if one is given. Local, blocking within the
  /// deadline; nothing to do on the CPU. Throws what went wrong on the device, TimeoutError,
  /// DisagreementError, LostPeerError: then the context has failed, and results are undefined from there.
  void synchronize(Stream stream = {}) const;

  /// Releases heap blocks whose arrays are gone on all ranks. Collective, blocking.
  void collect();

  /// Collective end: releases all blocks that are dead everywhere, reports (as the returned text, one line a
  /// block; empty: none; and by the log, if `logged`) blocks that were never freed and where they were
  /// allocated, and marks the context closed. Arrays that still live stay readable locally.
  std::string close(bool logged = true);

  /// Marks the context failed because of `why`, one line: for a rank whose program can go on no more, while
  /// the context is still held somewhere. Ranks that wait for this one get a LostPeerError with that text. In
  /// a closed context it does nothing. Local.
  void fail(const std::string& why) const noexcept;
  bool failed() const noexcept;  ///< by this rank's own knowledge. Local; asks nobody
  std::string failure() const;   ///< the first failure's text; empty: none

  const std::shared_ptr<ContextState>& state() const { return state_; }  ///< for the library itself

 private:
  std::shared_ptr<ContextState> state_;
};

/// Starts a context. Collective over the communicator, blocking, within the deadline. Where no communicator
/// is given, its ranks are those that `partita run --threads` has connected, or MPI_COMM_WORLD's under an MPI
/// launcher or where MPI runs, or this process alone. Which MPI that is, <partita/mpi_report.hpp> says; it is
/// opened here. Initialises MPI (asking for MPI_THREAD_MULTIPLE) when nobody has; then MPI is finalised at
/// process exit, and only when no context failed. Errors, the same on every rank: ArgumentError (a
/// communicator of another MPI than the process's, a bad environment variable, an unknown or wrong machine),
/// FileError (a machine that cannot be read), DisagreementError (options that differ), UnsupportedError (a
/// device that this build or machine does not have; an MPI that it has no module for), TimeoutError or
/// LostPeerError (ranks that did not come).
PARTITA_API Context initialize(const ContextOptions& options = {});

/// Calls `body` on rank 0 while the others wait, within the deadline: output appears once, and what rank 0
/// throws is thrown by every rank (another exception than Partita's as an Error with its text). What in
/// `body` would wait for ranks that wait here (a call of the context, of one split from it, or that it was
/// split from) throws ArgumentError before it does anything; local calls, and contexts of rank 0 alone, are
/// fine. One of another `initialize` is not known here: it waits for its deadline. Collective, blocking.
PARTITA_API void rank_zero(const Context& context, const std::function<void()>& body);

/// All ranks as threads of this process: no MPI needed. A ThreadGroup must outlive its members' contexts'
/// creation, not the contexts.
class PARTITA_API ThreadGroup {
 public:
  explicit ThreadGroup(int ranks);  ///< throws ArgumentError below 1
  /// The communicator of one rank; each is to be used by a thread of its own.
  Communicator member(int rank) const;
  /// Starts one thread a rank, initialises a context in each, calls `body`, and joins: blocking. The first
  /// exception of the lowest rank that threw is thrown again here.
  static void run(int ranks, const std::function<void(Context&)>& body, const ContextOptions& options = {});

 private:
  std::shared_ptr<void> shared_;
  int ranks_;
};

/// Through which MPI this process talks to others, or would now, and why: "Open MPI v4.1.4, ...: the process
/// has loaded it", "none: ...". Local, thread-safe; opens nothing.
PARTITA_API std::string mpi_description();

}  // namespace partita
