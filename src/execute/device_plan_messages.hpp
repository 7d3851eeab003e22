// The messages of a device plan: started as soon as the streams have done what they wait for.
#pragma once

#include <cstdint>
#include <memory>
#include <partita/plan.hpp>
#include <vector>

#include "device/event_ring.hpp"
#include "execute/message_use.hpp"
#include "execute/plan_messages.hpp"

namespace partita {

/// A send may start when what was packed for it has come out of its stream, a receive when the memory that it
/// goes to has been unpacked, in the execution before, too. Nobody waits for that: the message is put on a
/// list, and whenever the host waits for something, the lists are looked through. Each list goes in the order
/// of the plan, so messages of one pair never change places. While a message travels, the next ones are
/// packed and older ones unpacked.
class DevicePlanMessages {
 public:
  DevicePlanMessages(ContextState& context, const Plan& plan, const MessageUse& use);
  /// The streams have done with the memory of messages, or the context has failed. Never throws.
  ~DevicePlanMessages();
  DevicePlanMessages(const DevicePlanMessages&) = delete;
  DevicePlanMessages& operator=(const DevicePlanMessages&) = delete;

  void begin(const Executed& execution);
  /// A move of private scratch has been put into the stream of its side. May wait until older ones are done.
  void moved(std::size_t step, Stream stream);
  void send(std::size_t step, const void* data);
  void receive(std::size_t step, void* data);
  void finish(std::size_t step);  ///< waits until the message is complete; no-op when it is
  /// Waits for all messages. What the last ones brought may still be on its way out of private scratch.
  void end();

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

  EventRing& events(MessageUse::Side side);
  List& list_of(std::size_t step);
  void put(std::size_t step, void* memory);
  bool streams_are_done();
  bool may_start(std::size_t step);
  bool start_what_may();  ///< whether there was any
  template <class Ready>
  void wait_for_streams(Ready&& ready);

  ContextState& context_;
  const Plan& plan_;
  const MessageUse& use_;
  PlanMessages mail_;
  std::unique_ptr<EventRing> packed_;
  std::unique_ptr<EventRing> unpacked_;  // null: all moves have one series
  std::vector<std::int64_t> event_;      // by step; of moves: in this execution, or the one before
  std::int64_t unpacked_before_ = 0;     // the last one of the execution before
  List sends_;
  List receives_;
  std::vector<bool> waits_;  // by step: it is on a list
};

}  // namespace partita
