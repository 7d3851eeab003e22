// Views of a call on a device, made dense for those who know nothing of strides.
#pragma once

#include <partita/stream.hpp>
#include <partita/view.hpp>
#include <span>
#include <vector>

#include "device/device_memory.hpp"

namespace partita::execution {

/// Views that are not dense are packed on the device before, and the last one is unpacked after. The memory
/// for that is allocated when such a view comes first.
class DenseViews {
 public:
  explicit DenseViews(devices::Accelerator& device) : device_(device) {}

  /// The last view is written, the others are read. Valid until the next call.
  std::span<const View> pack(std::span<const View> views, Stream stream);
  void unpack(std::span<const View> views, Stream stream);

 private:
  View packed(std::size_t number, const View& view);
  void copy(const View& from, const View& to, Stream stream);

  devices::Accelerator& device_;
  std::vector<devices::DeviceMemory> memory_;  // by view
  std::vector<View> dense_;
};

}  // namespace partita::execution
