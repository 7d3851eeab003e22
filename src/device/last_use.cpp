#include "device/last_use.hpp"

#include "device/device_synchronization.hpp"

namespace partita::devices {

void LastUse::note(Stream stream, bool captured) {
  if (captured) return;
  if (!end_) end_ = state_.device->event();
  state_.device->launching(stream);
  end_->record(stream);
}

void LastUse::await() noexcept {
  await_streams(state_, operation_, [this] { return !end_ || end_->reached(); });
}

}  // namespace partita::devices
