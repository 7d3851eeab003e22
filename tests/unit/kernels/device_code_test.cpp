#include "device/device_code.hpp"

#include <gtest/gtest.h>

namespace partita::testing {
namespace {

using devices::describe_architectures;
using devices::has_code_for;

TEST(DeviceCode, MachineCodeIsForItsMajorVersion) {
  EXPECT_TRUE(has_code_for("80-real", 8, 0));
  EXPECT_TRUE(has_code_for("80-real", 8, 9));
  EXPECT_FALSE(has_code_for("86-real", 8, 0));
  EXPECT_FALSE(has_code_for("80-real", 9, 0));
  EXPECT_FALSE(has_code_for("80-real", 7, 5));
  EXPECT_TRUE(has_code_for("100-real,120-real", 12, 1));
  EXPECT_FALSE(has_code_for("100-real,120-real", 11, 0));
}

TEST(DeviceCode, WhatTheDriverCompilesIsForLaterDevices) {
  EXPECT_TRUE(has_code_for("90", 9, 0));
  EXPECT_TRUE(has_code_for("90", 12, 0));
  EXPECT_FALSE(has_code_for("90", 8, 9));
  EXPECT_TRUE(has_code_for("80-real,100,120-real", 11, 0));
  EXPECT_TRUE(has_code_for("90-virtual", 9, 0));
}

TEST(DeviceCode, CodeOfOneDeviceIsForThatOne) {
  EXPECT_TRUE(has_code_for("90a-real", 9, 0));
  EXPECT_FALSE(has_code_for("90a", 10, 0));
  EXPECT_FALSE(has_code_for("", 9, 0));
}

TEST(DeviceCode, IsDescribed) {
  EXPECT_EQ(describe_architectures("80-real,90"), "8.0, 9.0, and all later than 9.0");
  EXPECT_EQ(describe_architectures("80-real,120-real"), "8.0, 12.0");
  EXPECT_EQ(describe_architectures("90-virtual"), "all later than 9.0");
}

}  // namespace
}  // namespace partita::testing
