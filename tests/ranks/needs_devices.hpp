// For tests of devices, on the GPUs of the machine or on fake ones.
#pragma once

#include "ranks/rank_test.hpp"

namespace partita::testing {

inline bool has_devices() {
  return test_device().kind == Device::Kind::cuda;
}

#define NEEDS_DEVICES() \
  if (!has_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=cuda or fake"

/// A test of the suite Device with a `context`.
#define DEVICE_TEST(name)                                                                \
  static void device_##name(partita::Context& context);                                  \
  TEST(Device, name) {                                                                   \
    NEEDS_DEVICES();                                                                     \
    on_ranks([](partita::Context& on_this_context) { device_##name(on_this_context); }); \
  }                                                                                      \
  static void device_##name([[maybe_unused]] partita::Context& context)

}  // namespace partita::testing
