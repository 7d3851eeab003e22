#include "context/device_answer.hpp"

#include "device/device_memory.hpp"

namespace partita::contexts {
namespace {

struct Answer {
  devices::PinnedMemory memory;
};

}  // namespace

void* device_answer(ContextState& state) {
  constexpr std::int64_t bytes = 16;
  const auto make = [&] { return std::make_shared<Answer>(devices::PinnedMemory(*state.device, bytes)); };
  return state.attachments.get<Answer>(make).memory.data();
}

}  // namespace partita::contexts
