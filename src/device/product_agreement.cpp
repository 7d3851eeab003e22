#include "device/product_agreement.hpp"

#include <vector>

#include "device/device_runtime.hpp"
#include "runtime/checks/agree.hpp"

namespace partita::devices {

std::string news_of_choices(DeviceRuntime& state) {
  DeviceMath* const math = state.device->math();
  return math == nullptr ? "" : math->news_of_choices();
}

void agree_on_choices(DeviceRuntime& state, std::string_view operation, const std::string& news) {
  const std::vector<std::string> of_all = runtime::exchange(state, operation, news);
  DeviceMath* const math = state.device->math();
  if (math != nullptr) math->agree_on_choices(of_all);
}

}  // namespace partita::devices
