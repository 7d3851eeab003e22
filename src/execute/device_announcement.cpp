#include "execute/device_announcement.hpp"

#include "device/finish.hpp"

namespace partita {

DeviceAnnouncement::DeviceAnnouncement(ContextState& context, const Plan& plan)
    : context_(context),
      plan_(plan),
      plan_hash_(plan.hash()),
      neighbours_(context.topology().node_ranks(context.topology().node(plan.rank))) {}

std::uint64_t DeviceAnnouncement::begin(const PlanMemory& memory) {
  ++context_.executions;
  running_hash_ = memory.execution_hash(plan_hash_);
  context_.board->begin_execution(running_hash_);
  return running_hash_;
}

void DeviceAnnouncement::check() const {
  for (std::size_t i = 0; i < neighbours_.size(); ++i) {
    check_announcement(context_, plan_, running_hash_, static_cast<int>(i), neighbours_[i]);
  }
}

/// Streams that are done before the first look have met the signals of another plan as if they were of this
/// one: so there is a look at the end, too.
void DeviceAnnouncement::finish() const {
  finish_device(context_, plan_.operation, [this] { check(); });
  try {
    check();
  } catch (const std::exception& error) {
    context_.fail(error.what());
    throw;
  }
}

}  // namespace partita
