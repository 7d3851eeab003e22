// The plainest kernel: the same for each of so many.
#pragma once

#include "device/queue.hpp"

namespace on_device {

namespace cuda {
/// Defined in for_each.cuh, and instantiated by the program's own cuda_*.cu.
template <class Body>
void for_each(const Body& body, std::int64_t count, void* stream);
}  // namespace cuda

/// body(i) for every i below `count`, in any order and beside each other on a device. The body is a value
/// whose call is HOST_AND_DEVICE, with addresses in the memory of the queue's device.
template <class Body>
void for_each(const Queue& queue, std::int64_t count, const Body& body) {
  if (count == 0) return;
  launch(
      queue,
      [=] {
        for (std::int64_t i = 0; i < count; ++i) body(i);
      },
      [&](void* stream) { cuda::for_each(body, count, stream); });
}

}  // namespace on_device
