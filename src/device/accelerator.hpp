// A device as one context uses it: memory, streams, and the few things that a stream can be told to do.
#pragma once

#include <cstdint>
#include <memory>
#include <partita/context.hpp>
#include <partita/device_report.hpp>
#include <partita/dtype.hpp>
#include <partita/reduction.hpp>
#include <partita/stream.hpp>
#include <partita/topology.hpp>
#include <span>
#include <string>

#include "device/device_group.hpp"
#include "device/packet_exchange.hpp"
#include "kernels/host/copy.hpp"
#include "memory/node_memory.hpp"

namespace partita {

struct DeviceRuntime;
struct Runtime;

/// A strided copy between two places. `nest` belongs to somebody else.
struct PlacedCopy {
  const StridedCopy* nest = nullptr;
  const void* from = nullptr;
  void* to = nullptr;
  bool inside = false;  // this device's own memory on both sides
};

/// What a stream does with a flag.
struct FlagOperation {
  enum class Kind : std::uint8_t {
    write,  ///< what the stream did before is visible to whoever sees the value
    wait,   ///< until the flag is `value` or more
  } kind = Kind::write;
  std::uint64_t* flag = nullptr;
  std::uint64_t value = 0;
  /// Where the device itself counts, because a graph may repeat the operation: `value` is added to this
  /// number in its memory, and the sum is written or waited for. No two streams at once use the same number.
  std::uint64_t* count = nullptr;
  /// Of a wait: a number in this device's memory which ends it once it is not 0. The same one in all
  /// operations that are given together.
  const std::uint64_t* given_up = nullptr;
};

/// Several places that become one: the first `copied` parts are copied, the others joined with what is there.
struct PlacedJoin {
  std::span<const PlacedCopy> parts;
  std::size_t copied = 1;
  Dtype dtype = Dtype::f64;
  Reduction reduction = Reduction::sum;
};

/// A small plan at once: what peers will read is packed, grants are given and waited for; copies and joins,
/// which have no order among each other; and what closes them.
struct PeerExchange {
  std::span<const PlacedCopy> packs;
  std::span<const FlagOperation> early_signals;
  std::span<const FlagOperation> early_waits;
  std::span<const PlacedCopy> copies;
  std::span<const PlacedJoin> joins;
  std::span<const FlagOperation> late_signals;
  std::span<const FlagOperation> late_waits;
};

/// A point that a stream comes past.
class Moment {
 public:
  virtual ~Moment() = default;
  /// When that was, in seconds of the host's steady clock. Only once the stream has come past.
  virtual double seconds() const = 0;
};

/// One device (a GPU), driven by one thread at a time: the one that called `use` last. Another one may look
/// on: after `use` it may call `passed`, `idle`, `write_past` and `read_past`. Nothing here breaks off a
/// capture of streams, by whomever, but what is given to the captured stream itself. What takes a stream
/// starts and does not wait; work of one stream runs in order. Errors of the device are Errors here, at this
/// call or, for work that had only been started, at a later one.
///
/// The seam between Partita and a vendor's runtime: `cuda_accelerator.cpp` is CUDA; the tests bring one whose
/// device memory is host memory and whose streams are threads.
class Accelerator {
 public:
  virtual ~Accelerator() = default;

  virtual int index() const = 0;
  virtual std::string name() const = 0;
  /// The same for the same device, whatever number a process knows it by; another one for each of a host.
  virtual std::string identity() const { return std::to_string(index()); }
  /// The calling thread drives this device from here on. Cheap.
  virtual void use() = 0;
  /// So many ranks of the context use this device (1 until said): kernels that wait for one another must all
  /// find room on it.
  virtual void share(int ranks) { (void)ranks; }

  // --- memory. Release waits for nothing that a peer still has to do; never throws.
  virtual void* allocate(std::int64_t bytes) = 0;  ///< throws MemoryError
  virtual void release(void* memory) noexcept = 0;
  /// Host memory that the device reads and writes in place.
  virtual void* allocate_pinned(std::int64_t bytes) = 0;
  virtual void release_pinned(void* memory) noexcept = 0;
  /// `allocate` gives host memory: any transport takes its addresses.
  virtual bool is_host_memory() const { return false; }
  /// Backing of the symmetric heap in this device's memory, for the ranks that `topology` puts on one node.
  /// Collective over the context's ranks; Errors are the same on every rank.
  virtual std::unique_ptr<NodeMemory> share_memory(Runtime& state, const Topology& topology) = 0;
  /// The same in the memory of a vendor's library (NVSHMEM), which is started for it. UnsupportedError where
  /// there is none or it cannot be used, the same on every rank.
  virtual std::unique_ptr<NodeMemory> share_memory_of_library(Runtime& state, const Topology& topology);
  /// The vendor's collectives among the context's ranks; null on all of them: none here. Collective, blocking
  /// within the deadline; Errors have failed the context.
  virtual std::unique_ptr<DeviceGroup> make_group(DeviceRuntime& state) { return (void)state, nullptr; }

