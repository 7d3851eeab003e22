// The device executor: a plan put into streams, in its order.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "device/accelerator.hpp"
#include "execute/device_plan_messages.hpp"
#include "execute/executor.hpp"
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

  bool has_messages() const;
  bool may_be_captured() const override;
  std::int64_t starts() const override;
  void relower() override;
  void run(const Execution& execution) override;
  void run_in_order();
  void open_lines();
  void join_lines();
  void run_step(std::size_t index);
  void run_move(std::size_t index, Line& line);
  void finish_messages(const Step& step);
  void order_lines(int before, int after);
  Line& line_of(const Step& step);
  void flush(Line& line);
  void put_flag(std::size_t index, const FlagOperation& operation);
  template <class Work>
  void timed(std::span<const std::size_t> steps, const Line& line, const Work& work);

  bool captured_ = false;                        // this execution goes into a graph
  std::vector<std::vector<StridedCopy>> moves_;  // by step
  std::vector<Line> lines_;  // [0]: the stream of the execution; then those of sides, if any
  MessageUse message_use_;
  MessageMemory message_memory_;
  StreamOrder line_order_;
  bool sides_have_lines_ = false;  // [1]: what is packed for messages; [2]: what is unpacked
  DevicePlanMessages mail_;
  StepClock* clock_ = nullptr;  // of this execution; null: nobody records
};

}  // namespace partita
