// The executor of plans whose messages go in groups of sends and receives, put into streams.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "execute/device/lane_events.hpp"
#include "execute/executor.hpp"
#include "execute/host/direct_messages.hpp"
#include "execute/message_use.hpp"
#include "execute/works/device_works.hpp"
#include "runtime/checks/greetings.hpp"

namespace partita::execution {

/// The vendor's library transfers the messages of a round as one group (DeviceGroup::exchange), from device
/// memory to device memory. The host does not wait, and the execution may be captured into a graph.
///
/// Groups are enqueued on the stream of the execution; computing and packing, and unpacking, each use a
/// separate stream, so that while a group is in transit the next one is packed and the previous one unpacked.
/// Contiguous data is neither packed nor unpacked. A captured execution uses one stream: the context's
/// streams would remain in the capture.
class GroupedPlan final : public Executor {
 public:
  /// Whether such a plan suits: it is `grouped`, and the context has a library.
  static bool suits(const ContextState& context, const Plan& plan);

  GroupedPlan(ContextState& context, Plan plan, std::optional<std::int64_t> workspace = {});

  std::int64_t local_workspace_bytes() const override { return works_.workspace_bytes(); }

 private:
  void find_groups();
  devices::CopyScope scope(std::size_t index) const;
  std::vector<planning::Touched> touched_in_groups(bool direct) const;
  void relower() override;
  void run(const Execution& execution) override;
  void open_lines(Stream stream, bool captured);
  void join_lines();
  void run_move(std::size_t index);
  void run_work(std::size_t index);
  void put_message(std::size_t index);
  void put_group(std::size_t index);
  template <class Work>
  void put(std::size_t index, std::span<const std::size_t> steps, const Work& work);

  std::vector<std::vector<kernels::StridedCopy>> moves_;  // by step
  std::vector<planning::Touched> touched_;                // by step
  MessageUse message_use_;
  DirectMessages direct_;
  bool is_direct_ = false;     // in this execution
  std::vector<int> closing_;   // by step; of a message, the last one of its round: where the group is put
  std::vector<int> lanes_;     // by step: its line; -1: none
  bool may_overlap_ = false;   // several lines are worth it
  bool own_has_time_ = false;  // the rank keeps at most as much data as it sends
  std::optional<LaneEvents> events_;  // empty: one stream is always used
  LaneEvents* order_ = nullptr;       // of this execution; null: one stream is used
  runtime::Greeted greeted_;
  std::array<Stream, 3> lines_;                              // of groups, packs and unpacks
  std::vector<devices::DeviceGroup::Part> sent_, received_;  // of the next one
  std::vector<std::size_t> messages_;                        // its steps
  devices::LastUse use_;                                     // of the plan's memory
  DeviceWorks works_;
  bool captured_ = false;                   // this execution
  const Parameters* parameters_ = nullptr;  // of this execution
  StepClock* clock_ = nullptr;
};

}  // namespace partita::execution
