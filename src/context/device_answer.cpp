#include "context/device_answer.hpp"

#include <memory>

#include "device/device_memory.hpp"

namespace partita::contexts {
namespace {

constexpr std::int64_t bytes = 16;

struct Answer {
  explicit Answer(devices::Accelerator& device) : memory(device, bytes) {}
  devices::PinnedMemory memory;
};

}  // namespace

void* device_answer(ContextState& state) {
  const auto make = [&] { return std::make_shared<Answer>(*state.device); };
  return state.attachments.get<Answer>(make).memory.data();
}

}  // namespace partita::contexts
