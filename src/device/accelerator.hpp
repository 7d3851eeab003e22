// A device as one context uses it.
#pragma once

#include <memory>
#include <partita/device_report.hpp>
#include <string>
#include <thread>
#include <utility>

#include "device/device_arithmetic.hpp"
#include "device/device_group.hpp"
#include "device/device_math.hpp"
#include "device/device_queues.hpp"
#include "device/device_transforms.hpp"
#include "device/device_work.hpp"
#include "device/physical_device.hpp"

namespace partita::devices {

class DeviceFactorizations;
struct DeviceRuntime;

/// A device with the resources of one context: its queues, and the counters that its kernels use. Driven by
/// one thread at a time: the last one that called `use`. Another thread may monitor it: after `use` it may
/// call `idle` and query events.
///
/// The interface to a vendor's runtime: `cuda_accelerator.cpp` implements it for CUDA; the tests implement
/// devices whose memory is host memory and whose streams are threads.
class Accelerator : public DeviceQueues, public DeviceWork, public DeviceArithmetic {
 public:
  explicit Accelerator(std::shared_ptr<PhysicalDevice> physical) : physical_(std::move(physical)) {
    physical_->open_for(user_);
  }
  ~Accelerator() override { physical_->close_for(user_); }
  Accelerator(const Accelerator&) = delete;
  Accelerator& operator=(const Accelerator&) = delete;

  PhysicalDevice& physical() const { return *physical_; }
  void use() const { physical_->use(); }
  std::thread::id user() const { return user_; }  ///< who has opened it
  /// The vendor's collectives among the context's ranks; null on all of them: none here. Collective, blocking
  /// within the deadline; Errors have failed the context.
  virtual std::unique_ptr<DeviceGroup> make_group(DeviceRuntime& state) { return (void)state, nullptr; }
  /// What the context computes with, made when it is asked for first; null: this device computes nothing,
  /// `why_no_math` says why. Errors: it does not start.
  virtual DeviceMath* math() { return nullptr; }
  virtual std::string why_no_math() const { return ""; }
  /// The transform library of the device; null: none.
  virtual DeviceTransforms* transforms() { return nullptr; }
  virtual std::string why_no_transforms() const { return ""; }
  /// The library of factorizations of the device; null: none. Errors: it does not start.
  virtual DeviceFactorizations* factorizations() { return nullptr; }
  virtual std::string why_no_factorizations() const { return ""; }

 private:
  std::shared_ptr<PhysicalDevice> physical_;
  std::thread::id user_ = std::this_thread::get_id();
};

/// The devices of this process.
class Accelerators {
 public:
  virtual ~Accelerators() = default;
  /// Usable ones; 0: none, and `why_none` says why.
  virtual int count() = 0;
  virtual std::string why_none() = 0;
  /// The same one for all that have it at a time; when the last one lets go, it is closed. Any thread.
  virtual std::shared_ptr<PhysicalDevice> device(int index) = 0;
  virtual DeviceReport report() = 0;

  static Accelerators& of_process();
  /// Others in place of those of this build, until called with null: for tests of the library itself.
  static void replace(Accelerators* others) noexcept;
  /// What this build was made with: CUDA, or none (cuda_accelerators_absent.cpp).
  static Accelerators& built_in();
};

}  // namespace partita::devices
