// The memory of small exchanges between the devices of a node.
#pragma once

#include <memory>
#include <vector>

#include "device/packet_exchange.hpp"
#include "memory/symmetric_heap.hpp"

namespace partita::devices {

struct DeviceRuntime;

/// Slots on the symmetric heap of the devices. Its exchanges must follow one another in one order on all
/// ranks, which those of one context do.
class PacketBoard {
 public:
  /// The board of the context, created at first use or when a larger one is requested; users of a smaller one
  /// keep it. Collective, blocking; requires a device topology of one node.
  static std::shared_ptr<PacketBoard> of(DeviceRuntime& state, std::int64_t given = PacketSlots::most_given);
  ~PacketBoard();
  PacketBoard(const PacketBoard&) = delete;
  PacketBoard& operator=(const PacketBoard&) = delete;

  PacketSlots slots() const;

 private:
  PacketBoard(DeviceRuntime& state, std::int64_t given);
  void clear();

  DeviceRuntime& state_;
  std::int64_t given_;  // by a rank, at most
  memory::HeapBlock block_;
  std::vector<char*> of_ranks_;
};

}  // namespace partita::devices
