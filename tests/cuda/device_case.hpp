// What tests of one GPU begin with.
#pragma once

#include <random>

#include "device/accelerator.hpp"
#include "support/test.hpp"

namespace partita::testing {

/// Skipped where there is no GPU.
class CudaDeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    devices::Accelerators& devices = devices::Accelerators::built_in();
    if (devices.count() == 0) GTEST_SKIP() << "no GPU: " << devices.why_none();
    device_ = devices.device(0)->open({}, 1);
  }

  std::int64_t number(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }

  std::mt19937_64 random_{1};
  std::unique_ptr<devices::Accelerator> device_;  // null where the test is skipped
};

}  // namespace partita::testing
