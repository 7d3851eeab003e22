#include "support/fakes/fake_transport.hpp"

#include "base/check.hpp"
#include "context/context_state.hpp"
#include "support/fakes/fake_memory.hpp"

namespace partita::testing {
namespace {

void require_host_memory(const char* what, const void* data, std::int64_t bytes) {
  check<Error>(!FakeMemory::get().is_of_device(data, bytes),
               "{} of {} bytes in device memory, which this transport cannot read", what, bytes);
}

}  // namespace

runtime::MessageId HostOnlyGroup::send(int peer, runtime::Lane lane, const void* data, std::int64_t bytes) {
  require_host_memory("a message is sent", data, bytes);
  return group_->send(peer, lane, data, bytes);
}

runtime::MessageId HostOnlyGroup::receive(int peer, runtime::Lane lane, void* data, std::int64_t bytes) {
  require_host_memory("a message is received", data, bytes);
  return group_->receive(peer, lane, data, bytes);
}

void let_no_device_memory_travel(Context& context) {
  ContextState& state = *context.state();
  if (!state.device || state.device_messages_direct) return;
  state.group = std::make_unique<HostOnlyGroup>(std::move(state.group));
}

}  // namespace partita::testing
