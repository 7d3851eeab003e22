// A vendor's library of collectives that moves nothing: its calls only take their place among the others.
#pragma once

#include "device/device_group.hpp"

namespace partita::testing {

class FakeDeviceGroup final : public DeviceGroup {
 public:
  std::string name() const override { return "a library that moves nothing"; }
  bool reduces(Dtype, Reduction) const override { return true; }
  void broadcast(const void*, void*, std::int64_t, int, Stream) override {}
  void reduce(const void*, void*, std::int64_t, Dtype, Reduction, int, Stream) override {}
  void all_reduce(const void*, void*, std::int64_t, Dtype, Reduction, Stream) override {}
  void all_gather(const void*, void*, std::int64_t, Stream) override {}
  void reduce_scatter(const void*, void*, std::int64_t, Dtype, Reduction, Stream) override {}
  void exchange(std::span<const Part>, std::span<const Part>, Stream) override {}
  void abort() noexcept override {}
  std::string failed() override { return ""; }
  bool in_call() const override { return false; }
};

}  // namespace partita::testing
