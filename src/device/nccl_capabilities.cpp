#include "device/nccl_capabilities.hpp"

#include <fmt/format.h>

#include "device/device_runtime.hpp"
#include "runtime/checks/agree.hpp"

namespace partita::devices {
namespace {

NcclCapabilities own_offer(const DeviceRuntime& state) {
  const NcclLibrary& library = NcclLibrary::of_process();
  NcclCapabilities offer;
  if (!library.why_none.empty()) return offer;
  offer.version = library.version;
  offer.device = device_identity(state, state.device->physical());
  if (state.rank() == 0) offer.id_is_made = library.get_unique_id(&offer.id) == nccl_success ? 1 : 0;
  return offer;
}

}  // namespace

std::vector<NcclCapabilities> exchange_capabilities(DeviceRuntime& state, std::string_view operation) {
  return runtime::exchange_values(state, operation, own_offer(state));
}

std::string obstacle(const std::vector<NcclCapabilities>& offers) {
  for (std::size_t i = 0; i < offers.size(); ++i) {
    if (offers[i].version == 0) return fmt::format("rank {} has no usable one", i);
    if (offers[i].version != offers[0].version) return fmt::format("ranks 0 and {} have different ones", i);
    for (std::size_t j = 0; j < i; ++j) {
      if (offers[i].device == offers[j].device) return fmt::format("ranks {} and {} share a device", j, i);
    }
  }
  return offers[0].id_is_made != 0 ? "" : "it finds no network interface to meet at";
}

}  // namespace partita::devices
