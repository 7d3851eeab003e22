// What logical reductions of numbers still need: a rank that joined nothing has its numbers as they were.
#pragma once

#include <partita/reduction.hpp>
#include <partita/stream.hpp>
#include <partita/view.hpp>

#include "runtime/context_state.hpp"

namespace partita::collective {

/// Whether elements that nothing was joined with may be other than 0 and 1.
bool needs_truth(Reduction reduction, Dtype dtype);

/// The identity of a reduction in device memory. Holds no share of the context.
class DeviceIdentity {
 public:
  DeviceIdentity(Accelerator& device, Reduction reduction, Dtype dtype);
  ~DeviceIdentity();
  DeviceIdentity(const DeviceIdentity&) = delete;
  DeviceIdentity& operator=(const DeviceIdentity&) = delete;
  const void* data() const { return memory_; }

 private:
  Accelerator& device_;
  void* memory_ = nullptr;
};

/// Makes 0 or 1 of every element. `on_device`: of a view in device memory, in stream order; else null.
void make_truth(ContextState& context, Reduction reduction, const View& view, const DeviceIdentity* on_device,
                Stream stream);

}  // namespace partita::collective
