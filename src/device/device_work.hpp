// The operations that can be enqueued on a stream.
#pragma once

#include <cstdint>
#include <optional>
#include <partita/dtype.hpp>
#include <partita/reduction.hpp>
#include <partita/stream.hpp>
#include <span>

#include "device/packet_exchange.hpp"
#include "kernels/host/copy.hpp"

namespace partita::devices {

/// What a copy shares the device with.
enum class CopyScope : std::uint8_t {
  any,         ///< one side may be a peer's memory or the host's
  beside,      ///< the same, while the device computes: it leaves that as much as it can
  inside,      ///< both sides are this device's own memory
  background,  ///< the same as inside, and has time: it leaves most of the device to kernels that carry
               ///< messages or compute
};

/// A strided copy between two addresses. `nest` is owned by the caller.
struct PlacedCopy {
  const kernels::StridedCopy* nest = nullptr;
  const void* from = nullptr;
  void* to = nullptr;
  CopyScope scope = CopyScope::any;
};

/// What a stream does with a flag.
struct FlagOperation {
  enum class Kind : std::uint8_t {
    write,  ///< if fenced, earlier work of the stream is visible to readers of the value
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
  /// Of a write: behind a fence, which takes long while something is on its way to peers. It needs none where
  /// the value is about what was read, or events have made what was written visible.
  bool fenced = true;
};

/// A small plan at once: what peers will read is packed, grants are given and waited for; copies, which have
/// no order among each other; and what closes them.
struct PeerExchange {
  std::span<const PlacedCopy> packs;
  std::span<const FlagOperation> early_signals;
  std::span<const FlagOperation> early_waits;
  std::span<const PlacedCopy> copies;
  std::span<const FlagOperation> late_signals;
  std::span<const FlagOperation> late_waits;
};

/// What takes a stream starts and does not wait; work of one stream runs in order. Errors of the device are
/// Errors here, at this call or, for work that had only been started, at a later one.
class DeviceWork {
 public:
  virtual ~DeviceWork() = default;

  /// Any two places: device, peer, host. Ordinary host memory may make this wait.
  virtual void copy_bytes(const void* from, void* to, std::int64_t bytes, Stream stream) = 0;
  /// `nest` is simplified (kernels/host/copy.hpp); device, peer or pinned memory on both sides.
  virtual void copy(const kernels::StridedCopy& nest, const void* from, void* to, Stream stream,
                    CopyScope scope = CopyScope::any) = 0;
  /// The same between this device and pinned host memory by its copy engine, which `nest` suits
  /// (choose_bus_way).
  virtual void transfer(const kernels::StridedCopy& nest, const void* from, void* to, Stream stream) {
    copy(nest, from, to, stream);
  }
  /// Whether an exchange of these copies and nothing else is one start.
  virtual bool copies_at_once(std::span<const PlacedCopy> copies) const { return (void)copies, false; }
  /// Copies that are independent of each other, in as few starts as the device can do with.
  virtual void copy_all(std::span<const PlacedCopy> copies, Stream stream);
  /// A whole exchange with peers, in the order of the members; as few starts as the device can do with.
  virtual void exchange(const PeerExchange& what, Stream stream);
  /// Whether `exchange_packets` is there for this dtype and reduction, if there is one.
  virtual bool offers_packets(Dtype dtype, std::optional<Reduction> joined) const {
    return (void)dtype, (void)joined, false;
  }
  /// In one start, which waits for the packets of all peers. Only where it is offered.
  virtual void exchange_packets(const PacketExchange& what, Stream stream) { (void)what, (void)stream; }
  virtual void move_packets(const PacketMoves& what, Stream stream) { (void)what, (void)stream; }
  virtual void accumulate(const kernels::StridedCopy& nest, Dtype dtype, Reduction reduction,
                          const void* from, void* to, Stream stream) = 0;
  /// As kernels/host/fill.hpp.
  virtual void fill(const kernels::StridedCopy& nest, const void* element, std::int64_t element_bytes,
                    void* to, Stream stream) = 0;

  /// Flags are numbers of 64 bits in device memory, a peer's too. In order; many at once cost little more
  /// than one.
  virtual void flags(std::span<const FlagOperation> operations, Stream stream) = 0;
};

}  // namespace partita::devices
