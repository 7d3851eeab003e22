// The events by which streams keep what a plan's meaning needs of its order.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "device/device_queues.hpp"
#include "plan/dependencies.hpp"

namespace partita::execution {

/// For steps in lanes, of which the first have a stream each. Allocates nothing once it is made.
class LaneEvents {
 public:
  /// `orders`: of operands apart, and of such that share memory.
  LaneEvents(devices::DeviceQueues& device, std::array<planning::Dependencies, 2> orders,
             std::span<const int> lanes, int streams);

  /// A new execution.
  void begin(bool operands_meet) { order_ = &orders_.at(operands_meet ? 1 : 0); }
  /// What the step waits for (see Dependencies).
  std::span<const int> after(std::size_t step) const { return order_->after[step]; }
  /// The step comes into its stream next, which waits for all that.
  void hold(std::size_t step, Stream stream);
  /// The step has come into its stream.
  void record(std::size_t step, Stream stream);
  /// Streams have done what the step waits for.
  bool reached(std::size_t step);

 private:
  devices::DeviceQueues& device_;
  std::array<planning::Dependencies, 2> orders_;
  const planning::Dependencies* order_ = nullptr;              // of this execution
  std::vector<std::unique_ptr<devices::DeviceEvent>> events_;  // by step; null: no step waits for it
};

}  // namespace partita::execution
