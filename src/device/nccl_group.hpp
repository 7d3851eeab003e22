// NCCL as the group of a context's devices.
#pragma once

#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "device/device_group.hpp"
#include "device/nccl_library.hpp"

namespace partita {

struct ContextState;
struct WaitReason;

/// A communicator that never blocks: what it has been told is polled for, within the context's deadline, so
/// that a peer that is gone keeps nobody. The price is a thread that NCCL starts for each operation.
class NcclGroup final : public DeviceGroup {
 public:
  /// Collective over the context's ranks, blocking within the deadline. Null on all ranks, with a line in the
  /// log, where one has no NCCL, another version of it, or shares its device with another rank, or where NCCL
  /// cannot start. Whatever is thrown from here has failed the context.
  static std::unique_ptr<DeviceGroup> make(ContextState& state);
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

 private:
  explicit NcclGroup(ContextState& state);
  static std::unique_ptr<NcclGroup> start(ContextState& state, const NcclId& id);
  /// What went wrong; empty: nothing. Throws at the deadline.
  std::string join(const NcclId& id);
  /// Loads kernels and connects peers while no stream of ours waits for anybody: NCCL does both when they are
  /// first wanted, and beside a kernel that waits for a peer that can be a deadlock.
  void dry_run();
  void dry_run(void* from, void* to, std::int64_t part);
  void finish() noexcept;

  /// `call(communicator)`, and the wait until NCCL has done what it was told.
  template <class Call>
  void enqueue(std::string_view operation, Call&& call);
  /// The result of NCCL's last operation. With the lock.
  int state_of_communicator() const;
  std::string text_of(std::string_view operation, int result) const;
  void copy_own(std::span<const Part> sent, std::span<const Part> received, Stream stream);
  int send_and_receive(std::span<const Part> sent, std::span<const Part> received, void* stream) const;
  void* native(Stream stream) const;
  WaitReason waiting(std::string_view operation) const;  ///< for the other ranks, with NCCL
  std::vector<int> others() const;

  ContextState& state_;
  const NcclLibrary& library_;
  int device_;
  int rank_;
  std::mutex mutex_;  // NCCL takes one call at a time, and none after an abort
  NcclCommunicator communicator_ = nullptr;
};

}  // namespace partita
