// For tests of devices, on the GPUs of the machine or on fake ones.
#pragma once

#include "device/device_runtime.hpp"
#include "support/rank_test.hpp"

namespace partita::testing {

inline bool has_devices() {
  return test_device().kind == Device::Kind::cuda;
}

/// Between nodes, where no library carries them in the stream. Collective.
inline bool host_waits_for_messages(Context& context) {
  ContextState& state = *context.state();
  return state.device_topology.node_count() > 1 && !devices::messages_go_in_groups(state);
}

#define NEEDS_DEVICES() \
  if (!has_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=cuda or fake"

/// A test on devices with a `context`.
#define DEVICE_TEST_OF(suite, name)                                                       \
  static void suite##_##name(partita::Context& context);                                  \
  TEST(suite, name) {                                                                     \
    NEEDS_DEVICES();                                                                      \
    on_ranks([](partita::Context& on_this_context) { suite##_##name(on_this_context); }); \
  }                                                                                       \
  static void suite##_##name([[maybe_unused]] partita::Context& context)
#define DEVICE_TEST(name) DEVICE_TEST_OF(Device, name)

}  // namespace partita::testing
