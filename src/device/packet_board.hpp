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
  /// The context's, made when it is wanted first. Collective, blocking; the topology of devices has one node.
  static std::shared_ptr<PacketBoard> of(DeviceRuntime& state);
  ~PacketBoard();
  PacketBoard(const PacketBoard&) = delete;
  PacketBoard& operator=(const PacketBoard&) = delete;

  PacketSlots slots() const;

 private:
  explicit PacketBoard(DeviceRuntime& state);
  void clear();

  DeviceRuntime& state_;
  memory::HeapBlock block_;
  std::vector<char*> of_ranks_;
};

}  // namespace partita::devices
