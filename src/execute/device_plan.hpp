// The device executor: a plan put into streams.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "device/accelerator.hpp"
#include "execute/device_plan_messages.hpp"
#include "execute/executor.hpp"
#include "execute/fused_exchange.hpp"
#include "execute/lower.hpp"
#include "execute/message_memory.hpp"
#include "execute/message_use.hpp"
#include "execute/step_clock.hpp"
#include "execute/stream_order.hpp"

namespace partita {

/// Copies become copies of the device's engines or kernels, signals and waits become operations on flags, all
/// in the order of the plan: the host waits for nothing. Only messages need the host, which starts each when
/// what was packed for it is there (DevicePlanMessages). What is packed goes through one stream, what is
/// unpacked through another, so that both directions of the bus are busy at once.
///
/// Where a plan allows it, it runs as one FusedExchange: in one launch, or, if copies are large,
/// as early flags, copies, and late flags, with what stays on the rank beside them.
class DevicePlan final : public Executor {
 public:
  /// Throws UnsupportedError: a step that devices do not offer.
  DevicePlan(ContextState& context, Plan plan);

  void connect() override;

 private:
  /// A stream, and the operations on flags that it has not been given yet.
  struct Line {
    Stream stream;
    std::vector<FlagOperation> pending;
    std::vector<std::size_t> pending_steps;  // whose they are, while a timeline is recorded
  };

  void agree_on_fusing();
  bool has_messages() const;
  bool may_be_captured() const override;
  std::int64_t starts() const override;
  std::int64_t bytes_to_peers() const;
  bool is_inside(const Step& step) const { return other_rank(plan_, step) == plan_.rank; }
  void count_signals();
  void relower() override;
  void run(const Execution& execution) override;
  void run_in_order();
  void run_branches();
  void open_lines();
  void join_lines(std::size_t first, std::size_t last);
  void run_step(std::size_t index);
  void run_move(std::size_t index, Line& line);
  void finish_messages(const Step& step);
  void order_lines(int before, int after);
  Line& line_of(const Step& step);
  void flush(Line& line);
  void put_flag(std::size_t index, const FlagOperation& operation);
  template <class Work>
  void timed(std::span<const std::size_t> steps, const Line& line, const Work& work);

  bool may_branch_ = false;
  bool in_branches_ = false;  // copies in several lines: the last has those inside the rank
  bool captured_ = false;     // this execution goes into a graph
  std::vector<std::vector<StridedCopy>> moves_;  // by step
  std::optional<FusedExchange> fused_;
  std::vector<Line> lines_;  // [0]: the stream of the execution; then one a lane, if any
  std::vector<std::array<std::int64_t, channel_count>> signals_;  // by rank: waited for in one execution
  MessageUse message_use_;
  MessageMemory message_memory_;
  StreamOrder line_order_;
  bool sides_have_lines_ = false;  // [1]: what is packed for messages; [2]: what is unpacked
  std::int64_t copies_ = 0;        // steps
  DevicePlanMessages mail_;
  StepClock* clock_ = nullptr;  // of this execution; null: nobody records
};

}  // namespace partita
