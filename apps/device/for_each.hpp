// The plainest kernels: the same for each of so many, for each cell of a block, and by groups.
#pragma once

#include <array>

#include "device/queue.hpp"

namespace on_device {

namespace cuda {
/// Defined in for_each.cuh, and instantiated by the program's own cuda_*.cu.
template <class Body>
void for_each(const Body& body, std::int64_t count, void* stream);
template <class Body>
void for_each_cell(const Body& body, const std::array<std::int64_t, 3>& extents, void* stream);
template <class Body>
void for_each_group(const Body& body, std::int64_t groups, void* stream);
}  // namespace cuda

/// body(i) for every i below `count`, in any order and concurrently on a device. The body is a value
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

/// body(i, j, k) for every cell, of which those with one i are less than 2^31. Those with the next k are to
/// be adjacent.
template <class Body>
void for_each_cell(const Queue& queue, const std::array<std::int64_t, 3>& extents, const Body& body) {
  if (extents[0] == 0 || extents[1] == 0 || extents[2] == 0) return;
  launch(
      queue,
      [=] {
        for (std::int64_t i = 0; i < extents[0]; ++i) {
          for (std::int64_t j = 0; j < extents[1]; ++j) {
            for (std::int64_t k = 0; k < extents[2]; ++k) body(i, j, k);
          }
        }
      },
      [&](void* stream) { cuda::for_each_cell(body, extents, stream); });
}

/// Groups of Body::threads that share a Body::Shared (without a value at first) and go through the body's
/// phases together: body.begin, body.middle and body.end(shared, group, thread), each for all threads of the
/// group before the next.
template <class Body>
void for_each_group(const Queue& queue, std::int64_t groups, const Body& body) {
  if (groups == 0) return;
  launch(
      queue,
      [=] {
        typename Body::Shared shared;
        for (std::int64_t group = 0; group < groups; ++group) {
          for (int thread = 0; thread < Body::threads; ++thread) body.begin(shared, group, thread);
          for (int thread = 0; thread < Body::threads; ++thread) body.middle(shared, group, thread);
          for (int thread = 0; thread < Body::threads; ++thread) body.end(shared, group, thread);
        }
      },
      [&](void* stream) { cuda::for_each_group(body, groups, stream); });
}

}  // namespace on_device
