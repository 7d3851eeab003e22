// The executor of plans whose messages go in groups of sends and receives, put into streams.
#pragma once

#include <memory>
#include <vector>

#include "execute/direct_messages.hpp"
#include "execute/executor.hpp"
#include "execute/message_use.hpp"
#include "execute/stream_order.hpp"

namespace partita {

/// The vendor's library carries the messages of a round as one group (DeviceGroup::exchange), from device
/// memory to device memory. The host waits for nothing, and all of it may be captured into a graph.
///
/// Groups go through the stream of the execution; what is packed for them and what is unpacked each through
/// one of its own, so that while a group is under way the next is packed and the one before unpacked. What
/// lies in one run is neither packed nor unpacked. A graph has one stream: those of the context would stay in
/// the capture.
class GroupedPlan final : public Executor {
 public:
  /// Whether such a plan suits: it is `grouped`, and the context has a library.
  static bool suits(const ContextState& context, const Plan& plan);

  GroupedPlan(ContextState& context, Plan plan);
  /// The streams have done with the plan's memory, or the context has failed. Never throws.
  ~GroupedPlan() override;

 private:
  struct Line {
    Stream stream;
    bool is_ahead = false;   // it has been given something that the next group waits for
    std::size_t groups = 0;  // that it has waited for
  };

  void find_groups();
  void relower() override;
  void run(const Execution& execution) override;
  void open_lines(Stream stream, bool captured);
  void join_lines();
  void run_move(std::size_t index);
  void put_message(std::size_t index);
  void put_group();
  void wait_for_groups(Line& line, std::size_t count);
  int number_of(const Line& line) const { return static_cast<int>(&line - lines_.data()); }

  std::vector<std::vector<StridedCopy>> moves_;  // by step
  MessageUse message_use_;
  DirectMessages direct_;
  bool is_direct_ = false;  // in this execution
  StreamOrder line_order_;
  std::vector<std::size_t> awaited_;  // by step: so many groups come before it
  std::vector<bool> closes_;          // by step: the last message of its round
  std::size_t groups_ = 0;
  std::vector<int> senders_, receivers_;  // of messages
  std::array<Line, StreamOrder::lines> lines_;
  bool one_line_ = false;                           // in this execution
  std::size_t put_ = 0;                             // groups of this execution
  std::vector<DeviceGroup::Part> sent_, received_;  // of the next one
  std::vector<std::size_t> messages_;               // its steps
  std::unique_ptr<DeviceEvent> end_;                // of the last execution; null: there has been none
  StepClock* clock_ = nullptr;
};

}  // namespace partita
