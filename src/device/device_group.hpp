// A vendor's library of collectives, where there is one, behind the seam of the devices.
#pragma once

#include <cstdint>
#include <partita/dtype.hpp>
#include <partita/reduction.hpp>
#include <partita/stream.hpp>
#include <span>
#include <string>

namespace partita::devices {

/// The ranks of one context as such a library knows them. Every operation is put into `stream` (of the
/// context's device; none given: the context's own) and is over in the order of that stream; all ranks put
/// the same ones in the same order. The host waits until the operation has been put there, within the
/// deadline. Nothing is done for a count of 0, which is 0 on all ranks. One thread at a time, but for `abort`
/// and `failed`. What an operation throws has failed the context.
class DeviceGroup {
 public:
  /// Bytes for or from a peer; the rank itself may be one.
  struct Part {
    int peer = 0;
    void* data = nullptr;
    std::int64_t bytes = 0;
  };

  virtual ~DeviceGroup() = default;

  virtual std::string name() const = 0;  ///< "NCCL 2.28.3"
  /// Whether the results are those of kernels/host/accumulate.cpp, but for the order of floating-point sums.
  virtual bool reduces(Dtype dtype, Reduction reduction) const = 0;

  /// `from` counts on the root only. In place where both are the same.
  virtual void broadcast(const void* from, void* to, std::int64_t bytes, int root, Stream stream) = 0;
  /// `to` counts on the root only. In place where both are the same.
  virtual void reduce(const void* from, void* to, std::int64_t count, Dtype dtype, Reduction reduction,
                      int root, Stream stream) = 0;
  /// In place where both are the same.
  virtual void all_reduce(const void* from, void* to, std::int64_t count, Dtype dtype, Reduction reduction,
                          Stream stream) = 0;
  /// `bytes` of each rank, by rank. In place where `from` is the rank's own place in `to`.
  virtual void all_gather(const void* from, void* to, std::int64_t bytes, Stream stream) = 0;
  /// `count` elements for each rank, by rank. In place where `to` is the rank's own place in `from`.
  virtual void reduce_scatter(const void* from, void* to, std::int64_t count, Dtype dtype,
                              Reduction reduction, Stream stream) = 0;
  /// All at once. The parts between two ranks are matched in their order; their lengths agree.
  virtual void exchange(std::span<const Part> sent, std::span<const Part> received, Stream stream) = 0;

  /// Lets all that is running end, with results that are undefined; every later operation throws. Any thread,
  /// any number of times.
  virtual void abort() noexcept = 0;
  /// The error that has occurred, or "". Callable from any thread.
  virtual std::string failed() = 0;
  /// Whether a call of this rank is with the library, which may wait for peers. Any thread.
  virtual bool in_call() const = 0;
};

}  // namespace partita::devices
