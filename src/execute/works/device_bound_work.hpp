// Compute steps bound to the memory of a device: where its executors meet what devices compute.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "device/accelerator.hpp"
#include "execute/works/bound_work.hpp"
#include "plan/touched.hpp"
#include "plan/work.hpp"

namespace partita::execution {

/// In bytes: at multiples of it begins what a work has in the workspace.
inline constexpr std::int64_t workspace_alignment = 256;

/// What a work is lowered with for a device. The buffers of the plan in `memory` end with one for each dtype,
/// from `workspaces` on: scratch without an operand, all of it the memory that works of one lane share, which
/// run one after another; and with scratch in which the counters of all works are.
struct DeviceWorkBinding {
  const WorkBinding& memory;
  devices::Accelerator& device;
  int workspaces = 0;
  int work = 0;          ///< its number
  Place counters;        ///< those of this work
  bool may_try = false;  ///< a plan is made: there is time to find out how products are made fastest
  planning::PutToPeers put_to_peers;  ///< of the whole plan

  /// Throw UnsupportedError where there is none, the same on every rank that has none.
  devices::DeviceMath& math() const;
  devices::DeviceTransforms& transforms() const;
  /// Throws for other dtypes than f32, f64, c64 and c128, too: there is no `what` in them.
  devices::DeviceFactorizations& factorizations(Dtype dtype, const char* what) const;
};

/// A compute step with all that can be prepared prepared.
class DeviceBoundWork {
 public:
  DeviceBoundWork() = default;
  virtual ~DeviceBoundWork() = default;
  DeviceBoundWork(const DeviceBoundWork&) = delete;
  DeviceBoundWork& operator=(const DeviceBoundWork&) = delete;
  /// Puts the work into the stream. Allocates nothing.
  virtual void enqueue(const AddressOf& address, const Parameters& parameters, Stream stream) = 0;
  virtual std::int64_t workspace_bytes() const { return 0; }
  /// That it wants, of 32 bits, whatever the strides are: they are 0 at first, and whenever it is done.
  virtual std::int64_t counters() const { return 0; }
};

/// Lowers a work. Local. Throws UnsupportedError, the same on every rank that has such a work: devices do not
/// offer it.
std::unique_ptr<DeviceBoundWork> bind_device_work(const Work& work, const DeviceWorkBinding& binding);

/// A multiply with what comes after its sums.
class FusedMultiply : public DeviceBoundWork {
 public:
  /// Whether the device makes this execution's in one.
  virtual bool goes(const AddressOf& address, const Parameters& parameters) const = 0;
};

/// By work of the plan: the one that ends it, as the same multiply into what its epilogue writes; nothing
/// where it has none, or another one. Of each pair the epilogue follows at once, is the only one that reads
/// the sums, and has neither scales nor an amax. `touched`: by step; empty: there are none, since the plan
/// has several streams.
struct EndedMultiply {
  int epilogue = -1;
  Multiply work;
};
std::vector<std::optional<EndedMultiply>> find_ended_multiplies(const Plan& plan,
                                                                std::span<const planning::Touched> touched);

/// Both as one where the device can, and one after the other where not. Does what the two works do.
std::unique_ptr<DeviceBoundWork> bind_ended_multiply(const Plan& plan, int multiply,
                                                     const EndedMultiply& ended,
                                                     const DeviceWorkBinding& binding);

// One function per kind of work, each in a separate file.
std::unique_ptr<DeviceBoundWork> bind_device_multiply(const Multiply& work, const DeviceWorkBinding& binding);
/// Of the elements of a, b and to.
std::array<Dtype, 3> dtypes_of(const Multiply& work, const Plan& plan);
/// Of factors of a byte an element, which are multiplied.
std::unique_ptr<DeviceBoundWork> bind_device_narrow_multiply(const Multiply& work,
                                                             const DeviceWorkBinding& binding);
/// Null: the device does not support the product with this epilogue (activation, auxiliary matrix, bias and
/// c).
std::unique_ptr<FusedMultiply> bind_fused_multiply(const Multiply& work, const ApplyEpilogue& epilogue,
                                                   const DeviceWorkBinding& binding);
std::unique_ptr<DeviceBoundWork> bind_device_epilogue(const ApplyEpilogue& work,
                                                      const DeviceWorkBinding& binding);
std::unique_ptr<DeviceBoundWork> bind_device_sum_along(const SumAlong& work,
                                                       const DeviceWorkBinding& binding);
std::unique_ptr<DeviceBoundWork> bind_device_transform(const Transform& work,
                                                       const DeviceWorkBinding& binding);
std::unique_ptr<DeviceBoundWork> bind_device_transform_into(const TransformInto& work,
                                                            const DeviceWorkBinding& binding);
std::unique_ptr<DeviceBoundWork> bind_device_twiddle(const Twiddle& work, const DeviceWorkBinding& binding);
std::unique_ptr<DeviceBoundWork> bind_device_factor_panel(const FactorPanel& work,
                                                          const DeviceWorkBinding& binding);
std::unique_ptr<DeviceBoundWork> bind_device_exchange_rows(const ExchangeRows& work,
                                                           const DeviceWorkBinding& binding);
std::unique_ptr<DeviceBoundWork> bind_device_triangular_solve(const TriangularSolve& work,
                                                              const DeviceWorkBinding& binding);
std::unique_ptr<DeviceBoundWork> bind_device_apply_reflectors(const ApplyReflectors& work,
                                                              const DeviceWorkBinding& binding);

}  // namespace partita::execution
