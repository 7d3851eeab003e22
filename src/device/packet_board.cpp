#include "device/packet_board.hpp"

#include "device/device_runtime.hpp"
#include "device/device_synchronization.hpp"
#include "runtime/checks/agree.hpp"

namespace partita::devices {
namespace {

constexpr const char* starting_exchanges = "start small exchanges";
constexpr std::int64_t counters_bytes = 64;

}  // namespace

std::shared_ptr<PacketBoard> PacketBoard::of(DeviceRuntime& state, std::int64_t given) {
  if (!state.packets || state.packets->given_ < given) {
    const std::shared_ptr<PacketBoard> board(new PacketBoard(state, given));
    board->clear();
    state.packets = board;
  }
  return state.packets;
}

PacketBoard::PacketBoard(DeviceRuntime& state, std::int64_t given)
    : state_(state),
      given_(given),
      block_(state.device_heap->allocate(PacketSlots::bytes(state.size(), given) + counters_bytes,
                                         memory::SymmetricHeap::Sizes::equal, "packets",
                                         SourcePlace::current())) {
  for (int rank = 0; rank < state.size(); ++rank) {
    of_ranks_.push_back(static_cast<char*>(state.device_heap->at(rank, block_.offset)));
  }
}

PacketBoard::~PacketBoard() {
  state_.device_heap->drop(block_.id);
}

/// No packet may have a number before it is sent. Whoever had the memory before has done with it.
void PacketBoard::clear() {
  std::vector<std::uint64_t> zeros;
  runtime::collectively(state_, starting_exchanges, [&] {
    require_no_capture(state_, starting_exchanges);
    finish_device(state_, starting_exchanges);
    zeros.resize(static_cast<std::size_t>(block_.bytes) / sizeof(std::uint64_t));
  });
  state_.device->physical().copy_past(of_ranks_[static_cast<std::size_t>(state_.rank())], zeros.data(),
                                      block_.bytes);
  runtime::barrier(state_, starting_exchanges);
}

PacketSlots PacketBoard::slots() const {
  PacketSlots slots;
  slots.of_ranks = of_ranks_;
  slots.slot = PacketSlots::slot_bytes(state_.size(), given_);
  char* const mine = of_ranks_[static_cast<std::size_t>(state_.rank())];
  slots.counters = reinterpret_cast<std::uint32_t*>(mine + PacketSlots::bytes(state_.size(), given_));
  slots.given_up = state_.flags->given_up();
  return slots;
}

}  // namespace partita::devices
