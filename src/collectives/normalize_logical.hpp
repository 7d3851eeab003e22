// Normalises the result of logical reductions of numbers on ranks that reduced nothing.
#pragma once

#include <optional>
#include <partita/reduction.hpp>
#include <partita/stream.hpp>
#include <partita/view.hpp>

#include "context/context_state.hpp"
#include "device/device_memory.hpp"
#include "device/last_use.hpp"

namespace partita::collective {

/// Whether elements that were not reduced may be other than 0 and 1.
bool is_logical(Reduction reduction, Dtype dtype);

/// Makes 0 or 1 of every element. On a device it has the identity of the reduction there. Holds no share of
/// the context.
class LogicalValues {
 public:
  LogicalValues(ContextState& context, Reduction reduction, Dtype dtype, MemorySpace space);
  ~LogicalValues();
  LogicalValues(const LogicalValues&) = delete;
  LogicalValues& operator=(const LogicalValues&) = delete;

  /// A view in that memory; on a device enqueued on the stream.
  void normalize(const View& view, const std::optional<Stream>& stream);

 private:
  ContextState& context_;
  Reduction reduction_;
  devices::DeviceMemory identity_;  // on a device
  devices::LastUse use_;            // of it
};

}  // namespace partita::collective
