// A vendor's library of collectives of fake devices.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "device/device_group.hpp"

namespace partita::testing {

/// Moves what ranks of this process exchange, in the order of their streams. Reductions are not offered. One
/// that does not move anything offers all: its calls only take their place among the others.
class FakeDeviceGroup final : public devices::DeviceGroup {
 public:
  /// Called by a task of a stream: returns once `ready`, or when the stream ends.
  using Wait = std::function<void(const std::function<bool()>& ready)>;
  using Task = std::function<void(const Wait& wait)>;
  using Put = std::function<void(Stream stream, Task task)>;

  FakeDeviceGroup(std::uint64_t identity, int rank, int ranks, bool moves, Put put)
      : identity_(identity), rank_(rank), ranks_(ranks), moves_(moves), put_(std::move(put)) {}

  std::string name() const override { return "a library of fake devices"; }
  bool reduces(Dtype, Reduction) const override { return !moves_; }
  void broadcast(const void* from, void* to, std::int64_t bytes, int root, Stream stream) override;
  void reduce(const void*, void*, std::int64_t, Dtype, Reduction, int, Stream) override {}
  void all_reduce(const void*, void*, std::int64_t, Dtype, Reduction, Stream) override {}
  void all_gather(const void* from, void* to, std::int64_t bytes, Stream stream) override;
  void reduce_scatter(const void*, void*, std::int64_t, Dtype, Reduction, Stream) override {}
  void exchange(std::span<const Part> sent, std::span<const Part> received, Stream stream) override;
  void abort() noexcept override { *aborted_ = true; }
  std::string failed() override { return ""; }
  bool in_call() const override { return false; }

 private:
  std::uint64_t identity_;
  int rank_;
  int ranks_;
  bool moves_;
  Put put_;
  std::shared_ptr<std::atomic<bool>> aborted_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace partita::testing
