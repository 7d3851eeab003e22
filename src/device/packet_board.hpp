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
  /// The context's, made when one for so much is wanted first: it serves who wants less later, and who has a
  /// smaller one keeps that. Collective, blocking; the topology of devices has one node.
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
