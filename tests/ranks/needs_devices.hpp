// For tests of devices, on the GPUs of the machine or on fake ones.
#pragma once

#include "ranks/rank_test.hpp"

namespace partita::testing {

inline bool has_devices() {
  return test_device().kind == Device::Kind::cuda;
}

#define NEEDS_DEVICES() \
  if (!has_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=cuda or fake"

}  // namespace partita::testing
