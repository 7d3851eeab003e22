// What ranks of other nodes execute, where nothing of it goes through the host.
#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "runtime/announcement.hpp"
#include "runtime/process_group.hpp"

namespace partita {

struct Runtime;

/// With each execution a rank sends the next one the number and the chain of what it has executed, and
/// compares what the previous one sends: if any two ranks differ, some rank differs from its previous one.
/// Nobody waits for a greeting (but one that is 64 executions ahead), so it is compared when it is looked
/// for: with the next execution, and while a device is waited for. Used by the thread that uses the context.
class Greetings {
 public:
  explicit Greetings(Runtime& context) : context_(context) {}
  /// What is still under way stays until the process ends.
  ~Greetings();
  Greetings(const Greetings&) = delete;
  Greetings& operator=(const Greetings&) = delete;

  /// An execution of this rank, in the order of its executions; all ranks greet for the same ones. Throws
  /// DisagreementError.
  void greet(const Executed& execution, std::string_view operation);
  /// Compares what has come. Throws DisagreementError.
  void look(std::string_view operation);

 private:
  static constexpr std::uint64_t most = 64;  // under way
  struct Slot {
    Executed mine, theirs;
    MessageId sent = -1, received = -1;
  };
  struct Slots {
    std::array<Slot, most> slots;
  };

  Slot& slot(std::uint64_t number) { return slots_->slots[number % most]; }
  bool settled(Slot& slot, std::string_view operation);
  int neighbour(int distance) const;

  Runtime& context_;
  std::shared_ptr<Slots> slots_ = std::make_shared<Slots>();
  std::uint64_t first_ = 0, last_ = 0;  // greetings under way: [first_, last_)
};

/// Greets for an execution that goes between nodes without the host. Not while it is captured.
void greet(Runtime& context, const Executed& execution, std::string_view operation);

}  // namespace partita
