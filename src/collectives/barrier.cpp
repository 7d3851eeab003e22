#include <partita/collectives.hpp>

#include "base/check.hpp"
#include "collectives/by_name.hpp"
#include "context/context_state.hpp"
#include "device/device_memory.hpp"
#include "runtime/checks/agree.hpp"

namespace partita {
namespace {

/// A byte of every rank, which say nothing but that they have come.
struct BytesOfRanks {
  devices::DeviceMemory memory;
};

/// Kept by the context. Collective when they are made.
devices::DeviceMemory& bytes_of_ranks(ContextState& state) {
  const auto make = [&] {
    std::shared_ptr<BytesOfRanks> made;
    runtime::collectively(state, "barrier", [&] {
      made = std::make_shared<BytesOfRanks>(devices::DeviceMemory(*state.device, state.size()));
    });
    return made;
  };
  return state.attachments.get<BytesOfRanks>(make).memory;
}

}  // namespace

void barrier(const Context& context, std::optional<Stream> stream) {
  if (!stream) return context.barrier();
  ContextState& state = *context.state();
  state.require_usable("barrier");
  if (!state.device) {
    check<UnsupportedError>(!stream->given, "barrier: a stream, but the context has no device");
    return context.barrier();
  }
  const devices::DeviceMemory& memory = bytes_of_ranks(state);
  const View all{memory.data(), Dtype::u8, {state.size()}, {1}, MemorySpace::device};
  View own = all;
  own.data = static_cast<char*>(memory.data()) + state.rank();
  own.extents = {1};
  collective::run_all_gather("barrier", context, own, all, {}, stream);
}

}  // namespace partita