  // --- streams
  virtual Stream stream() = 0;  ///< the context's own
  /// Side streams 0 .. lanes() - 1, for copies that may run beside each other. 0 and 1 exist always: messages
  /// leave in one and arrive in the other.
  virtual int lanes() const = 0;
  virtual Stream lane(int number) = 0;
  /// What `after` is given from here on waits for what `before` was given until here.
  virtual void order(Stream before, Stream after) = 0;
  /// What `stream` is given goes into a graph that the caller will start, perhaps many times, or never.
  virtual bool captures(Stream stream) { return (void)stream, false; }
  /// Of a stream that is captured: expires with the graph and all that was made of it, when none of them runs
  /// any more. In any thread.
  virtual std::weak_ptr<const void> graph_of(Stream stream) {
    return (void)stream, std::weak_ptr<const void>();
  }
  /// Remembers what `stream` has been given until here; `passed()` once that is done.
  virtual void mark(Stream stream) = 0;
  virtual bool passed() = 0;
  /// The context's own stream has done all that it was given. While it is captured nobody may ask: no.
  virtual bool idle() = 0;
  /// What `stream` is given from here on waits for what has been marked last.
  virtual void follow(Stream stream) = 0;

  // --- numbered events, for a host that has to know how far a stream has come
  virtual int event() = 0;
  virtual void release_event(int event) noexcept = 0;
  virtual void record(int event, Stream stream) = 0;
  /// The stream has done what it had been given when the event was recorded last.
  virtual bool reached(int event) = 0;

  // --- time
  /// Compares the device's clock with the host's, for the moments that follow. May take some tenths of a
  /// millisecond; waits for no stream.
  virtual void align_clock() {}
  /// When `stream` has done all that it has been given. Not while it is captured.
  virtual std::unique_ptr<Moment> moment(Stream stream) = 0;

  // --- work
  /// Any two places: device, peer, host. Ordinary host memory may make this wait.
  virtual void copy_bytes(const void* from, void* to, std::int64_t bytes, Stream stream) = 0;
  /// `nest` is simplified (kernels/host/copy.hpp); device, peer or pinned memory on both sides. `inside`:
  /// both sides are this device's own memory.
  virtual void copy(const StridedCopy& nest, const void* from, void* to, Stream stream,
                    bool inside = false) = 0;
  /// The same between this device and pinned host memory by its copy engine, which `nest` suits
  /// (choose_bus_way).
  virtual void transfer(const StridedCopy& nest, const void* from, void* to, Stream stream) {
    copy(nest, from, to, stream, false);
  }
  /// Whether an exchange of these copies and nothing else is one start.
  virtual bool copies_at_once(std::span<const PlacedCopy> copies) const { return (void)copies, false; }
  /// A whole exchange with peers, in the order of the members; as few starts as the device can do with.
  virtual void exchange(const PeerExchange& what, Stream stream);
  /// Whether `exchange_packets` is there for this dtype and reduction, if there is one.
  virtual bool offers_packets(Dtype dtype, std::optional<Reduction> joined) const {
    return (void)dtype, (void)joined, false;
  }
  /// In one start, which waits for the packets of all peers. Only where it is offered.
  virtual void exchange_packets(const PacketExchange& what, Stream stream) { (void)what, (void)stream; }
  virtual void move_packets(const PacketMoves& what, Stream stream) { (void)what, (void)stream; }
  virtual void accumulate(const StridedCopy& nest, Dtype dtype, Reduction reduction, const void* from,
                          void* to, Stream stream) = 0;
  /// As kernels/host/fill.hpp.
  virtual void fill(const StridedCopy& nest, const void* element, std::int64_t element_bytes, void* to,
                    Stream stream) = 0;

  // --- flags: numbers of 64 bits in device memory, a peer's too
  /// In order. Many at once cost little more than one.
  virtual void flags(std::span<const FlagOperation> operations, Stream stream) = 0;
  /// Bytes between host and this device's memory past all streams, also while they wait; blocks until done.
  virtual void write_past(void* to, const void* from, std::int64_t bytes) = 0;
  virtual void read_past(void* to, const void* from, std::int64_t bytes) = 0;
};

/// The devices of this process.
class Accelerators {
 public:
  virtual ~Accelerators() = default;
  /// Usable ones; 0: none, and `why_none` says why.
  virtual int count() = 0;
  virtual std::string why_none() = 0;
  /// `options`: how it copies, and in how many streams.
  virtual std::unique_ptr<Accelerator> open(int index, const ContextOptions& options) = 0;
  virtual DeviceReport report() = 0;

  static Accelerators& of_process();
  /// Others in place of those of this build, until called with null: for tests of the library itself.
  static void replace(Accelerators* others) noexcept;
  /// What this build was made with: CUDA, or none (cuda_accelerators_absent.cpp).
  static Accelerators& built_in();
};

}  // namespace partita
