// The device executor: a plan put into streams, in its order.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/accelerator.hpp"
#include "execute/device/device_plan_messages.hpp"
#include "execute/device/lane_events.hpp"
#include "execute/device/message_memory.hpp"
#include "execute/device/packet_runner.hpp"
#include "execute/device/solve_runner.hpp"
#include "execute/executor.hpp"
#include "execute/lower.hpp"
#include "execute/message_use.hpp"
#include "execute/step_clock.hpp"
#include "execute/works/device_works.hpp"

namespace partita::execution {

/// Copies are executed by copy engines or kernels, signals and waits by operations on flags, works by
/// DeviceMath, all in the order of the plan, without waiting on the host. Only messages need the host, which
/// starts each when its data is packed (DevicePlanMessages). Packing uses one stream and unpacking another,
/// so that both directions of the bus are busy; their dependencies are computed once, when the plan is bound
/// (Dependencies). The same holds for data that the plan writes to peers' memory while it computes
/// (plan/lanes.hpp). Captured executions, and plans with steps that may be done in packets, use one stream.
class DevicePlan final : public Executor {
 public:
  /// Throws UnsupportedError: a step that devices do not offer. `workspace`: see Executor::bind.
  DevicePlan(ContextState& context, Plan plan, std::optional<std::int64_t> workspace = {},
             std::span<const planning::PacketSteps> packets = {},
             const std::optional<planning::SolveSteps>& solve = {});

  void connect() override;
  std::int64_t local_workspace_bytes() const override { return works_.workspace_bytes(); }

 private:
  DevicePlan(ContextState& context, Plan& plan, std::vector<planning::Touched> touched,
             std::optional<std::int64_t> workspace, std::span<const planning::PacketSteps> packets,
             const std::optional<planning::SolveSteps>& solve);

  /// Steps that are done in packets.
  struct InPackets {
    InPackets(ContextState& context, const planning::PacketSteps& of_plan, const std::string& operation);

    std::size_t first, behind;
    std::vector<std::size_t> steps;
    int source, destination;  // buffers
    PacketRunner runner;
  };

  /// Steps that are done in few launches. `waited`: of SolveRunner::run.
  struct InLaunches {
    InLaunches(ContextState& context, const Plan& plan, const planning::SolveSteps& of_plan);

    std::size_t first, behind, after, behind_after;  // of SolveSteps
    std::vector<std::size_t> steps, steps_after;
    std::vector<std::int64_t> waited;
    SolveRunner runner;
  };

  /// A stream, and the operations on flags that it has not been given yet.
  struct Line {
    Stream stream;
    bool used = false;  // by any step
    std::vector<devices::FlagOperation> pending;
    std::vector<std::size_t> pending_steps;  // whose they are
  };

  bool may_be_captured() const override;
  void relower() override;
  void run(const Execution& execution) override;
  void count_signals();
  void run_in_order();
  void exchange(InPackets& part);
  void solve(InLaunches& part);
  void exchange_after(InLaunches& part);
  void open_lines();
  void join_lines();
  void run_step(std::size_t index);
  void give_step(std::size_t index);
  void run_move(std::size_t index, Line& line);
  devices::CopyScope scope_in_line(std::size_t index) const;
  void run_work(std::size_t index, Line& line);
  void finish_messages(const Step& step);
  void follow(std::size_t index);
  void passed(std::size_t index, const Line& line);
  Line& line_of(std::size_t index) {
    return lines_[in_one_line_ ? 0 : static_cast<std::size_t>(lanes_[index])];
  }
  void flush(Line& line);
  void signal(std::size_t index);
  void put_flag(std::size_t index, const devices::FlagOperation& operation);
  template <class Work>
  void timed(std::span<const std::size_t> steps, const Line& line, const Work& work);

  std::vector<std::vector<kernels::StridedCopy>> moves_;  // by step
  std::vector<Line>
      lines_;  // [0]: the stream of the execution; then those of what leaves and arrives, if any
  bool has_messages_ = false;
  bool in_one_line_ = true;  // this execution
  bool captured_ = false;    // this execution is captured
  Line* current_ = nullptr;  // that was given something last; no other has flags pending
  MessageUse message_use_;
  std::vector<int> lanes_;  // by step: its line; of messages behind those
  MessageMemory message_memory_;
  std::optional<LaneEvents> events_;  // nothing: no messages, and one line
  DevicePlanMessages mail_;
  std::list<InPackets> packets_;       // in the order of the plan
  std::optional<InLaunches> solve_;    // there are no packets then
  std::vector<std::int64_t> signals_;  // by step: those that a wait is for
  devices::LastUse use_;               // of the plan's memory, that of works among it
  DeviceWorks works_;
  bool has_private_memory_ = false;
  const Parameters* parameters_ = nullptr;  // of this execution
  StepClock* clock_ = nullptr;              // of this execution; null: not recorded
};

}  // namespace partita::execution
