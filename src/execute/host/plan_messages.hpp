// The messages of one bound plan, and the greeting before them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <partita/plan.hpp>
#include <vector>

#include "context/context_state.hpp"
#include "runtime/checks/announcement.hpp"

namespace partita::execution {

/// Starts and finishes the send and receive steps of a plan. Before the first message of an execution each
/// sender tells each of its receivers what it has executed up to here, so that a rank in another
/// operation is found out; the greeting overlaps with the packing and costs no extra wait.
class PlanMessages {
 public:
  PlanMessages(ContextState& context, const Plan& plan, runtime::Lane lane = runtime::Lane::data);
  /// Of a failed context, greetings may still be under way: their memory stays until the process ends.
  ~PlanMessages();
  PlanMessages(const PlanMessages&) = delete;
  PlanMessages& operator=(const PlanMessages&) = delete;

  void begin(const runtime::Executed& execution);  ///< starts the greetings
  /// The same in two steps: those to receivers, and, before the first `receive`, those of senders.
  void greet(const runtime::Executed& execution);
  void expect();
  /// `bytes`: the size of the message, as at the other end; 0: there is none.
  void send(std::size_t step, const void* data, std::int64_t bytes);
  /// Waits for the sender's greeting, which comes as soon as the sender begins: a message of another
  /// execution must not meet this receive. Open MPI 4.1 writes all of a longer one where its kernel copies it
  /// at once.
  void receive(std::size_t step, void* data, std::int64_t bytes);
  /// Whether `receive` would not wait. Throws as it does.
  bool may_receive(std::size_t step);
  void finish(std::size_t step);  ///< waits for one message; no-op when it is finished already
  void end();                     ///< waits for all that is in flight
  std::vector<int> late() const;  ///< the senders that have not greeted
  /// Called again and again while a message is waited for; may start others. Whether anything has moved.
  void meanwhile(std::function<bool()> work) { meanwhile_ = std::move(work); }
  /// So long a wait should not sleep: MPI moves what is in flight only within its calls, and of ranks of one
  /// host it may be the core that waits which copies.
  std::chrono::milliseconds patience() const;

 private:
  struct Correspondent {
    int peer = -1;
    runtime::MessageId message = -1;  // the greeting
  };
  struct Greetings {
    runtime::Executed mine;
    std::vector<runtime::Executed> received;  // by sender
  };

  void check_greeting(Correspondent& sender);
  void compare_greeting(const Correspondent& sender) const;
  void wait(runtime::MessageId& message, int peer, const char* what);
  bool arrived(runtime::MessageId message) const;
  [[noreturn]] void differ(const std::string& how, std::uint64_t execution) const;
  Correspondent* sender(int peer);

  ContextState& context_;
  const Plan& plan_;
  runtime::Lane lane_;
  std::shared_ptr<Greetings> greetings_ = std::make_shared<Greetings>();
  std::vector<Correspondent> receivers_;       // of my messages
  std::vector<Correspondent> senders_;         // of messages to me, by increasing rank
  std::vector<runtime::MessageId> in_flight_;  // by step; -1: not in flight
  std::vector<std::int64_t> sizes_;            // by step, of those that are in flight
  std::int64_t bytes_under_way_ = 0;           // of those
  std::function<bool()> meanwhile_;
};

}  // namespace partita::execution
