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

namespace partita::execution {

/// The vendor's library carries the messages of a round as one group (DeviceGroup::exchange), from device
/// memory to device memory. The host waits for nothing, and all of it may be captured into a graph.
///
/// Groups go through the stream of the execution; what is computed and packed for them and what is unpacked
/// each through one of its own, so that while a group is in flight the next is made and packed and the one
/// before unpacked. What lies in one run is neither packed nor unpacked. A graph has one stream: those of the
/// context would stay in the capture.
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
  bool own_has_time_ = false;  // what stays on the rank is no more than what leaves it
  std::optional<LaneEvents> events_;      // nothing: all goes through one line always
  LaneEvents* order_ = nullptr;           // of this execution; null: all goes through one line
  std::vector<int> senders_, receivers_;  // of messages
  std::array<Stream, 3> lines_;           // of groups, packs and unpacks
  std::vector<devices::DeviceGroup::Part> sent_, received_;  // of the next one
  std::vector<std::size_t> messages_;                        // its steps
  devices::LastUse use_;                                     // of the plan's memory
  DeviceWorks works_;
  bool captured_ = false;                   // this execution
  const Parameters* parameters_ = nullptr;  // likewise
  StepClock* clock_ = nullptr;
};

}  // namespace partita::execution
