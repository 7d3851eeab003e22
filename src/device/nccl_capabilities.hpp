// What the ranks tell each other before they start NCCL.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "device/nccl_library.hpp"

namespace partita::devices {

struct DeviceRuntime;

struct NcclCapabilities {
  int version = 0;           ///< 0: no NCCL here
  std::uint64_t device = 0;  ///< device_identity: NCCL refuses two ranks on one
  int id_is_made = 0;        ///< on rank 0
  NcclId id = {};
};

/// By rank. Collective.
std::vector<NcclCapabilities> exchange_capabilities(DeviceRuntime& state, std::string_view operation);

/// Why there can be no group; empty: nothing speaks against it. The same on all ranks.
std::string obstacle(const std::vector<NcclCapabilities>& offers);

}  // namespace partita::devices
