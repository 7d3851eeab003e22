// How long the streams of a context still use memory.
#pragma once

#include <memory>
#include <string>

#include "device/accelerator.hpp"
#include "device/device_runtime.hpp"

namespace partita::devices {

/// Declare it after private memory: it is destroyed first, and waits until streams no longer use the memory
/// or the context has failed. The vendor's runtime may wait for them when memory is freed, but does not know
/// the deadline or lost peers. Its destructor never throws. Does not keep the context alive.
class LastUse {
 public:
  LastUse(DeviceRuntime& state, std::string operation) : state_(state), operation_(std::move(operation)) {}
  ~LastUse() { await(); }
  LastUse(const LastUse&) = delete;
  LastUse& operator=(const LastUse&) = delete;

  /// What the stream has been given so far uses it. What is captured counts as long as the graph lives, whose
  /// owner keeps the memory.
  void note(Stream stream, bool captured);
  void await() noexcept;

 private:
  DeviceRuntime& state_;
  std::string operation_;
  std::unique_ptr<DeviceEvent> end_;  // null: not used yet
};

}  // namespace partita::devices
