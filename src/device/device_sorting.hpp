// What a device does with sequences of elements: sorts, places of extremes, scans, selections, searches.
#pragma once

#include <cstdint>
#include <partita/stream.hpp>

#include "kernels/host/places.hpp"
#include "kernels/host/scan.hpp"
#include "kernels/host/search.hpp"
#include "kernels/host/selection.hpp"
#include "kernels/host/sort.hpp"

namespace partita::devices {

/// What an accelerator is, too, that compares and counts elements.
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
  /// Bytes of device memory that the pass wants besides. Its `inner` is 1.
  virtual std::int64_t scan_scratch_bytes(const kernels::ScanPass& pass) = 0;
  /// As the kernel of the host. Starts and does not wait.
  virtual void scan(const kernels::ScanPass& pass, void* scratch, Stream stream) = 0;
  /// As the kernel of the host; indices and report are in device memory. Starts and does not wait.
  virtual void gather(const GatherPass& pass, Stream stream) = 0;
  /// Bytes of device memory that the pass wants besides.
  virtual std::int64_t true_scratch_bytes(const TruePass& pass) = 0;
  /// As the kernel of the host; `found` is in device memory. Starts and does not wait.
  virtual void find_true(const TruePass& pass, void* scratch, Stream stream) = 0;
  /// As the kernels of the host; edges and weights are in device memory, and sums of weights those of any
  /// order. Start and do not wait.
  virtual void search(const SearchPass& pass, Stream stream) = 0;
  virtual void count(const CountPass& pass, Stream stream) = 0;
};

}  // namespace partita::devices
