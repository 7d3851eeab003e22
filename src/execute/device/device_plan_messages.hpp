// The messages of a device plan: started as soon as the streams have done what they wait for.
#pragma once

#include <cstdint>
#include <memory>
#include <partita/plan.hpp>
#include <vector>

#include "execute/device/lane_events.hpp"
#include "execute/host/plan_messages.hpp"

namespace partita::execution {

/// A message may start when the moves before it have completed on their streams (see Dependencies): a send
/// after its data is packed, a receive after its memory was unpacked, including by the previous execution.
/// The host does not wait for this: messages are put on lists, which are processed whenever the host waits
/// for something. Each list is in the order of the plan, so messages of one pair keep their order. While a
/// message is in transit, the next ones are packed and older ones unpacked.
class DevicePlanMessages {
 public:
  DevicePlanMessages(ContextState& context, const Plan& plan);
  DevicePlanMessages(const DevicePlanMessages&) = delete;
  DevicePlanMessages& operator=(const DevicePlanMessages&) = delete;

  /// `events` say what messages wait for.
  void begin(const runtime::Executed& execution, LaneEvents& events);
  void send(std::size_t step, const void* data);
  void receive(std::size_t step, void* data);
  void finish(std::size_t step);  ///< waits until the message is complete; no-op when it is
  /// Waits for all messages. What the last ones brought may still be on its way out of private scratch, in
  /// `unpacking`.
  void end(Stream unpacking);
  /// Starts the messages that may start; called while the host waits for something else. Returns whether
  /// there were any.
  bool start_what_may();

 private:
  struct Entry {
    std::size_t step = 0;
    void* memory = nullptr;
  };
  /// Messages that wait, first in first out.
  struct List {
    std::vector<Entry> entries;
    std::size_t next = 0;
    bool empty() const { return next == entries.size(); }
    const Entry& front() const { return entries[next]; }
  };

  List& list_of(std::size_t step);
  void put(std::size_t step, void* memory);
  bool may_start(std::size_t step);
  template <class Ready>
  void wait_for_streams(Ready&& ready);

  ContextState& context_;
  const Plan& plan_;
  LaneEvents* events_ = nullptr;  // of this execution
  PlanMessages mail_;
  std::unique_ptr<devices::DeviceEvent> unpacked_;  // of the last execution; null: there has been none
  bool may_receive_ = true;                         // all memory of the last execution has been unpacked
  List sends_;
  List receives_;
  std::vector<bool> waits_;  // by step: it is on a list
};

}  // namespace partita::execution
