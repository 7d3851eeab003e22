#include "context/kept_plans.hpp"

#include <algorithm>
#include <vector>

#include "base/pages.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/groups/rendezvous.hpp"

namespace partita::contexts {

void collect_memory(ContextState& context) {
  context.plans.collect();
  context.heap->collect();
  if (context.device_heap) context.device_heap->collect();
}

std::int64_t bytes_allocated(const ContextState& context) {
  const std::int64_t on_device = context.device_heap ? context.device_heap->bytes_allocated() : 0;
  return context.heap->bytes_allocated() + on_device + bytes_allocated_by_thread();
}

std::int64_t largest_bytes(ContextState& context, std::int64_t bytes) {
  constexpr std::string_view operation = "keep a plan";
  bytes = std::max<std::int64_t>(bytes, 0);
  if (context.size() == 1) return bytes;
  runtime::Rendezvous rendezvous(context, operation);
  const auto nothing = [] { return std::vector<Fact>(); };
  return static_cast<std::int64_t>(
      runtime::collectively(rendezvous, operation, static_cast<std::uint64_t>(bytes), nothing).largest);
}

}  // namespace partita::contexts
