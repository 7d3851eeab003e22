// Views of a call on a device, made dense for those who know nothing of strides.
#pragma once

#include <partita/stream.hpp>
#include <partita/view.hpp>
#include <span>
#include <vector>

#include "device/device_memory.hpp"
#include "device/last_use.hpp"

namespace partita::execution {

/// Views that are not dense are packed on the device before, and the last one is unpacked after. The memory
/// for that is allocated by `prepare` when such a view comes first.
class DenseViews {
 public:
  DenseViews(devices::DeviceRuntime& state, std::string operation);
  /// The streams have done with the memory, or the context has failed. Never throws.
  ~DenseViews();
  DenseViews(const DenseViews&) = delete;
  DenseViews& operator=(const DenseViews&) = delete;

  /// Allocates memory for these views. Throws MemoryError, which the caller must report to all ranks.
  void prepare(std::span<const View> views);
  /// The last view is written, the others are read; they are prepared. Valid until the next call.
  std::span<const View> pack(std::span<const View> views, Stream stream);
  void unpack(std::span<const View> views, Stream stream, bool captured);

 private:
  void copy(const View& from, const View& to, Stream stream);

  devices::DeviceRuntime& state_;
  std::vector<devices::DeviceMemory> memory_;  // by view
  devices::LastUse use_;                       // of it
  std::vector<View> dense_;
};

}  // namespace partita::execution
