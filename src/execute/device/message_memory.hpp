// The private scratch of a device plan, and how what messages carry gets into and out of it.
#pragma once

#include <memory>
#include <partita/plan.hpp>
#include <span>
#include <vector>

#include "context/context_state.hpp"
#include "device/copy_way.hpp"
#include "execute/message_use.hpp"
#include "execute/plan_memory.hpp"
#include "plan/moves.hpp"

namespace partita::execution {

/// If messages accept device memory, private scratch is there, and packing is a copy within the device.
/// Otherwise private scratch is pinned host memory, and packing crosses the bus, as `choose_bus_way` decides;
/// a path through the device uses a second private scratch in device memory, at the same offsets.
class MessageMemory {
 public:
  MessageMemory(ContextState& context, const Plan& plan, const MessageUse& use);

  /// The step's copies are these from now on.
  void lower(std::size_t step, std::span<const kernels::StridedCopy> nests);
  /// Puts a copy or accumulation into or out of private scratch into the stream.
  void move(std::size_t step, std::span<const kernels::StridedCopy> nests, const PlanMemory& memory,
            Stream stream);

 private:
  /// Of a failed context it stays, as scratch does: streams may still be at it.
  struct Release {
    ContextState* context = nullptr;
    void operator()(char* memory) const noexcept {
      if (!context->failed()) context->device->physical().release(memory);
    }
  };
  bool is_for_messages(const Place& place) const {
    return of_messages_[static_cast<std::size_t>(planning::memory_of(plan_, place))];
  }
  char* resting(const Place& place) const { return resting_[static_cast<std::size_t>(place.buffer)].get(); }

  ContextState& context_;
  const Plan& plan_;
  CopyWay wanted_;
  std::vector<bool> of_messages_;                        // by buffer
  std::vector<devices::BusWay> ways_;                    // by step
  std::vector<std::unique_ptr<char, Release>> resting_;  // by buffer: in the device's memory; null: none
};

}  // namespace partita::execution
