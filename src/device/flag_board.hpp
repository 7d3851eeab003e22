// Signals between the devices of one node: flags in the heap that only grow.
#pragma once

#include <atomic>
#include <cstdint>
#include <partita/plan.hpp>
#include <string>
#include <vector>

#include "device/accelerator.hpp"
#include "memory/symmetric_heap.hpp"

namespace partita::devices {

/// Every rank has a flag for each neighbour and channel in its own device memory; only that neighbour writes
/// it, always a larger value than before. So a flag needs no atomic addition and no reset, and a wait for an
/// old value is satisfied for ever. One writer a flag; the ranks count alike because executions are
/// collective.
class FlagBoard {
 public:
  /// Allocates the flags, sets them to zero and probes every pair. Collective. Afterwards `unreachable()`
  /// says what is wrong with this rank's peers; empty: every one can be written.
  explicit FlagBoard(DeviceRuntime& state);

  /// Adds one to the counter (this rank -> peer, channel). To be given to a stream in the order of the calls.
  FlagOperation signal(int peer, int channel);
  /// Until `signals` signals of (peer -> this rank, channel) have come since the last `advance`.
  FlagOperation wait(int peer, int channel, std::int64_t signals);
  /// An execution has been put into the streams, with all its waits.
  void advance();
  /// From here on the device counts signals itself, in the order in which its streams come to them: graphs
  /// may give them without the host's knowing. What streams have been given before stays right. A matter of
  /// this rank alone.
  void count_on_device();
  /// Lets every wait of this rank pass, at once and for ever, whatever its peers still write. For a context
  /// that has failed.
  void poison() noexcept;
  /// What has come: the counters of all peers and channels, read past all streams. Any thread may call it,
  /// `late` and `owing`.
  std::vector<std::uint64_t> arrived();
  /// The other ranks of the node that are known to have sent less than has been waited for: none where only
  /// the device knows.
  std::vector<int> late();
  /// The other ranks of the node that have sent less than has been waited for; all, where only the device
  /// knows, or none has.
  std::vector<int> owing();

  const std::string& unreachable() const { return unreachable_; }
  /// In this device's memory: 0 until `poison`. No rank signals itself, so only this rank's host writes it.
  const std::uint64_t* given_up() const;

 private:
  static constexpr int channels = channel_count + 1;  // the last one is the probe's
  std::uint64_t* flag(int on_rank, int from, int channel) const;
  /// The device's own number, behind the flags in the same block.
  enum Count : std::size_t { sent = 1, seen = 2, sections };
  std::uint64_t* count(Count which, std::size_t number) const;
  std::size_t number(int rank, int channel) const;
  void clear();
  void probe();

  DeviceRuntime& state_;
  std::vector<int> ranks_;  // of this rank's node, by the topology of devices
  memory::HeapBlock block_;
  std::vector<std::uint64_t> sent_;               // by place of the rank and channel
  std::vector<std::atomic<std::uint64_t>> seen_;  // `owing` is asked by another thread
  std::atomic<bool> device_counts_ = false;
  std::vector<std::uint64_t> waited_;  // since the last `advance`
  std::string unreachable_;
};

}  // namespace partita::devices
