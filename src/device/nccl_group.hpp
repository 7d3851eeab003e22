// NCCL as the group of a context's devices.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>

#include "device/device_group.hpp"
#include "device/nccl_library.hpp"

namespace partita::runtime {
struct WaitReason;
}

namespace partita::devices {

struct DeviceRuntime;

/// A communicator whose calls return when their work is enqueued on a stream. (A non-blocking one starts a
/// thread per operation: 20 to 40 us.) A call may wait inside NCCL for a peer that never arrives: a separate
/// thread makes the first call, and the watchdog aborts later calls that exceed the deadline.
class NcclGroup final : public DeviceGroup {
 public:
  /// Collective over the context's ranks, blocking within the deadline. Null on all ranks, with a line in the
  /// log, where one has no NCCL, another version of it, no memory for it, or shares its device with another
  /// rank, or where NCCL cannot start. Whatever is thrown from here has failed the context.
  static std::unique_ptr<DeviceGroup> make(DeviceRuntime& state);
  ~NcclGroup() override;
  NcclGroup(const NcclGroup&) = delete;
  NcclGroup& operator=(const NcclGroup&) = delete;

  std::string name() const override;
  bool reduces(Dtype dtype, Reduction reduction) const override;

  void broadcast(const void* from, void* to, std::int64_t bytes, int root, Stream stream) override;
  void reduce(const void* from, void* to, std::int64_t count, Dtype dtype, Reduction reduction, int root,
              Stream stream) override;
  void all_reduce(const void* from, void* to, std::int64_t count, Dtype dtype, Reduction reduction,
                  Stream stream) override;
  void all_gather(const void* from, void* to, std::int64_t bytes, Stream stream) override;
  void reduce_scatter(const void* from, void* to, std::int64_t count, Dtype dtype, Reduction reduction,
                      Stream stream) override;
  void exchange(std::span<const Part> sent, std::span<const Part> received, Stream stream) override;

  void abort() noexcept override;
  std::string failed() override;
  bool in_call() const override { return entered_.load() != Clock::time_point::max(); }

 private:
  using Clock = std::chrono::steady_clock;

  explicit NcclGroup(DeviceRuntime& state);
  static std::unique_ptr<NcclGroup> start(DeviceRuntime& state, const NcclId& id);
  /// What went wrong; empty: nothing. Throws at the deadline.
  std::string join(const NcclId& id);
  /// Loads kernels and connects peers while no stream waits for a peer: NCCL does both at first use, which
  /// can deadlock with a kernel that waits for a peer.
  void dry_run();
  void dry_run(void* from, void* to, std::int64_t part);
  std::int64_t dry_run_part() const;  ///< numbers of each rank
  std::string allocate_dry_run();     ///< what went wrong; empty: nothing
  void release_dry_run();
  /// In another thread, within the deadline.
  void beside(const std::function<void()>& work);
  void finish() noexcept;
  /// What is wrong with the call that is in NCCL now; empty: nothing, or there is none.
  std::string overdue() const;

  /// Calls `call(communicator)` and waits until NCCL has completed it.
  template <class Call>
  void enqueue(std::string_view operation, Stream stream, Call&& call);
  /// The result of NCCL's last operation. With the lock.
  int state_of_communicator() const;
  std::string text_of(std::string_view operation, int result) const;
  void check_own(std::span<const Part> sent, std::span<const Part> received) const;
  int send_and_receive(std::span<const Part> sent, std::span<const Part> received, void* stream) const;
  void* native(Stream stream) const;
  runtime::WaitReason waiting(std::string_view operation) const;  ///< for the other ranks, with NCCL

  DeviceRuntime& state_;
  const NcclLibrary& library_;
  int device_;
  int rank_;
  std::array<void*, 2> dry_run_memory_{};  // null before and afterwards
  std::timed_mutex mutex_;                 // NCCL takes one call at a time, and none after an abort
  std::atomic<NcclCommunicator> communicator_ = nullptr;
  std::atomic<Clock::time_point> entered_ = Clock::time_point::max();  // NCCL, by a call of ours
};

}  // namespace partita::devices
