// Sorting on a device, and the places of its largest elements.
#pragma once

#include <cstdint>
#include <partita/stream.hpp>

#include "kernels/host/places.hpp"
#include "kernels/host/sort.hpp"

namespace partita::devices {

/// What an accelerator is, too, that compares elements.
class DeviceSorting {
 public:
  virtual ~DeviceSorting() = default;

  /// More elements are not sorted at once.
  static constexpr std::int64_t most_sorted = std::int64_t{1} << 32;
  /// Bytes of device memory that the pass wants besides.
  virtual std::int64_t sort_scratch_bytes(const kernels::SortPass& pass) = 0;
  /// As the kernel of the host; the places are in device memory. Starts and does not wait.
  virtual void sort(const kernels::SortPass& pass, void* scratch, Stream stream) = 0;
  /// As the kernel of the host. `scratch`: DeviceArithmetic::fold_scratch_bytes. Starts and does not wait.
  virtual void find_places(const kernels::PlacePass& pass, void* scratch, Stream stream) = 0;
};

}  // namespace partita::devices
